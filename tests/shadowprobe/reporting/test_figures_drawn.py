"""Where figures draw what they show: points, numbers, lines and words, of findings that are written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import points, tick_labels

from shadowprobe import UsageError
from shadowprobe.reporting import figures
from shadowprobe.reporting.figures.style import assign_looks, error_lengths, shorten_number, wrap_label
from shadowprobe.running.finished import FinishedRun


def run_of(label: str = "a", **probes: Any) -> FinishedRun:
    """A run of a linker with these findings."""
    results = {"linker": {"name": label, "options": {}}, "settings": {"redirects": None}, "probes": probes}
    return FinishedRun(Path("runs", label), label, results)


def draw(figure: str, runs: Sequence[FinishedRun], **how: Any) -> Any:
    """A figure as an object of which everything may be asked."""
    return figures.plot(figure, runs, **how)


def bucket(at_least: int, accuracy: float, n: int) -> dict[str, Any]:
    bounds = [max(0.0, accuracy - 0.125), min(1.0, accuracy + 0.25)]
    return {"at_least": at_least, "accuracy": accuracy, "accuracy_ci95": bounds, "n": n}


def buckets_of(label: str, *rows: dict[str, Any]) -> FinishedRun:
    return run_of(label, popularity={"buckets": {"top": list(rows)}, "gaps": []})


def over(rate: float | None, **more: Any) -> dict[str, Any]:
    """The findings on overshadowing with one rate in all three panels."""
    bounds = None if rate is None else [rate / 2, (1 + rate) / 2]
    keys = ("overshadowed", "prior_bias", "consistent")
    return {**dict.fromkeys(keys, rate), **{f"{key}_ci95": bounds for key in keys}, **more}


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1500, "1.5k"),
        (999_000, "999k"),
        (1e6, "1M"),
        (2.5e6, "2.5M"),
        (1e9, "1G"),
        (3e10, "30G"),
    ],
)
def test_a_large_number_has_few_characters(number: float, text: str) -> None:
    assert shorten_number(number) == text


def test_an_interval_reaches_below_and_above_its_value_and_never_to_the_other_side() -> None:
    assert error_lengths(0.5, [0.25, 1.0]) == (0.25, 0.5)
    assert error_lengths(0.5, [0.75, 1.0]) == (0.0, 0.5)
    assert error_lengths(0.5, [0.0, 0.25]) == (0.5, 0.0)


def test_a_name_is_broken_between_words_and_an_empty_one_is_said() -> None:
    assert wrap_label("two words", 9) == "two words"
    assert wrap_label("two words", 8) == "two\nwords"
    assert wrap_label("", 8) == "(no name)"


@pytest.mark.parametrize(("width", "longest"), [("one", 14), ("two", 30)])
def test_a_name_beside_its_bars_is_on_one_line_as_long_as_there_is_room(width: Any, longest: int) -> None:
    words = "x " * (longest // 2 - 1) + "xx"
    assert len(words) == longest
    runs = [run_of(label, overshadowing=over(0.5)) for label in (words, f"{words}y")]
    axes = draw("overshadowing", runs, width=width).axes[0]
    assert [text.get_text().count("\n") for text in axes.get_yticklabels()] == [0, 1]


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


def shares(**given: float) -> dict[str, float]:
    return {
        key: given.get(key, 0.0) for key in ("prior_correct", "context_correct", "context_wrong", "prior_wrong", "nil")
    }


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


def template(text: str, prior: float | None) -> dict[str, Any]:
    bounds = None if prior is None else [prior / 2, (1 + prior) / 2]
    return {"text": text, "prior": prior, "prior_ci95": bounds}


def test_templates_are_in_the_order_of_their_numbers_with_a_line_between_two() -> None:
    found = {"10": template("Here is {name}.", 0.5), "2": template("Why {name}?", 0.25), "3": template("", None)}
    runs = [run_of(label, templates={"templates": found}) for label in "ab"]
    (axes,) = draw("templates", runs).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["Why {name}?", "template 3", "Here is {name}."]
    first, second = (points(one.lines[0]) for one in axes.containers)
    assert [x for x, _ in first] == [25, 50]
    middles = list(axes.get_yticks())
    # The two systems are around the middle of the row, the first one above.
    for (_, above), (_, below), middle in zip(first, second, [middles[0], middles[2]], strict=True):
        assert (above + below) / 2 == pytest.approx(middle)
        assert above < middle < below
        assert below - above < (middles[1] - middles[0]) / 2
    lines = [
        line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1 and len(line.get_xdata()) == 2
    ]
    assert [float(place) for place in lines] == pytest.approx(
        [(middles[0] + middles[1]) / 2, (middles[1] + middles[2]) / 2]
    )
    intervals = [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]
    assert intervals == [[12.5, 62.5], [25, 75]]


@pytest.mark.parametrize(("width", "longest"), [("one", 46), ("two", 98)])
def test_a_long_template_is_cut(width: Any, longest: int) -> None:
    words = "word " * 30
    (axes,) = draw("templates", [run_of(templates={"templates": {"1": template(words, 0.5)}})], width=width).axes
    shown = axes.get_yticklabels()[0].get_text()
    assert shown.endswith(" ...")
    assert longest - 5 < len(shown) <= longest


def calibrated(label: str, *bins: tuple[float, float, int]) -> FinishedRun:
    rows = [{"mean_score": score, "accuracy": rate, "accuracy_ci95": [rate, rate], "n": n} for score, rate, n in bins]
    return run_of(label, calibration={"overall": {"ece": 0.0625, "bins": rows}})


def test_the_area_of_a_marker_is_the_number_of_answers_in_its_bin() -> None:
    runs = [calibrated("a", (0.25, 0.5, 100), (0.75, 1.0, 50)), calibrated("b", (0.5, 0.5, 1), (0.9, 0.5, 10))]
    drawn = draw("calibration", runs)
    (axes,) = drawn.axes
    (large, half), (least, tenth) = (one.get_sizes().tolist() for one in axes.collections if hasattr(one, "get_sizes"))
    assert (half / large, tenth / large) == (0.5, pytest.approx(0.1))
    # A single answer would not be seen: it has the smallest marker.
    assert large / 100 < least < tenth
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["a\nECE 0.062", "b\nECE 0.062"]
    # Where a score is what it says.
    diagonal = next(line for line in axes.lines if line.get_color() == "black")
    assert points(diagonal) == [(0, 0), (1, 1)]
    with pytest.raises(UsageError, match="no score on Top, Shadow or All"):
        draw("calibration", [run_of("a", calibration={"overall": None})])


def test_the_numbers_of_dark_squares_are_white() -> None:
    pairs = [
        {"top": "city", "shadow": "person", "overshadowed": 0.55, "n": 3},
        {"top": "person", "shadow": "city", "overshadowed": 0.56, "n": 12},
    ]
    drawn = draw("kinds", [run_of(kinds={"pairs": pairs})])
    axes, bar = drawn.axes
    assert [(text.get_position(), text.get_text(), text.get_color()) for text in axes.texts] == [
        ((0, 1), "3", "black"),
        ((1, 0), "12", "white"),
    ]
    assert tick_labels(axes) == [text.get_text() for text in axes.get_yticklabels()] == ["city", "person"]
    rates: Any = axes.images[0].get_array()
    assert rates.filled(-1).tolist() == [[-1, 0.56], [0.55, -1]]
    # The darkness is that of a share from 0 to 1, whichever rates there are.
    assert axes.images[0].get_clim() == (0, 1)
    assert [text.get_text() for text in bar.get_yticklabels()] == ["0", "50", "100"]


@pytest.mark.parametrize(("width", "columns"), [("one", 2), ("two", 4)])
def test_a_legend_has_as_many_columns_as_the_page_has_room_for(width: Any, columns: int) -> None:
    rows = [bucket(0, 0.5, 40)]
    for count in (1, columns, columns + 1):
        runs = [buckets_of(f"system {number}", *rows) for number in range(count)]
        (legend,) = draw("buckets", runs, width=width).legends
        assert legend._ncols == min(count, columns)


def test_the_ninth_system_has_the_colour_of_the_first_and_another_shape() -> None:
    names = ["blend", "prior", "bm25", "tfidf", "dense", "llm", "lm", "random"]
    looks = assign_looks([*names, "other"])
    # Each of the eight has a colour of its own; the ninth shares one.
    assert len({looks[name].colour for name in names}) == 8
    (same,) = (name for name in names if looks[name].colour == looks["other"].colour)
    place = names.index(same)
    following = looks[names[(place + 1) % 8]]
    assert (looks["other"].hatch, looks["other"].marker) == (following.hatch, following.marker)


@pytest.mark.parametrize(
    ("figure", "runs", "how", "words"),
    [
        ("overshadwing", [run_of()], {}, "no figure `overshadwing` (did you mean `overshadowing`?): choose from overs"),
        ("overshadowing", [], {}, "give at least one run directory"),
        ("overshadowing", [run_of(), "runs/b"], {}, "give run directories or runs that were read, not both;"),
        ("overshadowing", [run_of()], {"dataset": "mini"}, "give run directories or runs that were read, not both;"),
        ("overshadowing", [run_of()], {"names": ["x"]}, "give run directories or runs that were read, not both;"),
        ("questions", ["runs/b"], {"dataset": "mini"}, "--dataset: goes with figures of linkers; the figure `questio"),
        ("passages", [run_of()], {}, "the figure `passages` takes directories that `shadowprobe train-encoder` makes,"),
        ("head-tail", [run_of()], {}, "runs/a is a run of a linker; the figure `head-tail` takes runs of retrievers,"),
        (
            "buckets",
            [run_of()],
            {"collection": "human"},
            "--collection: goes with head-tail, confusion, retrieval-gap,",
        ),
        ("overshadowing", [run_of(), run_of()], {}, "two runs are called 'a': give each a name of its own"),
    ],
)
def test_what_cannot_be_drawn_is_refused(figure: str, runs: Any, how: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        draw(figure, runs, **how)
    assert str(refused.value).startswith(words)


def test_systems_without_a_place_in_the_order_keep_theirs_behind_the_others() -> None:
    runs = [run_of(label, overshadowing=over(0.5)) for label in "abcd"]
    axes = draw("overshadowing", runs, order=["c", "a"]).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["c", "a", "b", "d"]


def test_a_file_is_refused_by_its_ending_and_where_it_is_there_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "old.svg").write_text("mine")
    for name, words in (
        ("f.gif", "f.gif: a figure is written to a file that ends in .png, .svg or .pdf"),
        ("folder.png", "folder.png is a directory; give a file"),
        ("old.svg", "old.svg is there already; --force writes over it"),
    ):
        with pytest.raises(UsageError) as refused:
            # There is no such run, which is not even looked for.
            figures.write("overshadowing", [tmp_path / "nowhere"], tmp_path / name)
        assert str(refused.value) == f"{tmp_path}/{words}"
    figures.write("overshadowing", [run_of(overshadowing=over(0.5))], tmp_path / "old.svg", force=True)
    assert "<svg" in (tmp_path / "old.svg").read_text()
    # The folder of the file is made, and capital letters are an ending too.
    figures.write("overshadowing", [run_of(overshadowing=over(0.5))], tmp_path / "deep" / "f.PDF")
    assert (tmp_path / "deep" / "f.PDF").read_bytes().startswith(b"%PDF")


def test_a_run_without_findings_says_which_command_adds_them() -> None:
    missing = run_of("a")
    missing.results["settings"] = {"redirects": "digest", "gerbil_nil": True}
    with pytest.raises(UsageError) as refused:
        draw("overshadowing", [missing])
    command = "shadowprobe score --predictions runs/a --out runs/a --redirects FILE --gerbil-nil"
    assert str(refused.value) == (
        f"no such figure of `a` (runs/a): its results.json has no `overshadowing`; `{command}` adds it"
    )
    with pytest.raises(UsageError, match="with `--also masked_mention` asks it"):
        draw("masked-mention", [run_of("a")])


def test_the_name_and_without_it_are_two_bars_one_above_the_other() -> None:
    found = {"top": {"accuracy": 0.25, "accuracy_ci95": [0.125, 0.5]}}
    run = run_of(masked_mention=found)
    run.results["subsets"] = {"top": {"recall": 0.75}}
    drawn = draw("masked-mention", [run])
    (axes,) = drawn.axes
    with_name, without = axes.patches
    assert (with_name.get_width(), without.get_width()) == (75, 25)
    middle = axes.get_yticks()[0]
    # They touch at the middle of the row, the first above.
    assert with_name.get_y() + with_name.get_height() == pytest.approx(middle)
    assert without.get_y() == pytest.approx(middle)
    assert [text.get_text() for text in axes.texts] == ["75.0%", "25.0%"]
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == [
        "with the name",
        "without it,\nwith 95% interval",
    ]
    # Only what was measured again has an interval.
    assert {tuple(one.get_segments()[0][:, 0].tolist()) for one in axes.collections} == {(12.5, 50)}
