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

    from shadowprobe.retrieval.measured import MeasuredRun
    from shadowprobe.run_kinds import Kind
    from shadowprobe.runs import FinishedRun

    AnyRun = FinishedRun | MeasuredRun

__all__ = ["FIGURES", "listed", "plot", "save", "write"]

# Each is a module with a function `draw`, and shows runs of one kind.
FIGURES: dict[str, Kind] = {
    "overshadowing": "linker",
    "confidence": "linker",
    "commonness": "linker",
    "outcomes": "linker",
    "popularity-gap": "linker",
    "buckets": "linker",
    "calibration": "linker",
    "stability": "linker",
    "head-tail": "retriever",
    "confusion": "retriever",
    "retrieval-gap": "retriever",
    "questions": "retriever",
    "question-buckets": "retriever",
    "answer-categories": "model",
}
# Those with a panel for each collection of AmbER sets, of which one can be chosen.
OF_COLLECTIONS = ("head-tail", "confusion", "retrieval-gap")
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
    runs: Sequence[str | Path | AnyRun],
    *,
    width: Width = "one",
    dataset: str | None = None,
    names: Sequence[str] = (),
    collection: str | None = None,
) -> Figure:
    """A figure by name over run directories, or over runs that were read; as wide as one or two columns of a page."""
    if figure not in FIGURES:
        raise UsageError(f"no figure `{figure}`{nearest(figure, FIGURES)}: choose from {', '.join(FIGURES)}")
    if width not in WIDTHS:
        raise UsageError(f"width {width!r}: choose from {', '.join(WIDTHS)}")
    if collection is not None and figure not in OF_COLLECTIONS:
        raise UsageError(f"--collection: goes with {', '.join(OF_COLLECTIONS)}")
    chosen = {"collection": collection} if collection is not None else {}
    read = _read(figure, runs, dataset, names)
    with styled():
        drawn: Figure = _module(figure).draw(read, width, **chosen)
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


def write(figure: str, runs: Sequence[str | Path | AnyRun], out: Path, *, force: bool = False, **how: Any) -> None:
    """Plots a figure into a file; one that cannot be written is refused before anything is read."""
    _format(out, force=force)
    save(plot(figure, runs, **how), out, force=force)


def _module(figure: str) -> Any:
    return importlib.import_module(f"shadowprobe.figures.{figure.replace('-', '_')}")


def _read(
    figure: str, runs: Sequence[str | Path | AnyRun], dataset: str | None, names: Sequence[str]
) -> Sequence[AnyRun]:
    from shadowprobe.run_kinds import refuse_one_name

    if not runs:
        raise UsageError("give at least one run directory")
    read = [run for run in runs if not isinstance(run, str | Path)]
    paths = [Path(run) for run in runs if isinstance(run, str | Path)]
    if read and (paths or dataset is not None or names):
        raise UsageError("give run directories or runs that were read, not both; the latter have dataset and name")
    found = _checked(figure, read) if read else _read_paths(figure, paths, dataset, names)
    refuse_one_name(found)
    return found


def _checked(figure: str, runs: Sequence[AnyRun]) -> Sequence[AnyRun]:
    from shadowprobe.run_kinds import expect

    for run in runs:
        expect(run.path, run.results, FIGURES[figure], f"the figure `{figure}`")
    return runs


def _read_paths(figure: str, paths: Sequence[Path], dataset: str | None, names: Sequence[str]) -> Sequence[AnyRun]:
    from shadowprobe.retrieval.measured import read_measured
    from shadowprobe.run_kinds import expect, read_results

    kind, what = FIGURES[figure], f"the figure `{figure}`"
    if kind != "linker":
        if dataset is not None:
            raise UsageError(f"--dataset: goes with figures of linkers; {what} needs nothing but the runs")
        return read_measured(paths, kind, what, names)
    from shadowprobe.runs import read_runs

    for path in paths:
        expect(path, read_results(path), kind, what)
    return read_runs(paths, dataset, names)


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
