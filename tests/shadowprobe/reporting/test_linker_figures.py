"""The bars and lines of linkers, against numbers worked out by hand; tests/support/world.py lists the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import assert_laid_out, bars, heights, intervals, points, tick_labels, words
from figure_runs import (
    Stored,
    bucket,
    buckets_of,
    change_findings,
    draw,
    over,
    results,
    run_of,
    shares,
    whole_run,
)
from world import NAMES, hand_predictions, linked, shadow, top

from shadowprobe import Dataset, UsageError
from shadowprobe.reporting import figures


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


@pytest.mark.parametrize("figure", ["outcomes", "stability"])
def test_without_answers_to_neutral_contexts_there_is_no_figure_of_priors(stored: Stored, figure: str) -> None:
    run = stored("mute", [one for one in hand_predictions() if not one.id.startswith("n")])
    with pytest.raises(UsageError, match="the linker names no entity in any neutral context"):
        figures.plot(figure, [run])


def test_the_number_of_a_bar_is_at_the_right_of_its_panel_on_the_height_of_the_bar() -> None:
    runs = [run_of(label, overshadowing=over(rate)) for label, rate in (("a", 0.25), ("b", 0.5))]
    axes = draw("overshadowing", runs).axes[0]
    middles = [bar.get_y() + bar.get_height() / 2 for bar in axes.patches]
    assert [text.get_text() for text in axes.texts] == ["25.0%", "50.0%"]
    assert [text.xy for text in axes.texts] == [(100, pytest.approx(middle)) for middle in middles]
    # No higher and no lower than the bar.
    assert [text.xyann[1] for text in axes.texts] == [0, 0]
    assert list(axes.get_yticks()) == pytest.approx(middles)
    # The bars of two systems are apart, and the second is below the first.
    first, second = axes.patches
    assert first.get_y() + first.get_height() < second.get_y()


def test_an_interval_is_black_on_white_at_the_height_of_its_bar() -> None:
    axes = draw("overshadowing", [run_of(overshadowing=over(0.5))]).axes[0]
    segments = [one.get_segments()[0].tolist() for one in axes.collections]
    middle = pytest.approx(axes.get_yticks()[0])
    assert segments == [[[25, middle], [75, middle]]] * 2
    widths = [float(np.asarray(one.get_linewidth())[0]) for one in axes.collections]
    colours = [np.asarray(one.get_edgecolor())[0][:3].tolist() for one in axes.collections]
    assert colours == [[1, 1, 1], [0, 0, 0]]
    # The white one shows on both sides of the black one.
    assert widths[0] > 2 * widths[1]


def test_a_segment_has_its_number_in_its_middle_where_there_is_room() -> None:
    found = {
        "top": shares(prior_correct=0.5, context_wrong=0.08, prior_wrong=0.42),
        "shadow": shares(prior_wrong=0.0799, nil=0.9201),
    }
    on_top, on_shadow = draw("outcomes", [run_of(prior=found)]).axes
    row = on_top.get_yticks()[0]
    assert [(text.get_position(), text.get_text()) for text in on_top.texts] == [
        ((25, pytest.approx(row)), "50"),
        ((54, pytest.approx(row)), "8"),
        ((79, pytest.approx(row)), "42"),
    ]
    # 7.99% of the panel is too narrow for a number.
    assert [text.get_text() for text in on_shadow.texts] == ["92"]


def test_shares_that_are_not_known_are_said_in_the_middle_of_the_panel() -> None:
    runs = [
        run_of("a", prior={"top": shares(nil=1.0), "shadow": shares(nil=1.0)}),
        run_of("b", prior={"not_measured": "no prior"}),
    ]
    axes = draw("outcomes", runs).axes[0]
    (unknown,) = (text for text in axes.texts if text.get_text() == "not known")
    assert unknown.get_position() == (50, pytest.approx(axes.get_yticks()[1]))


@pytest.mark.parametrize(
    ("count", "shifts"),
    # Half of the way to the next category is for all systems; one alone stands on its category.
    [(1, [0]), (2, [-0.125, 0.125]), (3, [-1 / 6, 0, 1 / 6]), (4, [-0.1875, -0.0625, 0.0625, 0.1875])],
)
def test_systems_stand_side_by_side_around_their_category(count: int, shifts: list[float]) -> None:
    runs = [buckets_of(label, bucket(0, 0.5, 40), bucket(10, 0.75, 40)) for label in "abcd"[:count]]
    (axes,) = draw("buckets", runs).axes
    places = [[x for x, _ in points(one.lines[0])] for one in axes.containers]
    assert places == [pytest.approx([shift, 1 + shift]) for shift in shifts]


def test_points_have_their_values_intervals_and_counts() -> None:
    runs = [
        buckets_of("a", bucket(0, 0.5, 40), bucket(10, 0.25, 30)),
        buckets_of("b", bucket(0, 0.75, 40), bucket(10, 0.5, 31)),
    ]
    (axes,) = draw("buckets", runs).axes
    values = [[y for _, y in points(one.lines[0])] for one in axes.containers]
    assert values == [[50, 25], [75, 50]]
    ends = [[tuple(one[:, 1]) for one in each.get_segments()] for each in axes.collections]
    assert ends == [[(37.5, 75), (12.5, 50)], [(62.5, 100), (37.5, 75)]]
    # The second bucket has another number of mentions in each run.
    assert tick_labels(axes) == ["0\nn=40", "10"]


@pytest.mark.parametrize(("n", "is_thin"), [(19, True), (20, False)])
def test_what_rests_on_fewer_than_20_mentions_is_thin(n: int, is_thin: bool) -> None:
    (axes,) = draw("buckets", [buckets_of("a", bucket(0, 0.5, 40), bucket(10, 0.5, 40), bucket(100, 0.5, n))]).axes
    first, second, third = np.asarray(axes.collections[0].get_linewidth()).tolist()
    assert first == second
    assert (third < first) == is_thin
    # The line to it is thin too.
    whole, last = [
        line.get_linewidth() for line in axes.lines if len(line.get_xdata()) == 2 and line.get_linestyle() != "None"
    ][-2:]
    assert (last < whole) == is_thin


@pytest.mark.parametrize("count", [5, 6])
def test_many_categories_say_once_what_their_numbers_are(count: int) -> None:
    rows = [bucket(10**power, 0.5, 30 + power) for power in range(count)]
    (axes,) = draw("buckets", [buckets_of("a", *rows)], width="two").axes
    expected = [f"n={30 + power}" if count == 5 or power == 0 else f"{30 + power}" for power in range(count)]
    assert [label.partition("\n")[2] for label in tick_labels(axes)] == expected


def test_a_missing_category_leaves_a_gap_and_its_line_goes_on() -> None:
    runs = [
        buckets_of("a", bucket(0, 0.5, 40), bucket(100, 0.25, 40)),
        buckets_of("b", bucket(10, 0.75, 40)),
    ]
    (axes,) = draw("buckets", runs).axes
    first, second = (points(one.lines[0]) for one in axes.containers)
    assert [round(x) for x, _ in first] == [0, 2]
    assert [round(x) for x, _ in second] == [1]
    assert tick_labels(axes) == ["0", "10", "100"]


@pytest.mark.parametrize("width", ["one", "two"])
@pytest.mark.parametrize(
    ("figure", "inches"),
    [
        ("overshadowing", 2),
        ("outcomes", 2),
        ("stability", 2),
        ("buckets", 2.5),
        ("context-length", 2.5),
        ("popularity-gap", 3),
    ],
)
def test_words_can_be_read_and_panels_fill_the_page(figure: str, inches: float, width: Any) -> None:
    assert_laid_out(draw(figure, [whole_run("a"), whole_run("b")], width=width), inches)


@pytest.mark.parametrize("figure", ["overshadowing", "outcomes", "stability"])
def test_rows_have_their_names_once_and_a_further_one_needs_less_than_a_third_of_an_inch(figure: str) -> None:
    one, two = (draw(figure, [whole_run(label) for label in labels]) for labels in ("a", "ab"))
    assert 0.2 < two.get_figheight() - one.get_figheight() < 0.33
    names = [[text.get_text() for text in axes.get_yticklabels() if text.get_visible()] for axes in two.axes]
    assert names == [["a", "b"]] + [[]] * (len(two.axes) - 1)
    assert {axes.get_xlim() for axes in two.axes} == {(0, 100)}


def test_a_name_on_many_lines_makes_its_row_higher() -> None:
    short, long = (draw("overshadowing", [whole_run(label)]).axes[0] for label in ("a", "twelve chars " * 5))
    lines = long.get_yticklabels()[0].get_text().count("\n") + 1
    assert lines == 5
    # A line needs between an eighth and a seventh of an inch.
    assert lines / 8 < long.get_ylim()[0] < lines / 7 + 0.2
    assert short.get_ylim()[0] < 0.33


@pytest.mark.parametrize(
    ("width", "labels"), [("one", "% of names"), ("two", "share of the names, %,\nwith 95% interval")]
)
def test_the_axis_of_shares_has_as_many_words_and_ticks_as_there_is_room(width: Any, labels: str) -> None:
    axes = draw("overshadowing", [whole_run()], width=width).axes[0]
    assert axes.get_xlabel() == labels
    assert tick_labels(axes) == (["0", "50", "100"] if width == "one" else ["0", "25", "50", "75", "100"])


def test_intervals_and_points_at_the_edge_of_a_panel_are_not_cut() -> None:
    for figure in ("overshadowing", "buckets"):
        axes = draw(figure, [whole_run()]).axes[0]
        assert axes.collections
        assert not any(one.get_clip_on() for one in axes.collections)


@pytest.mark.parametrize(("width", "columns"), [("one", 2), ("two", 5)])
def test_the_legend_of_shares_is_on_one_line_of_a_wide_page(width: Any, columns: int) -> None:
    (legend,) = draw("outcomes", [whole_run()], width=width).legends
    assert legend._ncols == columns


def test_outcomes_on_a_subset_that_a_run_lacks_are_not_compared() -> None:
    runs = [run_of("a", prior={"top": shares(nil=1.0)}), whole_run("b")]
    (axes,) = draw("outcomes", runs).axes
    assert (axes.get_title(), axes.get_xlabel()) == ("Top", "share of Top, %")
    others = run_of("c", prior={"shadow": shares(nil=1.0)})
    with pytest.raises(UsageError, match="the runs share neither Top nor Shadow snippets"):
        draw("outcomes", [runs[0], others])


@pytest.mark.parametrize(("width", "ticks"), [("one", ["0", "50", "100"]), ("two", ["0", "25", "50", "75", "100"])])
def test_buckets_go_from_0_to_100_and_say_once_what_the_other_axis_is(width: Any, ticks: list[str]) -> None:
    drawn = draw("buckets", [whole_run()], width=width).axes
    assert [axes.get_ylim() for axes in drawn] == [(0, 100)] * 2
    assert [text.get_text() for text in drawn[0].get_yticklabels()] == ticks
    # Side by side, the panels have one axis of percentages.
    assert bool(drawn[1].get_yticklabels()) == (width == "one")
    # Both panels have both buckets, with half a step of room on both sides.
    assert [axes.get_xlim() for axes in drawn] == [(-0.5, 1.5)] * 2
    assert [axes.get_xlabel() for axes in drawn] == ["", "commonness of the gold entity, at least"]


def test_the_first_of_many_counts_says_what_they_are_even_behind_a_category_without_one() -> None:
    rows = [bucket(10**power, 0.5, 30 + power) for power in range(6)]
    (axes,) = draw("buckets", [buckets_of("a", *rows), buckets_of("b", *rows[1:])]).axes
    assert tick_labels(axes) == ["1", "10\nn=31", "100\n32", "1k\n33", "10k\n34", "100k\n35"]


def test_lines_of_context_lengths_are_named_by_their_numbers_of_words() -> None:
    (axes,) = draw("context-length", [whole_run()]).axes
    assert tick_labels(axes) == ["3 words on\neach side\nn=40", "100 words\nmore of\nthe page\nn=40"]


def test_a_popularity_gap_shows_where_there_is_no_difference_and_names_its_ranges() -> None:
    gap = {"top_minus_shadow": 0.25, "top_minus_shadow_ci95": [-0.5, 0.5], "n": 40}
    gaps = [{**gap, "at_least": low, "below": high} for low, high in ((0, 2), (2, 5), (50, None))]
    (axes,) = draw("popularity-gap", [run_of(popularity={"gaps": gaps})]).axes
    assert tick_labels(axes) == ["under 2\nn=40", "2 to 5\nn=40", "50 or more\nn=40"]
    zero = axes.lines[0]
    assert set(zero.get_ydata()) == {0}
    # From the lowest interval to the highest, and no further than they need.
    low, high = axes.get_ylim()
    assert -60 < low <= -50
    assert 50 <= high < 60
    with pytest.raises(UsageError, match=r"`b` .*: no name has both snippets and commonness"):
        draw("popularity-gap", [run_of("a", popularity={"gaps": gaps}), run_of("b", popularity={"gaps": []})])
