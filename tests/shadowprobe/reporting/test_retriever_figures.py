"""The figures of retrievers, against numbers worked out by hand.

tests/support/retrieval_world.py and measured_runs.py have the rankings.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from drawn import assert_compact, assert_laid_out, assert_readable, bars, heights, intervals, points, tick_labels, words
from figure_runs import results, rows
from measured_runs import READ, write_retrieval
from refusals import complaint
from retrieval_world import ANSWERED, FOUND, QUESTIONS, SETS, write_collection, write_sets

from shadowprobe import UsageError
from shadowprobe.reporting import figures
from shadowprobe.reporting.figures.style import Width, assign_looks
from shadowprobe.running.finished import FinishedRun, read_runs
from shadowprobe.running.retrieving import RetrievalSettings, make_retrieving_job

LONG = (
    "dense retrieval with the passages of the whole collection (depth=100)",
    "linker:llm (url=http://localhost:8000/v1 model=example/an-instructed-model-of-8B)",
    "_begins with an underscore",
    "costs $5 or $6",
    "plain",
)


def test_head_and_tail_stand_side_by_side_with_their_intervals(both: list[Path]) -> None:
    drawn = figures.plot("head-tail", both)
    (axes,) = drawn.axes
    # a1 and c1 of four head queries, b2 of five tail queries; of the reader all but a1 and all but d2.
    assert bars(axes) == [(0, 50), (0, 20), (0, 75), (0, 80)]
    assert rows(axes) == ["confused", "reader"]
    assert axes.get_title() == "People,\nquestion answering"
    assert axes.get_xlabel() == "right document first,\n% of queries, 95% interval"
    assert {"50.0%", "20.0%", "75.0%", "80.0%"} <= set(words(drawn))
    found = [results(run)["probes"]["amber"]["human"]["qa"]["accuracy"]["1"] for run in both]
    expected = [one[group]["ci95"] for one in found for group in ("head", "tail")]
    assert intervals(axes) == [pytest.approx([100 * bound for bound in one]) for one in expected]


def test_the_tail_is_an_outline_in_the_colour_of_its_system(both: list[Path]) -> None:
    from matplotlib.colors import to_hex

    drawn = figures.plot("head-tail", both)
    for place, label in enumerate(("confused", "reader")):
        head, tail = drawn.axes[0].patches[2 * place : 2 * place + 2]
        colour = assign_looks(["confused", "reader"])[label].colour.lower()
        assert (to_hex(head.get_facecolor()), to_hex(tail.get_facecolor())) == (colour, "#ffffff")
        assert to_hex(tail.get_edgecolor()) == colour
    legend = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert legend == ["queries about the head, the\nmost popular of its name", "queries about the tail,\nits namesakes"]


def test_confusion_shows_how_often_a_namesake_stands_above(both: list[Path]) -> None:
    (axes,) = figures.plot("confusion", both).axes
    # b1 of the head; a2, a3 and c2 of the tail. The reader confuses nobody.
    assert bars(axes) == [(0, 25), (0, 60), (0, 0), (0, 0)]


def test_a_panel_is_a_task_of_a_collection_and_one_collection_can_be_chosen(little: Path, tmp_path: Path) -> None:
    renamed = json.loads(json.dumps(SETS).replace('"id": "', '"id": "things-'))
    write_sets(little / "amber" / "nonhuman" / "sf" / "amber_sets.jsonl", renamed)
    run = write_retrieval(tmp_path / "runs" / "confused", little, {**FOUND, "things-b2": ("berg-song",)})
    drawn = figures.plot("head-tail", [run])
    shown = {axes.get_title(): bars(axes) for axes in drawn.axes if axes.get_title()}
    # Of the things b2 alone has a ranking.
    assert shown == {"Things,\nslot filling": [(0, 0), (0, 20)], "People,\nquestion answering": [(0, 50), (0, 20)]}
    (axes,) = figures.plot("head-tail", [run], collection="nonhuman").axes
    assert axes.get_title() == "Things,\nslot filling"
    with pytest.raises(UsageError, match="--collection mixed: the runs have human and nonhuman"):
        figures.plot("head-tail", [run], collection="mixed")
    with pytest.raises(UsageError, match="--collection: goes with head-tail, confusion, retrieval-gap"):
        figures.plot("questions", [run], collection="human")


def test_the_retrieval_gap_sets_head_against_tail_in_bins_of_popularity(both: list[Path]) -> None:
    (axes,) = figures.plot("retrieval-gap", both).axes
    # 20%: of Avon and Dale one of two head queries and none of three of the tail. 100%: of Berg the tail alone.
    # Como does not say how popular its ship is.
    assert tick_labels(axes) == ["20\n5", "100\n2"]
    confused, reader = axes.lines[1:]
    assert points(confused) == [(0, 50), (1, -100)]
    # Of the reader d1 of two (a1 is not first) against a2 and a3 of three, and both of Berg.
    assert points(reader) == [(0, pytest.approx(50 - 200 / 3)), (1, 0)]


def test_without_a_difference_the_retrieval_gap_does_not_zoom_in_on_nothing(little: Path, tmp_path: Path) -> None:
    right = {**READ, "a1": ("avon-river-1",), "d2": ("dale-ship",)}
    (axes,) = figures.plot("retrieval-gap", [write_retrieval(tmp_path / "runs" / "right", little, right)]).axes
    assert points(axes.lines[1]) == [(0, 0), (1, 0)]
    assert axes.get_ylim() == (-10, 10)


def test_question_buckets_show_the_rarest_subjects_first(confused: Path) -> None:
    drawn = figures.plot("question-buckets", [confused])
    first, second = drawn.axes
    # 5, 5 and 1000 are so little beside 30000 that they share the first eighth.
    assert (tick_labels(first), tick_labels(second)) == (["n=3", "n=1"], ["5\nn=3", "30k\nn=1"])
    assert heights(first) == [pytest.approx(100 / 3), 100]
    assert heights(second) == [pytest.approx(200 / 3), 100]
    assert second.get_xlabel() == "frequency of the subject, at least"


def test_buckets_without_frequencies_go_by_their_numbers(little: Path, tmp_path: Path) -> None:
    folder = little / "entity_questions"
    for path in folder.glob("*.json"):
        path.unlink()
    for number, question in enumerate(QUESTIONS["P19"][:2]):
        (folder / f"P19-{number}").mkdir()
        (folder / f"P19-{number}" / f"bucket{number}.test.json").write_text(json.dumps([question]))
    run = write_retrieval(tmp_path / "runs" / "confused", little, ANSWERED, probes=["entity_questions"])
    first = figures.plot("question-buckets", [run], width="two").axes[0]
    assert (tick_labels(first), heights(first)) == (["1\nn=1", "2\nn=1"], [100, 0])
    assert first.get_xlabel() == "bucket of the subject, 1 the least frequent"


def test_entities_that_were_seen_in_training_have_a_line_of_their_own(little: Path, tmp_path: Path) -> None:
    (tmp_path / "seen.txt").write_text("Avon\n")
    settings = RetrievalSettings((1, 2), seen=tmp_path / "seen.txt")
    make_retrieving_job("bm25", str(little), probes=["entity_questions"], out=tmp_path / "run", settings=settings).run()
    drawn = figures.plot("question-buckets", [tmp_path / "run"])
    legend = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert legend == ["bm25, seen", "bm25, unseen"]
    assert_readable(drawn)


@pytest.mark.parametrize(("width", "inches"), [("one", 3.4), ("two", 7.0)])
@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("figure", [name for name, kind in figures.FIGURES.items() if kind in {"retriever", "model"}])
def test_no_word_is_cut_off_or_lies_on_another_and_no_panel_is_too_low_or_too_high(
    confused: Path, models: Sequence[Path], figure: str, count: int, width: Width, inches: float
) -> None:
    kind = figures.FIGURES[figure]
    (run,) = read_runs([models[0] if kind == "model" else confused])
    drawn = figures.plot(figure, [FinishedRun(run.path, label, run.results) for label in LONG[:count]], width=width)
    assert drawn.get_figwidth() == inches
    assert_readable(drawn)
    assert_compact(drawn, spare=0 if count == 1 else 0.6)


@pytest.mark.slow
@pytest.mark.parametrize("width", ["one", "two"])
@pytest.mark.parametrize("figure", ["head-tail", "confusion", "questions"])
def test_no_word_lies_on_another_with_all_tasks_and_relations(tmp_path: Path, figure: str, width: Width) -> None:
    for retriever in ("bm25", "tfidf"):
        make_retrieving_job(retriever, out=tmp_path / retriever).run()
    drawn = figures.plot(figure, [tmp_path / "bm25", tmp_path / "tfidf"], width=width)
    assert_readable(drawn)


@pytest.mark.parametrize(
    ("figure", "reason"),
    [
        ("retrieval-gap", "its AmbER sets do not say how popular entities are"),
        ("question-buckets", "its questions do not say how frequent subjects are"),
    ],
)
def test_without_popularity_there_is_no_figure_of_it(tmp_path: Path, figure: str, reason: str) -> None:
    write_collection(tmp_path / "little")
    silent = [
        {**one, "qids": {qid: {**entity, "popularity": None} for qid, entity in one["qids"].items()}} for one in SETS
    ]
    write_sets(tmp_path / "little" / "amber" / "human" / "qa" / "amber_sets.jsonl", silent)
    run = write_retrieval(tmp_path / "runs" / "confused", tmp_path / "little", {**FOUND, **ANSWERED})
    with pytest.raises(UsageError, match=rf"no such figure of `confused` \(.*confused\): {reason}"):
        figures.plot(figure, [run])


def test_runs_that_count_other_numbers_of_documents_are_not_compared(
    confused: Path, little: Path, tmp_path: Path
) -> None:
    deeper = write_retrieval(tmp_path / "runs" / "deeper", little, FOUND, ks=(5,))
    with pytest.raises(UsageError, match="the runs count other numbers of documents: give all of them the same -k"):
        figures.plot("head-tail", [confused, deeper])
    (axes,) = figures.plot("head-tail", [deeper]).axes
    assert axes.get_xlabel().startswith("right document among the first 5,")


def test_results_that_lack_a_number_say_how_to_have_it(
    confused: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = results(confused)
    del found["probes"]["amber"]["human"]["qa"]["confusion"]
    (confused / "results.json").write_text(json.dumps(found))
    assert complaint(capsys, "plot", "confusion", "runs/confused") == (
        "runs/confused/results.json: field `confusion`: is missing; `shadowprobe retrieve --predictions runs/confused"
        " --out runs/confused` measures it again"
    )
    found["settings"]["k"] = "1"
    (confused / "results.json").write_text(json.dumps(found))
    told = complaint(capsys, "plot", "head-tail", "runs/confused")
    assert told == "runs/confused/results.json: field `settings.k`: Expected `array`, got `str`"


def test_shares_go_from_0_to_100(confused: Path, models: list[Path]) -> None:
    for figure, runs in (("head-tail", [confused]), ("confusion", [confused]), ("answer-categories", models)):
        for axes in figures.plot(figure, runs).axes:
            assert axes.get_xlim() == (0, 100), figure
            assert tick_labels(axes) == ["0", "50", "100"], figure
    for axes in figures.plot("question-buckets", [confused]).axes:
        assert axes.get_ylim() == (0, 100)


@pytest.mark.parametrize("width", ["one", "two"])
@pytest.mark.parametrize(
    ("figure", "inches"), [("head-tail", 2), ("confusion", 2), ("retrieval-gap", 2.5), ("question-buckets", 3.5)]
)
def test_a_figure_of_one_panel_fills_its_page(confused: Path, figure: str, inches: float, width: Width) -> None:
    assert_laid_out(figures.plot(figure, [confused], width=width), inches)


def amber_of(*parts: tuple[str, str]) -> FinishedRun:
    """A run of a retriever that has found half of the right documents in some parts of AmbER."""
    rates = {group: {"rate": 0.5, "ci95": [0.25, 0.75], "n": 8} for group in ("head", "tail")}
    found: dict[str, Any] = {}
    for collection, task in parts:
        gap = [{"at_least": low, "difference": 0.25, **rates} for low in (0.0, 0.2, 1.0)]
        row = {"accuracy": {"1": rates}, "confusion": rates, "popularity": gap}
        found.setdefault(collection, {})[task] = row
    results = {"retriever": {"name": "a"}, "settings": {"k": [1]}, "queries": {}, "probes": {"amber": found}}
    return FinishedRun(Path("runs/a"), "a", results)


FACTS, QUESTIONS_OF_PEOPLE, THINGS = (
    "People,\nfact checking",
    "People,\nquestion answering",
    "Things,\nquestion answering",
)


@pytest.mark.parametrize(
    ("width", "titles", "lowest", "with_names", "with_numbers"),
    [
        (
            "one",
            [FACTS, "", QUESTIONS_OF_PEOPLE, THINGS],
            [QUESTIONS_OF_PEOPLE, THINGS],
            [FACTS, QUESTIONS_OF_PEOPLE],
            [QUESTIONS_OF_PEOPLE, THINGS],
        ),
        ("two", [FACTS, QUESTIONS_OF_PEOPLE, "", THINGS], [THINGS], [FACTS, THINGS], [FACTS, THINGS]),
    ],
)
def test_collections_are_side_by_side_on_a_narrow_page_and_tasks_on_a_wide_one(
    width: Width, titles: list[str], lowest: list[str], with_names: list[str], with_numbers: list[str]
) -> None:
    run = amber_of(("human", "fc"), ("human", "qa"), ("nonhuman", "qa"))
    drawn = figures.plot("head-tail", [run], width=width)
    assert [axes.get_title() for axes in drawn.axes] == titles
    # There are no things with claims: the panel is empty, and its frame is not drawn.
    assert [axes.axison for axes in drawn.axes] == [bool(title) for title in titles]
    # Only those of the last line name the axis: a name between two lines would press them together.
    assert [axes.get_title() for axes in drawn.axes if axes.get_xlabel()] == lowest
    # The first panel of each line has the names of the systems, and the last of each column the numbers.
    panels = [axes for axes in drawn.axes if axes.axison]
    assert [axes.get_title() for axes in panels if axes.yaxis.get_tick_params()["labelleft"]] == with_names
    assert [axes.get_title() for axes in panels if axes.xaxis.get_tick_params()["labelbottom"]] == with_numbers
    assert_laid_out(drawn, 3)


@pytest.mark.parametrize("width", ["one", "two"])
def test_panels_with_axes_of_their_own_stack_on_a_narrow_page(width: Width) -> None:
    drawn = figures.plot("retrieval-gap", [amber_of(("human", "fc"), ("human", "qa"))], width=width)
    assert_laid_out(drawn, 4 if width == "one" else 2.5)
    first, second = (axes.get_window_extent() for axes in drawn.axes)
    assert (first.x0 == second.x0, first.y0 == second.y0) == (width == "one", width == "two")
    # Once below all of them.
    assert [bool(axes.get_xlabel()) for axes in drawn.axes] == [False, True]
    for axes in drawn.axes:
        assert tick_labels(axes) == ["0\n16", "20\n16", "100\n16"]
        assert axes.get_xlim() == (-0.5, 2.5)
        zero, line = axes.lines
        assert {y for _, y in points(zero)} == {0}
        assert points(line) == [(0, 25), (1, 25), (2, 25)]
        assert not line.get_clip_on()
    assert drawn.legends[0].get_lines()[0].get_color() == drawn.axes[0].lines[1].get_color()


@pytest.mark.parametrize(
    ("width", "titles"),
    [("one", [FACTS, QUESTIONS_OF_PEOPLE, THINGS]), ("two", [FACTS, QUESTIONS_OF_PEOPLE, "", THINGS])],
)
def test_a_stack_of_panels_has_none_that_is_empty(width: Width, titles: list[str]) -> None:
    run = amber_of(("human", "fc"), ("human", "qa"), ("nonhuman", "qa"))
    drawn = figures.plot("retrieval-gap", [run], width=width)
    assert [axes.get_title() for axes in drawn.axes] == titles


def test_a_bin_that_only_another_panel_has_is_empty() -> None:
    run = amber_of(("human", "fc"), ("human", "qa"))
    del run.results["probes"]["amber"]["human"]["qa"]["popularity"][1]
    facts, questions = figures.plot("retrieval-gap", [run]).axes
    assert tick_labels(facts) == ["0\n16", "20\n16", "100\n16"]
    assert tick_labels(questions) == ["0\n16", "20\n0", "100\n16"]
    assert points(questions.lines[1]) == [(0, 25), (2, 25)]


@pytest.mark.parametrize(
    ("frequency", "words"), [(0, "0"), (9, "9"), (10, "10"), (99, "99"), (109, "100"), (1290, "1.2k"), (30_999, "30k")]
)
def test_a_frequency_is_named_by_its_first_two_digits_and_never_above_it(frequency: int, words: str) -> None:
    row = {"n": 9, "accuracy": {"1": 0.5}, "accuracy_ci95": {"1": [0.25, 0.75]}}
    bucket = {"bucket": 0, "lowest_frequency": frequency, **row}
    probes = {"entity_questions": {"buckets": [bucket]}}
    results = {"retriever": {"name": "a"}, "settings": {"k": [1]}, "queries": {}, "probes": probes}
    (axes,) = figures.plot("question-buckets", [FinishedRun(Path("runs/a"), "a", results)]).axes
    assert tick_labels(axes) == [f"{words}\nn=9"]
