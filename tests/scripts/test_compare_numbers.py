"""The script that compares the outputs of two versions."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

from shadowprobe.reporting.html.blocks import Series, write_blocks

SCRIPT = Path(__file__).parents[2] / "scripts" / "compare_numbers.py"
FIGURE = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M 1.001 2 L 30.5 4"/></svg>'
REPORT = """<p>12 names</p><table id="table-scores"><tr><td>0.500 (0.1 to 0.9)</td></tr></table>
<script id="data" type="application/json">{"score": [0.25], "words": "of 7 names"}</script>"""


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    directory = tmp_path / "old"
    (directory / "run").mkdir(parents=True)
    (directory / "run" / "results.json").write_text(json.dumps({"n": 4, "probes": {"prior": {"top": [0.5, None]}}}))
    (directory / "report.html").write_text(REPORT)
    (directory / "figure.svg").write_text(FIGURE)
    (directory / "table.latex").write_text(r"Top & 50.0 & 33.3 \\")
    (directory / "commands.log").write_text("took 12 s")
    return directory


@pytest.fixture
def new(old: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(old, tmp_path / "new"))


def test_equal_outputs_have_no_differences_and_logs_are_no_outputs(script: Any, old: Path, new: Path) -> None:
    (new / "commands.log").write_text("took 13 s")
    assert script["compare"](old, new) == (4, [])
    assert script["main"](str(old), str(new)) == 0


def test_an_added_key_is_listed_and_allowed(script: Any, old: Path, new: Path) -> None:
    (new / "run" / "results.json").write_text(
        json.dumps({"n": 4, "probes": {"prior": {"top": [0.5, None], "verdict": "x"}}})
    )
    assert script["compare"](old, new)[1] == [("added", "run/results.json.probes.prior.verdict")]
    assert script["main"](str(old), str(new)) == 0


@pytest.mark.parametrize(
    ("name", "before", "after", "place"),
    [
        ("run/results.json", "0.5", "0.5000000001", "run/results.json.probes.prior.top[0]"),
        ("run/results.json", '"n": 4', '"n": 4.0', "run/results.json.n"),
        ("run/results.json", "null", "0", "run/results.json.probes.prior.top[1]"),
        ("report.html", "0.25", "0.26", "report.html.data.score[0]"),
        ("report.html", "of 7 names", "of 8 names", "report.html.data.words[0]"),
        ("figure.svg", "30.5", "30.6", "figure.svg.path[2]"),
        ("table.latex", "33.3", "33.4", "table.latex[1]"),
    ],
)
def test_a_number_that_differs_is_an_error_with_its_place(
    script: Any, old: Path, new: Path, name: str, before: str, after: str, place: str
) -> None:
    content = (new / name).read_text()
    assert before in content
    (new / name).write_text(content.replace(before, after))
    ((kind, words),) = script["compare"](old, new)[1]
    assert (kind, words.partition(":")[0]) == ("different", place)
    assert script["main"](str(old), str(new)) == 1


def test_a_number_that_a_report_does_not_show_any_more_is_an_error(script: Any, old: Path, new: Path) -> None:
    (new / "report.html").write_text(REPORT.replace("12 names", "13 names"))
    differences = [("missing", "report.html.shown.12"), ("added", "report.html.shown.13")]
    assert script["compare"](old, new)[1] == differences
    assert script["main"](str(old), str(new)) == 1


def test_a_report_may_lay_its_tables_out_anew(script: Any, old: Path, new: Path) -> None:
    moved = REPORT.replace("<p>12 names</p>", "").replace("0.500 (0.1 to 0.9)", "0.1 to 0.9</td><td>0.500 of 12")
    (new / "report.html").write_text(moved)
    assert script["compare"](old, new)[1] == []


def test_words_of_a_report_and_digits_that_nobody_sees_may_differ(script: Any, old: Path, new: Path) -> None:
    (new / "report.html").write_text(REPORT.replace("names", "spaces"))
    (new / "figure.svg").write_text(FIGURE.replace("1.001", "1.002"))
    assert script["compare"](old, new)[1] == []


def test_an_output_that_is_missing_is_an_error(script: Any, old: Path, new: Path) -> None:
    (new / "table.latex").unlink()
    assert script["compare"](old, new)[1] == [("missing", "table.latex")]


def test_a_directory_without_outputs_is_refused(script: Any, tmp_path: Path) -> None:
    assert script["main"](str(tmp_path / "nothing"), str(tmp_path)) == 2


def test_a_number_in_a_compressed_block_of_a_report_is_compared(script: Any, old: Path, new: Path) -> None:
    for directory, scores in ((old, [1, 2]), (new, [1, 3])):
        block = "".join(write_blocks([Series(scores).close()]))
        (directory / "report.html").write_text(f"{REPORT}\n{block}")
    # The second number is kept as the difference from the first.
    assert script["compare"](old, new)[1] == [("different", "report.html.blocks[0][1]: 1 and 2")]
