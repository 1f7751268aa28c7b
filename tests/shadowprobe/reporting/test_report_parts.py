"""The parts of a report, made without its figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from world import hand_predictions

from shadowprobe import Dataset, score
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.reporting.html.page import BROWSERS
from shadowprobe.reporting.html.parts import compose_page
from shadowprobe.running.comparison import compare
from shadowprobe.running.finished import FinishedRun, read_runs
from shadowprobe.running.linking import Settings


@pytest.fixture
def hand(world: Dataset, tmp_path: Path) -> FinishedRun:
    """A run of the hand-made answers."""
    (tmp_path / "p.jsonl").write_bytes(encode_lines(hand_predictions()))
    # Without the other probes there is no section with a figure.
    settings = Settings(probes=("overshadowing", "prior"))
    score(tmp_path / "p.jsonl", world, name="hand", out=tmp_path / "hand", settings=settings)
    (run,) = read_runs([tmp_path / "hand"], str(world.path))
    return run


def make_page(*runs: FinishedRun, no_browser: str = "") -> str:
    comparison = compare(runs) if len(runs) > 1 else None
    pieces = compose_page(
        runs, BROWSERS["linker"], {}, {}, comparison=comparison, no_browser=no_browser, published=False
    )
    return "".join(pieces)


def test_the_first_table_is_shown_and_the_others_are_folded_and_counted(hand: FinishedRun) -> None:
    before, folded, after = make_page(hand).partition('<details id="more"><summary>More tables (1)</summary>')
    assert folded
    # The table of systems is above all others.
    assert re.findall(r'<table id="table-(\w+)"', before) == ["systems", "priors"]
    assert re.findall(r'<table id="table-(\w+)"', after) == ["names"]


def test_several_systems_have_a_table_of_their_differences_and_one_has_none(hand: FinishedRun) -> None:
    other = FinishedRun(hand.path, "other", hand.results, str(hand.dataset.path))
    alone, together = make_page(hand), make_page(hand, other)
    assert together.count("<table") == alone.count("<table") + 1
    assert "no difference was found" in together
    assert "no difference was found" not in alone


def test_a_report_says_what_was_run_and_on_what(hand: FinishedRun) -> None:
    page = make_page(hand)
    assert "<title>hand on world</title>" in page
    assert "Dataset <bdi>world</bdi> 1: 4 names, 21 snippets." in page
    assert f"dataset world, digest {hand.data['digest']}" in page
    assert re.search(r'<p class="verdict"><bdi>hand</bdi> (?!: whether)', page)
    assert "was not measured" not in page.partition("<h3>")[0]
    assert "table of redirects" not in page
    hand.results["settings"]["redirects"] = "0" * 64
    assert "the results were scored with a table of redirects, which the mentions below do without" in make_page(hand)


def test_without_the_data_the_browser_is_replaced_by_the_reason(hand: FinishedRun) -> None:
    without, with_it = make_page(hand, no_browser="it has <gone>"), make_page(hand)
    assert '<p id="left-out">They are not shown: <bdi>it has &lt;gone&gt;</bdi>.</p>' in without
    assert "left-out" not in re.sub(r"<(script|style).*?</\1>", "", with_it, flags=re.DOTALL)
    assert '<select id="' in with_it
    assert '<select id="' not in without
    # There is no script that nothing needs.
    assert without.endswith("<script></script>\n</body>\n</html>\n")
    assert not with_it.endswith("<script></script>\n</body>\n</html>\n")


def test_a_run_without_the_probe_of_the_verdict_has_none(hand: FinishedRun) -> None:
    hand.results["probes"].pop("overshadowing")
    expected = (
        '<p class="verdict"><bdi>hand</bdi>: whether it reads the context or repeats its prior was not measured.</p>'
    )
    assert expected in make_page(hand)
