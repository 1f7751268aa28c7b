"""What each figure shows, against numbers worked out by hand; tests/support/world.py lists the answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from drawn import bars, heights, intervals, points, tick_labels, words
from matplotlib.collections import LineCollection
from world import NAMES, hand_predictions, linked, shadow, top

from shadowprobe import Dataset, Prediction, Settings, UsageError, score, write_dataset
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.cli import main
from shadowprobe.reporting import figures
from shadowprobe.running.api import make_linking_job

Stored = Callable[..., Path]


@pytest.fixture
def stored(world: Dataset, tmp_path: Path) -> Stored:
    """Writes predictions as a finished run over the hand-made dataset, or over another."""

    def store(
        name: str, predictions: Iterable[Prediction], dataset: Dataset = world, settings: Settings | None = None
    ) -> Path:
        path = tmp_path / "runs" / name
        path.mkdir(parents=True)
        (path / "predictions.jsonl").write_bytes(encode_lines(predictions))
        card = {"linker": {"name": name, "version": "1", "options": {}}, "shadowprobe": "1"}
        place = {"name": dataset.name, "digest": dataset.digest, "location": str(dataset.path)}
        (path / "run.json").write_text(json.dumps(card | {"dataset": place}))
        score(path, out=path, settings=settings)
        return path

    return store


@pytest.fixture
def hand(stored: Stored) -> Path:
    """The hand-made answers as a finished run."""
    return stored("hand", hand_predictions())


@pytest.fixture
def readers(stored: Stored, hand: Path) -> list[Path]:
    """The hand-made answers, and a linker that is always right and takes the river for its prior."""
    right = [linked(f"t{name}", top(name), 2.0) for name in NAMES]
    right += [linked(f"s{name}", shadow(name), 4.0) for name in NAMES]
    right += [linked(f"n{name}{column}", top(name), 1.0) for name in NAMES for column in (1, 2, 3)]
    return [hand, stored("right", [*right, linked("tail1", "Ourika", 3.0)])]


@pytest.fixture
def uneven(world: Dataset, tmp_path: Path) -> Dataset:
    """The hand-made dataset with gaps of 50/40, 50/10, 50/5 and 100/0."""
    told = {"Avon": (50, 40), "Berg": (50, 10), "Como": (50, 5), "Dale": (100, 0)}
    commonness = {top(name): common for name, (common, _) in told.items()}
    commonness |= {shadow(name): rare for name, (_, rare) in told.items()}
    return with_commonness(world, tmp_path / "uneven", lambda title: commonness.get(title, 2))


def with_commonness(dataset: Dataset, path: Path, told: Callable[[str], int | None]) -> Dataset:
    """The same dataset with another commonness of each entity."""
    entities = [msgspec.structs.replace(one, commonness=told(one.title)) for one in dataset.entities.values()]
    snippets = {subset: list(dataset.snippets(subset)) for subset in dataset.subsets}
    return write_dataset(path, msgspec.structs.replace(dataset.card), entities, dataset.spaces.values(), snippets)


def results(run: Path) -> Any:
    """What results.json holds."""
    return json.loads((run / "results.json").read_text())


def test_overshadowing_shows_the_rates_of_figure_4_and_both_right_with_their_intervals(readers: list[Path]) -> None:
    drawn = figures.plot("overshadowing", readers)
    # Of the four names Avon and Como get one entity in both contexts, Avon its prior, and Berg both right; the other
    # linker reads.
    overshadowed, biased, right = drawn.axes
    assert bars(right) == [(0, 25), (0, 100)]
    assert bars(overshadowed) == [(0, 50), (0, 0)]
    assert bars(biased) == [(0, 25), (0, 0)]
    found = [results(run)["probes"]["overshadowing"] for run in readers]
    keys = {overshadowed: "overshadowed_ci95", biased: "prior_bias_ci95", right: "consistent_ci95"}
    for axes, key in keys.items():
        expected = [pytest.approx([100 * bound for bound in one[key]]) for one in found]
        assert intervals(axes) == expected
    assert [text.get_text() for text in overshadowed.get_yticklabels()] == ["hand", "right"]
    assert {"50.0%", "25.0%", "0.0%"} <= set(words(drawn))


def test_without_a_prior_there_is_no_panel_of_prior_bias(stored: Stored) -> None:
    run = stored("mute", [one for one in hand_predictions() if not one.id.startswith("n")])
    overshadowed, right = figures.plot("overshadowing", [run]).axes
    assert (bars(overshadowed), bars(right)) == ([(0, 50)], [(0, 25)])


def test_of_two_systems_the_one_without_a_prior_has_no_bar_of_prior_bias(stored: Stored, hand: Path) -> None:
    mute = stored("mute", [one for one in hand_predictions() if not one.id.startswith("n")])
    drawn = figures.plot("overshadowing", [hand, mute])
    assert bars(drawn.axes[1]) == [(0, 25)]
    assert "not known" in words(drawn)


def test_outcomes_stack_the_shares_of_table_4(hand: Path) -> None:
    # Top: Avon and Berg right by the prior, Como wrong against it, Dale NIL.
    # Shadow: Berg and Como right against the prior, Avon wrong by it, Dale skipped.
    drawn = figures.plot("outcomes", [hand])
    on_top, on_shadow = drawn.axes
    assert bars(on_top) == [(0, 50), (50, 0), (50, 25), (75, 0), (75, 25)]
    assert bars(on_shadow) == [(0, 0), (0, 50), (50, 0), (50, 25), (75, 25)]
    legend = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert legend == [
        "right, the prior",
        "right, not the prior",
        "wrong, not the prior",
        "wrong, the prior",
        "NIL or skipped",
    ]
    assert [axes.get_title() for axes in drawn.axes] == ["Top", "Shadow"]


def test_stability_shows_how_far_neutral_contexts_agree(readers: list[Path]) -> None:
    # Avon 2 of 3, Berg 3, Como 2, Dale 1: two thirds. The priors of all but Dale are the rivers.
    stability, is_top = figures.plot("stability", readers).axes
    assert bars(stability) == [(0, pytest.approx(200 / 3)), (0, 100)]
    assert bars(is_top) == [(0, 75), (0, 100)]
    expected = [results(run)["probes"]["prior"]["prior_is_top_ci95"] for run in readers]
    assert intervals(is_top) == [pytest.approx([100 * bound for bound in one]) for one in expected]
    # A mean of shares has no interval of Wilson's.
    assert intervals(stability) == []


def test_confidence_has_a_panel_a_system_with_a_box_a_subset(readers: list[Path]) -> None:
    drawn = figures.plot("confidence", readers)
    first, second = drawn.axes
    assert tick_labels(first) == ["Top", "Shadow", "Tail", "Neutral"]
    # The scores on Top are 0.5, 0.7 and 0.9.
    box: Any = first.patches[0].get_path().vertices
    assert (box[:, 1].min(), box[:, 1].max()) == pytest.approx((0.6, 0.8))
    # Median, and the ends of the whiskers.
    assert {0.7, 0.52, 0.88} <= {y for line in first.lines for _, y in points(line)}
    # Real contexts score 2 and 4, neutral ones 1: it always tells them apart.
    assert second.get_title() == "right\nAUROC 1.00"
    assert "score, each system\non a scale of its own" in words(drawn)


def test_commonness_shows_the_mentions_of_each_subset(uneven: Dataset, stored: Stored) -> None:
    (axes,) = figures.plot("commonness", [stored("hand", hand_predictions(), uneven)]).axes
    on_top, on_shadow, on_tail = (points(line)[1:] for line in axes.lines)
    assert on_top == [(50, 0.25), (50, 0.5), (50, 0.75), (100, 1)]
    assert on_shadow == [(0, 0.25), (5, 0.5), (10, 0.75), (40, 1)]
    assert on_tail == [(2, 1)]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["Top (n = 4)", "Shadow (n = 4)", "Tail (n = 1)"]


def test_commonness_has_one_panel_for_each_dataset(world: Dataset, uneven: Dataset, stored: Stored) -> None:
    runs = [stored("a", hand_predictions()), stored("b", hand_predictions()), stored("c", hand_predictions(), uneven)]
    assert len(figures.plot("commonness", runs).axes) == 2


def test_commonness_says_of_how_many_mentions_it_is_known(world: Dataset, tmp_path: Path, stored: Stored) -> None:
    partly = with_commonness(world, tmp_path / "partly", lambda title: None if title == top("Avon") else 7)
    drawn = figures.plot("commonness", [stored("hand", hand_predictions(), partly)])
    assert "Top (n = 3 of 4)" in words(drawn)


def test_the_popularity_gap_sets_top_against_shadow_in_bins(uneven: Dataset, stored: Stored) -> None:
    (axes,) = figures.plot("popularity-gap", [stored("hand", hand_predictions(), uneven)]).axes
    # Avon (1.25 times) is right on Top only, Berg (5) on both, Como (10) on Shadow only, Dale (100) on neither.
    assert tick_labels(axes) == ["under 2\nn=1", "5 to 10\nn=1", "10 to 50\nn=1", "50 or more\nn=1"]
    assert heights(axes) == [100, 0, -100, 0]


def test_without_a_difference_the_popularity_gap_does_not_zoom_in_on_nothing(stored: Stored) -> None:
    right = [linked(f"t{name}", top(name)) for name in NAMES] + [linked(f"s{name}", shadow(name)) for name in NAMES]
    (axes,) = figures.plot("popularity-gap", [stored("right", right)]).axes
    assert heights(axes) == [0]
    assert axes.get_ylim() == (-10, 10)


def test_the_popularity_gap_has_a_paired_interval(readers: list[Path]) -> None:
    (axes,) = figures.plot("popularity-gap", readers).axes
    # All four names are 10 times apart: what the probe of overshadowing says of all of them.
    assert tick_labels(axes) == ["10 to 50\nn=4"]
    found = results(readers[0])["probes"]["overshadowing"]["top_minus_shadow_ci95"]
    assert intervals(axes, upright=True)[0] == pytest.approx([100 * bound for bound in found])


def test_buckets_show_the_accuracy_by_powers_of_ten(uneven: Dataset, stored: Stored, tmp_path: Path) -> None:
    drawn = figures.plot("buckets", [stored("hand", hand_predictions(), uneven)])
    on_top, on_shadow, on_tail = drawn.axes
    assert [axes.get_title() for axes in drawn.axes] == ["Top", "Shadow", "Tail"]
    # Three rivers of 50, of which Avon and Berg are right; Dale's of 100 is not.
    # All panels have the same axis, and the lowest one its words.
    assert tick_labels(on_top) == ["", "n=3", "n=1"]
    assert {axes.get_xlim() for axes in drawn.axes} == {(-0.5, 2.5)}
    container: Any = on_top.containers[0]
    assert [x for x, _ in points(container.lines[0])] == [1, 2]
    assert heights(on_top) == [pytest.approx(200 / 3), 0]
    # Ships of 0 (Dale, wrong) and 5 (Como, right), of 10 (Berg, right) and 40 (Avon, wrong).
    assert tick_labels(on_shadow) == ["n=2", "n=2", ""]
    assert heights(on_shadow) == [50, 50]
    assert tick_labels(on_tail) == ["0\nn=1", "10", "100"]
    # Side by side each panel has its words.
    wide = figures.plot("buckets", [tmp_path / "runs" / "hand"], width="two").axes[0]
    assert tick_labels(wide) == ["0", "10\nn=3", "100\nn=1"]
    # Wilson's interval of 1 of 1 begins at 1 / (1 + 1.96²).
    assert intervals(on_tail, upright=True) == [pytest.approx([100 / (1 + 1.959964**2), 100])]


def test_calibration_sets_right_answers_against_scores(stored: Stored) -> None:
    surer = [msgspec.structs.replace(one, score=0.75) if one.id == "tBerg" else one for one in hand_predictions()]
    drawn = figures.plot("calibration", [stored("hand", surer)])
    (axes,) = drawn.axes
    # By score: 0.5 Como wrong on Top and right on Shadow, 0.6 and 0.75 Berg right, 0.8 Avon wrong, 0.9 Avon right.
    container: Any = axes.containers[0]
    assert points(container.lines[0]) == [(0.5, 0.5), (0.6, 1), (0.75, 1), (0.8, 0), (0.9, 1)]
    # Of six answers two are right as often as said; the others are off by 0.4, 0.25, 0.8 and 0.1: 1.55 / 6.
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["hand\nECE 0.258"]
    # Wilson's interval of 1 of 1 begins at 1 / (1 + 1.96²), and of 0 of 1 it ends at 1 minus that.
    ends = intervals(axes, upright=True)
    assert ends[1] == pytest.approx([1 / (1 + 1.959964**2), 1])
    assert ends[2] == pytest.approx([0, 1 - 1 / (1 + 1.959964**2)])


def change_findings(run: Path, probe: str, found: Any) -> None:
    """Writes other findings of a probe into a run."""
    content = results(run)
    content["probes"][probe] = found
    (run / "results.json").write_text(json.dumps(content))


def test_the_area_of_a_marker_of_calibration_is_its_number_of_answers_and_few_have_thin_lines(hand: Path) -> None:
    bins = [
        {"low": low, "high": low + 0.1, "n": n, "mean_score": low, "accuracy": 0.5, "accuracy_ci95": [0.25, 0.75]}
        for low, n in ((0.1, 200), (0.3, 100), (0.5, 20), (0.7, 19))
    ]
    change_findings(hand, "calibration", {"overall": {"ece": 0.1, "bins": bins}})
    (axes,) = figures.plot("calibration", [hand]).axes
    markers: Any
    (markers,) = (one for one in axes.collections if not isinstance(one, LineCollection))
    # The largest has 60 square points; half as many answers have half the area.
    assert list(markers.get_sizes()) == [60, 30, 6, pytest.approx(5.7)]
    (ends,) = (one for one in axes.collections if isinstance(one, LineCollection))
    widths: Any = ends.get_linewidth()
    usual, thin = max(widths), min(widths)
    assert list(widths) == [usual, usual, usual, thin]
    assert usual > 2 * thin
    segments = [line.get_linewidth() for line in axes.lines if len(points(line)) == 2][1:]
    assert segments[0] == segments[1] > 2 * segments[2]


def test_segments_of_a_stack_have_their_number_from_8_per_cent(hand: Path) -> None:
    shares = {"prior_correct": 0.5, "context_correct": 0.08, "context_wrong": 0.07, "prior_wrong": 0.35, "nil": 0.0}
    change_findings(hand, "prior", {"top": shares, "shadow": shares})
    on_top, _ = figures.plot("outcomes", [hand]).axes
    assert [text.get_text() for text in on_top.texts] == ["50", "8", "35"]


def test_context_length_shows_the_accuracy_at_each_length(readers: list[Path]) -> None:
    def found(*accuracies: float) -> dict[str, Any]:
        rows = [{"n": 4, "accuracy": one, "accuracy_ci95": [0.0, 1.0]} for one in accuracies]
        lengths = {name: {"top": row} for name, row in zip(("cut", "sentence", "snippet"), rows, strict=True)}
        return {"words_cut": 3, "words_page": 100, "lengths": lengths}

    change_findings(readers[0], "context_length", found(0.25, 0.5, 0.75))
    drawn = figures.plot("context-length", readers)
    (axes,) = drawn.axes
    assert (axes.get_title(), heights(axes)) == ("Top", [25, 50, 75])
    assert tick_labels(axes) == ["3 words on\neach side", "its sentence", "the snippet"]
    # The other run was not asked: it is in the legend alone.
    assert len(axes.containers) == 1
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["hand", "right"]
    change_findings(readers[1], "context_length", found(1, 1, 1))
    (axes,) = figures.plot("context-length", readers).axes
    assert heights(axes, 1) == [100, 100, 100]
    assert tick_labels(axes)[1] == "its sentence\nn=4"


def test_masked_mention_sets_right_answers_without_the_name_below_those_with_it(readers: list[Path]) -> None:
    row = {"n": 4, "accuracy": 0.25, "accuracy_ci95": [0.1, 0.6]}
    change_findings(readers[0], "masked_mention", {"top": row, "shadow": row | {"accuracy": 0.0}})
    drawn = figures.plot("masked-mention", readers)
    on_top, on_shadow = drawn.axes
    # On Top Avon and Berg are right, on Shadow Berg and Como; the other linker is right, and was not asked without.
    assert bars(on_top) == [(0, 50), (0, 25), (0, 100)]
    assert bars(on_shadow) == [(0, 50), (0, 0), (0, 100)]
    assert intervals(on_top) == [pytest.approx([10, 60])]
    assert words(drawn).count("not known") == 2


def test_templates_show_how_often_each_gets_the_prior(readers: list[Path]) -> None:
    drawn = figures.plot("templates", readers)
    (axes,) = drawn.axes
    hand, right = (container.lines[0] for container in axes.containers)  # type: ignore[attr-defined]
    # The first template gets the prior of all four names, the second not that of Dale, the third only that of Berg.
    assert [x for x, _ in points(hand)] == [100, 75, 25]
    assert [x for x, _ in points(right)] == [100, 100, 100]
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "{name} came up again.",
        "Why not {name}?",
        "One word: {name}",
    ]


def test_templates_of_other_texts_are_not_compared(readers: list[Path]) -> None:
    found = results(readers[1])["probes"]["templates"]
    found["templates"]["2"]["text"] = "Warum nicht {name}?"
    change_findings(readers[1], "templates", found)
    with pytest.raises(UsageError, match="the runs have other neutral templates: draw a figure of each dataset"):
        figures.plot("templates", readers)


def test_a_probe_with_new_predictions_that_nobody_asked_for_says_how_to_get_them(hand: Path) -> None:
    with pytest.raises(UsageError, match="the same `shadowprobe run` with `--also context_length` asks it"):
        figures.plot("context-length", [hand])


def test_the_axis_of_commonness_names_what_is_counted(world: Dataset, tmp_path: Path, stored: Stored) -> None:
    world.card.commonness = "population"
    counted = with_commonness(world, tmp_path / "counted", lambda _: 7)
    (axes,) = figures.plot("commonness", [stored("hand", hand_predictions(), counted)]).axes
    assert axes.get_xlabel() == "commonness of the gold entity (population)"
    assert Dataset.read("data/places").card.commonness == "population"


def test_systems_are_sorted_by_the_order(readers: list[Path]) -> None:
    axes = figures.plot("overshadowing", readers, order=["right"]).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["right", "hand"]
    with pytest.raises(
        UsageError, match=r"--order rihgt: no such system \(did you mean `right`\?\); there are hand, right"
    ):
        figures.plot("overshadowing", readers, order=["rihgt"])


def test_scores_that_are_no_chances_have_no_calibration(readers: list[Path]) -> None:
    with pytest.raises(UsageError, match=r"`right` .* the scores run from 2 to 4 and so are not chances"):
        figures.plot("calibration", readers[1:])


def test_of_two_systems_the_one_whose_scores_are_no_chances_is_in_the_legend_alone(readers: list[Path]) -> None:
    drawn = figures.plot("calibration", readers)
    (axes,) = drawn.axes
    assert len(axes.containers) == 1
    # By score: 0.5 Como wrong on Top and right on Shadow, 0.6 and 0.7 Berg right, 0.8 Avon wrong, 0.9 Avon right. Off
    # by nothing, 0.4, 0.3, 0.8 and 0.1: 1.6 / 6.
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["hand\nECE 0.267", "right\nECE not known"]


@pytest.mark.parametrize("figure", ["outcomes", "stability"])
def test_of_two_systems_the_one_without_a_prior_is_said_not_to_be_known(
    stored: Stored, hand: Path, figure: str
) -> None:
    mute = stored("mute", [one for one in hand_predictions() if not one.id.startswith("n")])
    alone, both = figures.plot(figure, [hand]), figures.plot(figure, [hand, mute])
    for one, other in zip(alone.axes, both.axes, strict=True):
        assert [bar for bar in bars(other) if bar[1]] == [bar for bar in bars(one) if bar[1]]
        assert [text.get_text() for text in other.texts].count("not known") == 1
    assert [text.get_text() for text in both.axes[0].get_yticklabels()] == ["hand", "mute"]


def test_of_two_systems_the_one_without_scores_has_an_empty_panel(stored: Stored, hand: Path) -> None:
    bare = stored("bare", [msgspec.structs.replace(one, score=None) for one in hand_predictions()])
    first, second = figures.plot("confidence", [hand, bare]).axes
    assert len(first.patches) == 4
    assert (len(second.patches), second.get_title()) == (0, "bare")
    assert [text.get_text() for text in second.texts] == ["not known"]


def test_scores_that_hardly_differ_are_written_out(stored: Stored, tmp_path: Path) -> None:
    # From 0.9990005 to 0.9990009 and a little more.
    near = [msgspec.structs.replace(one, score=0.999 + 1e-6 * (one.score or 0)) for one in hand_predictions()]
    drawn = figures.plot("confidence", [stored("near", near)])
    figures.save(drawn, tmp_path / "f.svg")
    labels = [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    assert all(label.startswith("0.999") for label in labels)
    assert drawn.axes[0].yaxis.get_offset_text().get_text() == ""


def test_a_figure_of_a_probe_that_the_results_lack_names_the_command_that_adds_it(
    world: Dataset, stored: Stored
) -> None:
    run = stored("hand", hand_predictions(), settings=Settings(probes=("subsets",)))
    assert results(run)["probes"] == {}
    with pytest.raises(UsageError, match=r"its results\.json has no `overshadowing`") as error:
        figures.plot("overshadowing", [run])
    command = str(error.value).partition("`shadowprobe ")[2].partition("`")[0]
    assert command == f"score --predictions {run} --out {run}"
    with pytest.raises(SystemExit) as end:
        main([*command.split(), "--dataset", str(world.path)])
    assert end.value.code in {0, None}
    assert bars(figures.plot("overshadowing", [run]).axes[0]) == [(0, 50)]


def test_the_command_for_a_run_that_was_scored_with_redirects_names_them_too(tmp_path: Path, stored: Stored) -> None:
    (tmp_path / "table.tsv").write_text("Old Avon\tAvon (river)\n")
    settings = Settings(probes=("subsets",), redirects=tmp_path / "table.tsv")
    run = stored("hand", hand_predictions(), settings=settings)
    with pytest.raises(UsageError, match=r"`shadowprobe score --predictions \S+ --out \S+ --redirects FILE` adds it"):
        figures.plot("overshadowing", [run])


@pytest.mark.parametrize("figure", ["popularity-gap", "buckets", "commonness"])
def test_without_commonness_there_is_no_figure_of_it(
    world: Dataset, tmp_path: Path, stored: Stored, figure: str
) -> None:
    silent = with_commonness(world, tmp_path / "silent", lambda _: None)
    with pytest.raises(UsageError, match="the dataset `world` does not say how common its entities are"):
        figures.plot(figure, [stored("hand", hand_predictions(), silent)])


def test_without_scores_there_is_no_figure_of_them(stored: Stored) -> None:
    run = stored("bare", [msgspec.structs.replace(one, score=None) for one in hand_predictions()])
    with pytest.raises(UsageError, match=r"no such figure of `bare` \(.*bare\): the linker gives no scores"):
        figures.plot("confidence", [run])


@pytest.mark.parametrize("figure", ["outcomes", "stability"])
def test_without_answers_to_neutral_contexts_there_is_no_figure_of_priors(stored: Stored, figure: str) -> None:
    run = stored("mute", [one for one in hand_predictions() if not one.id.startswith("n")])
    with pytest.raises(UsageError, match="the linker names no entity in any neutral context"):
        figures.plot(figure, [run])


def test_runs_that_were_read_can_be_plotted_too(hand: Path) -> None:
    from shadowprobe.running.finished import read_runs

    drawn = figures.plot("overshadowing", read_runs([hand], names=["read"]))
    assert "read" in words(drawn)


def test_two_runs_of_one_name_are_refused(readers: list[Path]) -> None:
    with pytest.raises(UsageError, match="two runs are called 'same': give each a name of its own"):
        figures.plot("overshadowing", readers, names=["same", "same"])


def test_a_width_that_is_none_is_refused(hand: Path) -> None:
    with pytest.raises(UsageError, match="width 'three': choose from one, two"):
        figures.plot("overshadowing", [hand], width="three")  # type: ignore[arg-type]


def test_the_squares_of_kinds_have_their_rates_and_numbers(tmp_path: Path) -> None:
    run = tmp_path / "prior"
    make_linking_job("prior", "mini", out=run).run()
    pairs = results(run)["probes"]["kinds"]["pairs"]
    axes = figures.plot("kinds", [run]).axes[0]
    names = [label.get_text() for label in axes.get_xticklabels()]
    numbers = {(text.get_position()[1], text.get_position()[0]): text.get_text() for text in axes.texts}
    assert numbers == {(names.index(pair["shadow"]), names.index(pair["top"])): str(pair["n"]) for pair in pairs}
    rates = axes.images[0].get_array()
    assert isinstance(rates, np.ma.MaskedArray)
    # A linker that repeats its prior overshadows every name.
    assert {float(rate) for rate in rates.compressed()} == {1.0}
    assert rates.count() == len(pairs)
