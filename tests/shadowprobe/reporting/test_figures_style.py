"""How figures look: sizes, colours, words that can be read, files that are the same each time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.dom import minidom

import pytest
from figure_runs import bucket, buckets_of, draw, over, run_of, whole_run
from finished_runs import called, finished_run
from world import hand_predictions

from shadowprobe import Dataset, UsageError
from shadowprobe.measure.answers import Answers
from shadowprobe.plugins import PROBES, make_probe, names
from shadowprobe.reporting import figures
from shadowprobe.reporting.figures.style import (
    COLOURS,
    LINES,
    Width,
    assign_looks,
    error_lengths,
    shorten_number,
    spread_out,
    stack_panels,
    use_style,
    wrap_label,
)
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.linking import measure_answers

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@pytest.fixture
def run(world: Dataset) -> FinishedRun:
    """The hand-made answers as a finished run."""
    answers = Answers(world).fill(hand_predictions())
    probes = [make_probe(name) for name in names(PROBES)]
    found = measure_answers(answers, probes, linker={"name": "hand", "version": "", "options": {}})
    return finished_run("hand", found, answers, Path("runs/hand"))


def saved(figure: Figure, path: Path) -> bytes:
    """A figure as its file holds it."""
    figures.save(figure, path, force=True)
    return path.read_bytes()


def test_a_user_chooses_colours(run: FinishedRun) -> None:
    from matplotlib.colors import to_hex

    runs = called(run, ["prior", "bm25", "other"])
    bars = figures.plot("overshadowing", runs, colours={"other": "teal", "bm25": COLOURS[1]}).axes[0].patches
    # The colour that bm25 got is that of `prior`, which takes the next one that is free.
    free = next(colour for colour in COLOURS[2:])
    assert [to_hex(bar.get_facecolor()) for bar in bars] == [free.lower(), COLOURS[1].lower(), to_hex("teal")]
    # The next figure knows nothing of it.
    assert assign_looks(["prior"])["prior"].colour == COLOURS[1]


@pytest.mark.parametrize("colour", ["rubbish", "", "0.5", "C1", "#12", "none", "#12345678"])
def test_a_colour_that_is_none_is_refused(run: FinishedRun, colour: str) -> None:
    with pytest.raises(UsageError, match=f"'{colour}' is no colour: give #RRGGBB, or a name such as teal"):
        figures.plot("overshadowing", [run], colours={"hand": colour})


def test_a_colour_for_a_system_that_is_not_there_is_refused(run: FinishedRun) -> None:
    with pytest.raises(UsageError, match="--colour bm25: no such system; there are hand"):
        figures.plot("overshadowing", [run], colours={"bm25": "teal"})


def test_the_systems_that_come_with_us_keep_their_colours_beside_any_others() -> None:
    others = [f"system {number}" for number in range(20)]
    for label in ("prior", "bm25", "tfidf", "blend"):
        assert assign_looks([label]) == {label: assign_looks([*others, "blend", "tfidf", "bm25", "prior"])[label]}


def test_a_serif_figure_has_no_other_font(run: FinishedRun, tmp_path: Path) -> None:
    content = saved(figures.plot("overshadowing", [run], serif=True), tmp_path / "f.pdf")
    assert b"STIXGeneral" in content
    assert b"DejaVu" not in content


def test_a_system_has_the_same_colour_in_every_figure(run: FinishedRun) -> None:
    from matplotlib.colors import to_hex

    # As many as there are colours, so that some of them want the same.
    labels = [f"system {number}" for number in range(8)]
    runs = called(run, labels)
    overshadowing, stability = (figures.plot(name, runs).axes[0] for name in ("overshadowing", "stability"))
    lines = figures.plot("buckets", list(reversed(runs))).axes[0].containers
    for place, each in enumerate(runs):
        colour = assign_looks(reversed(labels))[each.label].colour.lower()
        assert to_hex(overshadowing.patches[place].get_facecolor()) == colour
        assert to_hex(stability.patches[place].get_facecolor()) == colour
        assert to_hex(lines[-1 - place].lines[0].get_color()) == colour  # type: ignore[attr-defined]


def test_a_system_keeps_its_colour_beside_one_that_the_figure_cannot_show(run: FinishedRun) -> None:
    # As many as there are colours, so that what is free for one depends on who stands beside it.
    labels = [f"system {number}" for number in range(8)]
    first, *others = runs = called(run, labels)
    silent = {**run.results["probes"], "calibration": {"not_measured": "no scores"}}
    first.results = {**run.results, "probes": silent}
    (axes,) = figures.plot("calibration", runs).axes
    colours = [container.lines[0].get_color() for container in axes.containers]  # type: ignore[attr-defined]
    assert colours == [assign_looks(labels)[each.label].colour for each in others]


def test_systems_can_be_told_apart_without_colour(run: FinishedRun) -> None:
    labels = [f"system {number}" for number in range(8)]
    found = assign_looks(labels)
    assert {look.colour for look in found.values()} == set(COLOURS)
    for shape in ("hatch", "marker", "line"):
        assert len({getattr(look, shape) for look in found.values()}) == 8
    bars = figures.plot("overshadowing", called(run, labels)).axes[0].patches
    assert len({bar.get_hatch() for bar in bars}) == 8


def test_no_two_of_many_systems_look_alike() -> None:
    assert len(set(assign_looks(f"system {number}" for number in range(64)).values())) == 64


def test_names_of_systems_are_shown_as_they_are(run: FinishedRun) -> None:
    (legend,) = figures.plot("popularity-gap", called(run, ["_hidden", "costs $5 or $6"])).legends
    assert [text.get_text() for text in legend.get_texts()] == ["_hidden", "costs $5 or $6"]
    assert not any(text.get_parse_math() for text in legend.get_texts())


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_any_name_can_be_drawn(run: FinishedRun, tmp_path: Path, kind: str) -> None:
    labels = ["\N{WATER WAVE} 水", "two\nlines", "\udcff", " ", "\u202eright to left"]
    assert saved(figures.plot("overshadowing", called(run, labels)), tmp_path / f"f.{kind}")


def test_a_name_with_control_characters_leaves_the_svg_well_formed(run: FinishedRun, tmp_path: Path) -> None:
    labels = ["\x1b[31mred\x01", "\ufffe --> <b>"]
    drawn = figures.plot("overshadowing", called(run, labels))
    # An XML parser refuses what a browser would not show.
    assert minidom.parseString(saved(drawn, tmp_path / "f.svg")).getElementsByTagName("svg")
    assert [text.get_text() for text in drawn.axes[0].get_yticklabels()] == ["\ufffd[31mred\ufffd", "\ufffd --> <b>"]


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
@pytest.mark.parametrize("figure", ["overshadowing", "buckets"])
def test_equal_runs_give_equal_files_whatever_the_users_settings(
    run: FinishedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figure: str, kind: str
) -> None:
    import matplotlib

    first = saved(figures.plot(figure, [run]), tmp_path / f"f.{kind}")
    monkeypatch.setitem(matplotlib.rcParams, "font.size", 20)
    monkeypatch.setitem(matplotlib.rcParams, "savefig.bbox", "tight")
    monkeypatch.setitem(matplotlib.rcParams, "svg.hashsalt", None)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1500000000")
    assert saved(figures.plot(figure, [run]), tmp_path / f"f.{kind}") == first


def test_a_pdf_brings_its_fonts_and_tells_no_date(run: FinishedRun, tmp_path: Path) -> None:
    content = saved(figures.plot("overshadowing", [run]), tmp_path / "f.pdf")
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    assert b"CreationDate" not in content


def test_an_svg_tells_no_date(run: FinishedRun, tmp_path: Path) -> None:
    content = saved(figures.plot("overshadowing", [run]), tmp_path / "f.svg")
    assert b"<svg" in content
    assert b"dc:date" not in content


def test_a_file_that_is_there_is_not_written_over(run: FinishedRun, tmp_path: Path) -> None:
    (tmp_path / "f.svg").write_text("mine")
    with pytest.raises(UsageError, match=r"f\.svg is there already; --force writes over it"):
        figures.save(figures.plot("overshadowing", [run]), tmp_path / "f.svg")
    assert (tmp_path / "f.svg").read_text() == "mine"


def test_drawing_leaves_the_users_settings_alone(run: FinishedRun, tmp_path: Path) -> None:
    import matplotlib

    # Read one by one: only then is a backend chosen, if nobody has chosen one yet.
    before = {name: matplotlib.rcParams[name] for name in matplotlib.rcParams}
    figures.save(figures.plot("outcomes", [run]), tmp_path / "f.png")
    assert matplotlib.rcParams == before


def test_listing_figures_loads_no_matplotlib_and_drawing_opens_no_window() -> None:
    code = (
        "import sys\n"
        "from shadowprobe.reporting import figures\n"
        "assert len(list(figures.list_figures())) == 23\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from shadowprobe.reporting.figures.style import make_panels, use_style\n"
        "with use_style():\n"
        "    make_panels('one', 2.0)\n"
        "assert 'matplotlib.figure' in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


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


@pytest.mark.parametrize(("width", "longest"), [("one", 14), ("two", 30)])
def test_a_name_beside_its_bars_is_on_one_line_as_long_as_there_is_room(width: Any, longest: int) -> None:
    words = "x " * (longest // 2 - 1) + "xx"
    assert len(words) == longest
    runs = [run_of(label, overshadowing=over(0.5)) for label in (words, f"{words}y")]
    axes = draw("overshadowing", runs, width=width).axes[0]
    assert [text.get_text().count("\n") for text in axes.get_yticklabels()] == [0, 1]


def test_a_name_in_a_legend_or_above_a_panel_has_room_for_22_characters() -> None:
    words = "x " * 10 + "xx"
    runs = [whole_run(label) for label in (words, f"{words}y")]
    (legend,) = draw("buckets", runs).legends
    assert [text.get_text().count("\n") for text in legend.get_texts()] == [0, 1]
    titles = [axes.get_title() for axes in draw("risk-coverage", runs).axes]
    # Below the name is a note of one line.
    assert [title.count("\n") for title in titles] == [1, 2]


def test_a_line_of_a_legend_needs_an_eighth_of_an_inch_and_a_little_more() -> None:
    one, three = (draw("buckets", [whole_run(label) for label in labels]).get_figheight() for labels in ("ab", "abcde"))
    # Two systems share a line of a narrow page.
    assert 2 / 8 < three - one < 2 / 5
    short, long = (draw("buckets", [whole_run(label)]).get_figheight() for label in ("a", "twenty characters of " * 3))
    assert 2 / 8 < long - short < 2 / 7


def test_the_first_of_our_systems_has_a_plain_bar_a_round_marker_and_a_whole_line() -> None:
    alone, second = (assign_looks([name])[name] for name in ("blend", "prior"))
    assert (alone.colour, alone.hatch, alone.marker, alone.line) == ("#0072B2", "", "o", "-")
    assert (second.colour, second.hatch, second.marker, second.line) == ("#E69F00", "////", "s", "--")


def test_a_system_without_a_colour_of_its_own_has_that_of_its_name() -> None:
    # The digest of `hello` begins with 2c f2 4d ba 5f: the first four bytes leave 2 when divided by 8.
    assert assign_looks(["hello"])["hello"].colour == COLOURS[2]


def test_ticks_are_as_thick_as_the_axes_and_a_legend_has_no_frame() -> None:
    drawn = draw("buckets", [whole_run()])
    axes = drawn.axes[0]
    thickness = axes.spines["left"].get_linewidth()
    for axis in (axes.xaxis, axes.yaxis):
        assert axis.get_major_ticks()[0].tick1line.get_markeredgewidth() == thickness
    (legend,) = drawn.legends
    assert not legend.get_frame_on()
    # A handle is long enough for the pattern of a line, and no longer than three letters.
    assert 2 < legend.handlelength < 3


def test_patterns_of_lines_begin_with_a_whole_dash() -> None:
    assert [line[0] for line in LINES if isinstance(line, tuple)] == [0] * 4


@pytest.mark.parametrize(("count", "places"), [(1, [0]), (2, [-2, 2]), (3, [-4, 0, 4])])
def test_marks_are_spread_around_the_middle(count: int, places: list[float]) -> None:
    assert spread_out(count, 4) == places


@pytest.mark.parametrize(("width", "height", "lowest"), [("one", 6.5, [2]), ("two", 2.5, [0, 1, 2])])
def test_panels_stack_on_a_narrow_page_and_stand_side_by_side_on_a_wide_one(
    width: Width, height: float, lowest: list[int]
) -> None:
    with use_style():
        figure, panels, bottom = stack_panels(width, 3, panel=2, room=0.5)
    # Three panels of two inches, or one line of them, and half an inch.
    assert figure.get_figheight() == height
    assert [panels.index(axes) for axes in bottom] == lowest


def test_a_mark_that_the_user_chose_a_colour_for_comes_before_those_that_have_one_by_their_name() -> None:
    with use_style(colours={"other": COLOURS[0].lower(), "own": "teal"}):
        looks = assign_looks(["own", "blend", "other"])
    # `blend` has the first colour unless somebody else was given it.
    assert (looks["other"].colour, looks["blend"].colour, looks["own"].colour) == (COLOURS[0], COLOURS[1], "#008080")
