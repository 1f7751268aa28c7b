"""Figures of finished runs, ready for a paper."""

from __future__ import annotations

import importlib.util
import inspect
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from shadowprobe.errors import UsageError, nearest
from shadowprobe.reporting.figures.style import WIDTHS, Width, use_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.running.directory import Kind
    from shadowprobe.running.finished import FinishedRun
    from shadowprobe.training.record import Training

__all__ = ["FIGURES", "explain", "list_figures", "plot", "render", "save", "write"]

# What a figure is of: runs of one kind, or directories of `train-encoder`.
FigureKind: TypeAlias = "Kind | Literal['training']"
TRAINING: Literal["training"] = "training"
# Each shows runs of one kind, and is a function in the module for that kind or in one of its own.
FIGURES: dict[str, FigureKind] = {
    "overshadowing": "linker",
    "confidence": "linker",
    "commonness": "linker",
    "outcomes": "linker",
    "popularity-gap": "linker",
    "buckets": "linker",
    "context-length": "linker",
    "masked-mention": "linker",
    "calibration": "linker",
    "stability": "linker",
    "templates": "linker",
    "kinds": "linker",
    "debias": "linker",
    "risk-coverage": "linker",
    "head-tail": "retriever",
    "confusion": "retriever",
    "retrieval-gap": "retriever",
    "questions": "retriever",
    "question-buckets": "retriever",
    "long-tail": "retriever",
    "passages": TRAINING,
    "answer-categories": "model",
    "answer-positions": "model",
}
# Those with a panel for each collection of AmbER sets, of which one can be chosen.
OF_COLLECTIONS = ("head-tail", "confusion", "retrieval-gap", "long-tail")
# No date and no version, so that equal runs give equal files.
METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def list_figures() -> Iterator[tuple[str, str]]:
    """Every figure with what it shows."""
    for name in FIGURES:
        yield name, (_function(name).__doc__ or "").partition("\n")[0]


def explain(figure: str) -> str:
    """What a figure shows, in full."""
    return inspect.getdoc(_function(figure)) or ""


def plot(
    figure: str,
    runs: Sequence[str | Path | FinishedRun],
    *,
    width: Width = "one",
    dataset: str | None = None,
    names: Sequence[str] = (),
    collection: str | None = None,
    order: Sequence[str] = (),
    colours: Mapping[str, str] | None = None,
    serif: bool = False,
    warn: Callable[[str], None] | None = None,
) -> Figure:
    """A figure by name over run directories, or over runs that were read; as wide as one or two columns of a page.

    `order` has the labels of the systems that come first, `colours` the colours of systems by their labels. `warn` is
    called for each of several directories that is no finished run and is left out.
    """
    if figure not in FIGURES:
        raise UsageError(f"no figure `{figure}`{nearest(figure, FIGURES)}: choose from {', '.join(FIGURES)}")
    if width not in WIDTHS:
        raise UsageError(f"width {width!r}: choose from {', '.join(WIDTHS)}")
    if collection is not None and figure not in OF_COLLECTIONS:
        raise UsageError(f"--collection: goes with {', '.join(OF_COLLECTIONS)}")
    chosen = {"collection": collection} if collection is not None else {}
    shown = _sort(_read(figure, runs, dataset, names, warn), order)
    _check_systems(shown, colours or {}, "--colour")
    with use_style(serif=serif, colours=colours):
        drawn: Figure = _function(figure)(shown, width, **chosen)
        if serif:
            # Some words are made when a figure is first drawn, in the font of that moment.
            drawn.draw_without_rendering()
    return drawn


def save(figure: Figure, out: Path | str, *, force: bool = False) -> None:
    """Writes a figure whole or not at all, as PNG, SVG or PDF by the ending of the file's name."""
    from shadowprobe.base.files import make_directory, write_atomically

    path = Path(out)
    content = render(figure, _format(path, force=force))
    make_directory(path.parent)
    write_atomically(path, content)


def render(figure: Figure, kind: str) -> bytes:
    """A figure as the content of a file: `png`, `svg` or `pdf`."""
    content = io.BytesIO()
    with use_style(), warnings.catch_warnings():
        # A name in a script that the font lacks is drawn as boxes; the user cannot change that.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(content, format=kind, metadata=METADATA[kind])
    return content.getvalue()


def write(figure: str, runs: Sequence[str | Path | FinishedRun], out: Path, *, force: bool = False, **how: Any) -> None:
    """Plots a figure into a file; refuses a file that cannot be written before it reads anything."""
    _format(out, force=force)
    save(plot(figure, runs, **how), out, force=force)


def _function(figure: str) -> Any:
    function = figure.replace("-", "_")
    has_own_module = importlib.util.find_spec(f"{__name__}.{function}") is not None
    module = function if has_own_module else f"{FIGURES[figure]}_figures"
    return getattr(importlib.import_module(f"{__name__}.{module}"), function)


def _read(
    figure: str,
    runs: Sequence[str | Path | FinishedRun],
    dataset: str | None,
    names: Sequence[str],
    warn: Callable[[str], None] | None,
) -> Sequence[FinishedRun] | Sequence[Training]:
    from shadowprobe.running.finished import check_labels, read_runs
    from shadowprobe.running.kinds import COMMANDS, NOUNS

    if not runs:
        raise UsageError("give at least one run directory")
    shown = [run for run in runs if not isinstance(run, str | Path)]
    paths = [Path(run) for run in runs if isinstance(run, str | Path)]
    if shown and (paths or dataset is not None or names):
        raise UsageError("give run directories or runs that were read, not both; the latter have dataset and name")
    kind, user = FIGURES[figure], f"the figure `{figure}`"
    if kind != "linker" and dataset is not None:
        raise UsageError(f"--dataset: goes with figures of linkers; {user} needs nothing but the runs")
    if kind == TRAINING:
        from shadowprobe.training.record import read_trainings

        if shown:
            raise UsageError(f"{user} takes directories that `shadowprobe train-encoder` makes, and no runs")
        return read_trainings(paths, names)
    shown += read_runs(paths, dataset, names, warn=warn)
    for run in shown:
        if run.kind != kind:
            raise UsageError(
                f"{run.path} is a run of a {NOUNS[run.kind]}; {user} takes runs of {NOUNS[kind]}s, which"
                f" `shadowprobe {COMMANDS[kind]}` makes"
            )
    check_labels(shown, "name")
    return shown


def _sort(runs: Sequence[FinishedRun] | Sequence[Training], order: Sequence[str]) -> list[Any]:
    """The runs with those of an order first; the others keep theirs."""
    _check_systems(runs, order, "--order")
    return sorted(runs, key=lambda run: order.index(run.label) if run.label in order else len(order))


def _check_systems(runs: Sequence[Any], labels: Iterable[str], option: str) -> None:
    """Refuses the label of a system that no run has."""
    known = [run.label for run in runs]
    for label in labels:
        if label not in known:
            raise UsageError(f"{option} {label}: no such system{nearest(label, known)}; there are {', '.join(known)}")


def _format(path: Path, *, force: bool) -> str:
    """The format by the ending of a file's name; refuses a file that exists."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in METADATA:
        raise UsageError(f"{path}: a figure is written to a file that ends in .png, .svg or .pdf")
    if path.is_dir():
        raise UsageError(f"{path} is a directory; give a file")
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; --force writes over it")
    return kind
