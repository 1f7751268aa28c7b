"""The figures of the README, made again by the command that stands beside them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shadowprobe import Dataset, open_dataset
from shadowprobe.running.api import make_linking_job

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
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


def test_the_screen_in_the_readme_is_the_one_that_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from shadowprobe.cli import main

    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["run"])
    printed = {" ".join(line.split()) for line in capsys.readouterr().out.splitlines()}
    screen = README[README.index("```\nblend (weight=0.5)") :].split("```")[1]
    lines = [" ".join(line.split()) for line in screen.strip().splitlines()]
    assert len(lines) > 20
    wrapped = ("Shadow: a less", "Tail: a rare")
    missing = [line for line in lines if line not in printed and line != "..." and not line.startswith(wrapped)]
    assert missing == []
