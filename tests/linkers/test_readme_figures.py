"""The figures of the README, made again by the command that stands beside them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from shadowprobe import Dataset, open_dataset
from shadowprobe.running.api import make_linking_job

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in README.splitlines()
    if re.match(r"\| [01](\.\d+)? \|", line)
]


@pytest.fixture(scope="module")
def mini() -> Dataset:
    return open_dataset("mini")


def test_the_sweep_has_five_weights() -> None:
    assert [row[0] for row in ROWS] == ["0", "0.25", "0.5", "0.75", "1"]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_readme_tells_the_truth_about_blend(row: list[str], mini: Dataset, tmp_path: Path) -> None:
    results = make_linking_job("blend", mini, options={"weight": row[0]}, out=tmp_path / "run").run().results
    over = results["probes"]["overshadowing"]
    figures = [
        results["subsets"]["top"]["recall"],
        results["subsets"]["shadow"]["recall"],
        over["overshadowed"],
        over["prior_bias"],
        over["consistent"],
    ]
    assert row[1:-1] == [f"{figure:.3f}" for figure in figures]
    assert row[-1] == over["verdict"]


def test_the_picture_of_the_terminal_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from shadowprobe.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["run"])
    printed = ["".join(line.split()) for line in capsys.readouterr().out.splitlines() if line.strip()]
    picture = ElementTree.parse(ROOT / "docs" / "pictures" / "terminal.svg")
    # The pieces of a line have the same height; the spaces between them are not text.
    lines: dict[str, list[str]] = {}
    for text in picture.iter("{http://www.w3.org/2000/svg}text"):
        if "clip-path" in text.attrib:
            lines.setdefault(text.attrib["y"], []).append("".join(text.itertext()))
    shown = ["".join("".join(pieces).split()) for pieces in lines.values()]
    assert [line for line in shown if line][1:] == printed
