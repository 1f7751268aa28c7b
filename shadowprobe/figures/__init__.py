"""Figures of finished runs, ready for a paper."""

from __future__ import annotations

import importlib
import io
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shadowprobe.errors import UsageError, nearest
from shadowprobe.figures.style import WIDTHS, Width, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.runs import FinishedRun

__all__ = ["FIGURES", "listed", "plot", "save", "write"]

# Each is a module with a function `draw`.
FIGURES = (
    "overshadowing",
    "confidence",
    "commonness",
    "outcomes",
    "popularity-gap",
    "buckets",
    "calibration",
    "stability",
)
# No date and no version, so that equal runs give equal files.
METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def listed() -> Iterator[tuple[str, str]]:
    """Every figure with what it shows."""
    for name in FIGURES:
        yield name, (_module(name).__doc__ or "").partition("\n")[0]


def plot(
    figure: str,
    runs: Sequence[str | Path | FinishedRun],
    *,
    width: Width = "one",
    dataset: str | None = None,
    names: Sequence[str] = (),
) -> Figure:
    """A figure by name over run directories, or over runs that were read; as wide as one or two columns of a page."""
    if figure not in FIGURES:
        raise UsageError(f"no figure `{figure}`{nearest(figure, FIGURES)}: choose from {', '.join(FIGURES)}")
    if width not in WIDTHS:
        raise UsageError(f"width {width!r}: choose from {', '.join(WIDTHS)}")
    read = _read(runs, dataset, names)
    with styled():
        drawn: Figure = _module(figure).draw(read, width)
    return drawn


def save(figure: Figure, out: Path | str, *, force: bool = False) -> None:
    """Writes a figure whole or not at all, as PNG, SVG or PDF by the ending of the file's name."""
    from shadowprobe.dataset import make_directory
    from shadowprobe.jsonl import write_atomically

    path = Path(out)
    kind = _format(path, force=force)
    content = io.BytesIO()
    with styled(), warnings.catch_warnings():
        # A name in a script that the font lacks shows as boxes; there is nothing that the user could do at once.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(content, format=kind, metadata=METADATA[kind])
    make_directory(path.parent)
    write_atomically(path, content.getvalue())


def write(figure: str, runs: Sequence[str | Path | FinishedRun], out: Path, *, force: bool = False, **how: Any) -> None:
    """Plots a figure into a file; one that cannot be written is refused before anything is read."""
    _format(out, force=force)
    save(plot(figure, runs, **how), out, force=force)


def _module(figure: str) -> Any:
    return importlib.import_module(f"shadowprobe.figures.{figure.replace('-', '_')}")


def _read(runs: Sequence[str | Path | FinishedRun], dataset: str | None, names: Sequence[str]) -> list[FinishedRun]:
    from shadowprobe.runs import FinishedRun, read_runs

    if not runs:
        raise UsageError("give at least one run directory")
    read = [run for run in runs if isinstance(run, FinishedRun)]
    if not read:
        read = read_runs([Path(run) for run in runs if not isinstance(run, FinishedRun)], dataset, names)
    elif len(read) < len(runs) or dataset is not None or names:
        raise UsageError("give run directories or runs that were read, not both; the latter have dataset and name")
    labels = [run.label for run in read]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise UsageError(f"two runs are called {twice!r}: give each a name of its own")
    return read


def _format(path: Path, *, force: bool) -> str:
    """The format that the name of a file asks for; refuses a file that is there."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in METADATA:
        raise UsageError(f"{path}: a figure is written to a file that ends in .png, .svg or .pdf")
    if path.is_dir():
        raise UsageError(f"{path} is a directory; give a file")
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; --force writes over it")
    return kind
