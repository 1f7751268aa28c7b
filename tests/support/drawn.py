"""What a figure shows, read back from its parts."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox


def bars(axes: Axes) -> list[tuple[float, float]]:
    """Where each bar of a panel begins and how long it is."""
    from matplotlib.patches import Rectangle

    return [(bar.get_x(), bar.get_width()) for bar in axes.patches if isinstance(bar, Rectangle)]


def intervals(axes: Axes, *, upright: bool = False) -> list[list[float]]:
    """The ends of each interval of a panel, each once."""
    from matplotlib.collections import LineCollection

    column = 1 if upright else 0
    found = [
        [float(end) for end in segment[:, column]]
        for collection in axes.collections
        if isinstance(collection, LineCollection)
        for segment in collection.get_segments()
    ]
    return [one for place, one in enumerate(found) if one not in found[:place]]


def points(line: Any) -> list[tuple[float, float]]:
    """The points of a line."""
    return [(round(float(x), 9), round(float(y), 9)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def heights(axes: Axes, place: int = 0) -> list[float]:
    """The values of a system's line with intervals."""
    container: Any = axes.containers[place]
    return [y for _, y in points(container.lines[0])]


def words(figure: Figure) -> list[str]:
    """Everything that a figure says."""
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()]


def tick_labels(axes: Axes) -> list[str]:
    """The words below a panel."""
    return [text.get_text() for text in axes.get_xticklabels()]


def visible_words(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every word that is drawn, with its place."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    beyond = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low <= tick.get_loc() <= high:
                beyond |= {tick.label1, tick.label2}
    texts = [text for text in figure.findobj(Text) if isinstance(text, Text) and text not in beyond]
    return [(text.get_text(), text.get_window_extent()) for text in texts if text.get_visible() and text.get_text()]


def assert_readable(figure: Figure) -> None:
    """No word is cut off, and none lies on another."""
    page = figure.bbox
    found = visible_words(figure)
    for text, box in found:
        inside = box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1 and box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1
        assert inside, text
    for (one, first), (other, second) in itertools.combinations(found, 2):
        apart = first.x1 <= second.x0 + 1 or second.x1 <= first.x0 + 1
        assert apart or first.y1 <= second.y0 + 1 or second.y1 <= first.y0 + 1, (one, other)


def assert_compact(figure: Figure, spare: float = 0) -> None:
    """Rows are as high as they are laid out, in inches; no other panel is too low to be read, or a waste of paper.

    `spare` is what a long legend may need less than was kept for it.
    """
    figure.draw_without_rendering()
    for axes in figure.axes:
        box = axes.get_window_extent()
        width, height = (float(pixels) / figure.dpi for pixels in (box.width, box.height))
        bottom, top = axes.get_ylim()
        if bottom > top == 0:
            assert abs(height - bottom) < 0.25 + spare, (height, bottom)
        elif axes.axison and not axes.images and axes.get_label() != "<colorbar>":
            assert 0.4 < height < min(width + 0.01, 2.2 + spare), (width, height)


def assert_laid_out(figure: Figure, inches: float) -> None:
    """Every word can be read, and the panels fill a figure that is no higher than so many inches."""
    assert figure.get_figheight() <= inches
    assert_readable(figure)
    assert_compact(figure)
    boxes = [axes.get_window_extent() for axes in figure.axes]
    assert max(box.y1 for box in boxes) - min(box.y0 for box in boxes) > (figure.get_figheight() - 1.3) * figure.dpi
