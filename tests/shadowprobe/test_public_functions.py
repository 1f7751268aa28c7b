"""The commands as functions: what a person scripts."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any

import pytest
import world as hand_made
from world import NAMES

import shadowprobe
from shadowprobe.base.jsonl import encode_lines


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the runs `hand` (worked out by hand) and `prior` over the small world."""
    monkeypatch.chdir(tmp_path)
    hand_made.write_world(tmp_path / "world")
    Path("hand.jsonl").write_bytes(encode_lines(hand_made.hand_predictions()))
    shadowprobe.run("replay", "world", options={"file": "hand.jsonl"}, out="runs/hand")
    shadowprobe.run("prior", "world", out="runs/prior")
    return tmp_path / "runs"


def test_a_run_that_is_loaded_has_its_results_and_reads_its_data_when_asked(folder: Path) -> None:
    run = shadowprobe.load_run(folder / "prior", name="mine")
    assert (run.label, run.kind, run.data["name"]) == ("mine", "linker", "world")
    assert run.results["subsets"]["top"]["f1"] == 1
    assert [snippet.id for snippet in run.dataset.snippets("top")] == [f"t{name}" for name in NAMES]
    assert shadowprobe.load_run(str(folder / "prior")).label == "prior"


def test_a_comparison_pairs_the_runs_by_item(folder: Path) -> None:
    found = shadowprobe.compare([folder / "hand", folder / "prior"], names=["hand", "prior"])
    pairs = {pair.measure: pair for pair in found.pairs}
    # By hand: Berg is right in both contexts, Avon and Como get one entity in both, and Avon's is the prior.
    assert (pairs["both_right"].first_only, pairs["both_right"].second_only) == (1, 0)
    assert (pairs["overshadowed"].first_rate, pairs["overshadowed"].second_rate) == (0.5, 1.0)
    assert (pairs["prior_bias"].first_rate, pairs["prior_bias"].second_rate) == (0.25, 1.0)


def test_a_table_is_text_in_the_format_that_is_named(folder: Path) -> None:
    runs = [shadowprobe.load_run(folder / "hand", name="hand"), shadowprobe.load_run(folder / "prior")]
    assert "| world | hand |" in shadowprobe.table("summary", runs)
    rows = list(csv.DictReader(io.StringIO(shadowprobe.table("3", runs, format_name="csv"))))
    # Shadow: 2 right, 1 wrong, 1 skipped.
    assert [row["system"] for row in rows] == ["hand", "prior"]
    assert float(rows[0]["shadow_precision"]) == 2 / 3
    with pytest.raises(shadowprobe.UsageError, match=r"format 'latx': choose from .*did you mean `latex`"):
        shadowprobe.table("3", runs, format_name="latx")


def test_a_figure_is_drawn_and_written(folder: Path) -> None:
    drawn = shadowprobe.plot("overshadowing", [folder / "hand"], "figure.svg", width="two")
    assert drawn.get_size_inches()[0] > shadowprobe.plot("overshadowing", [folder / "hand"]).get_size_inches()[0]
    assert Path("figure.svg").read_text(encoding="utf-8").startswith("<?xml")
    with pytest.raises(shadowprobe.UsageError, match="is there already"):
        shadowprobe.plot("overshadowing", [folder / "hand"], "figure.svg")


def test_a_correction_returns_what_it_writes(folder: Path) -> None:
    shadowprobe.run("blend", "world", options={"weight": "0.7"}, out=folder / "blend")
    found = shadowprobe.debias(folder / "blend", folder / "corrected", weight=0.5)
    assert (found["weight"], found["chosen_by"]) == (0.5, "given")
    assert shadowprobe.load_run(folder / "corrected").system["options"]["debias_weight"] == "0.5"


def test_one_run_instead_of_a_list_and_a_mixture_are_refused(folder: Path) -> None:
    run = shadowprobe.load_run(folder / "hand")
    for wrong in (run, "runs/hand"):
        with pytest.raises(shadowprobe.UsageError, match="give a list of runs"):
            shadowprobe.compare(wrong)  # type: ignore[arg-type]
    with pytest.raises(shadowprobe.UsageError, match="not both"):
        shadowprobe.compare([run, folder / "prior"])
    with pytest.raises(shadowprobe.UsageError, match="not both"):
        shadowprobe.compare([run, run], names=["a", "b"])


def test_a_frame_has_a_row_for_each_mention(folder: Path) -> None:
    pytest.importorskip("pandas")
    frame: Any = shadowprobe.load_run(folder / "hand").to_frame().set_index("id")
    assert len(frame) == 4 + 4 + 12 + 1
    assert list(frame.loc["sAvon", ["name", "gold", "answer", "prior", "correct", "outcome"]]) == [
        "Avon",
        "Avon (ship)",
        "Avon (river)",
        "Avon (river)",
        False,
        "overshadowed",
    ]
    assert list(frame.loc[["tDale", "sDale", "tBerg"], "status"]) == ["nil", "skipped", "linked"]
    assert frame.loc["tBerg", "score"] == 0.7
    # A neutral context has no right answer, and a Tail name no prior.
    assert frame.loc[["nAvon1"], "correct"].isna().all()
    assert frame.loc[["tail1"], "prior"].isna().all()


def test_the_frame_of_a_summary_has_one_row_of_headline_figures(folder: Path) -> None:
    pytest.importorskip("pandas")
    frame: Any = shadowprobe.load_run(folder / "hand").to_frame("summary")
    assert len(frame) == 1
    # Berg alone has both contexts right.
    assert frame.loc[0, ["system", "data", "consistent", "overshadowed"]].tolist() == ["replay", "world", 0.25, 0.5]
    assert frame.loc[0, "consistent_low"] < 0.25 < frame.loc[0, "consistent_high"]
    with pytest.raises(shadowprobe.UsageError, match="choose from items, summary"):
        shadowprobe.load_run(folder / "hand").to_frame("all")  # type: ignore[arg-type]


def test_without_pandas_a_frame_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(shadowprobe.UsageError, match="pip install pandas"):
        shadowprobe.load_run(folder / "hand").to_frame()


def test_all_runs_of_a_folder_are_read_and_one_that_is_not_finished_is_left_out(folder: Path) -> None:
    (folder / "begun").mkdir()
    (folder / "begun/run.json").write_text("{}")
    found = shadowprobe.runs(folder)
    assert [(run.path.name, run.label) for run in found] == [("hand", "replay"), ("prior", "prior")]
    with pytest.raises(shadowprobe.UsageError, match="no such directory"):
        shadowprobe.runs(folder / "none")


def test_a_report_is_one_file(folder: Path) -> None:
    written = shadowprobe.report([folder / "hand", folder / "prior"], "both.html", names=["hand", "prior"])
    assert written == Path("both.html")
    assert "hand, prior on world" in written.read_text(encoding="utf-8")


def test_the_summary_of_results_is_what_the_screen_shows(folder: Path) -> None:
    text = shadowprobe.summarize(shadowprobe.load_run(folder / "prior").results)
    assert text.startswith("prior on world\n")
    assert "repeats its prior more often than it reads the context" in " ".join(text.split())


def test_a_check_says_what_holds(folder: Path) -> None:
    assert all(finding.holds for finding in shadowprobe.check("prior", "world"))


def test_the_names_that_hide_a_package_are_functions(folder: Path) -> None:
    import shadowprobe.reporting.html.page
    import shadowprobe.running.job

    assert callable(shadowprobe.report)
    assert callable(shadowprobe.runs)
