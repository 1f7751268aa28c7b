"""What the commands do, as functions: runs that are read, compared, drawn, reported and corrected from Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from shadowprobe.base.model import Entity, EntitySpace
from shadowprobe.errors import UsageError, nearest
from shadowprobe.measure.statistics import ROUNDS, SEED
from shadowprobe.running.comparison import Comparison
from shadowprobe.running.directory import RESULTS, Results
from shadowprobe.running.finished import FinishedRun, check_comparable, read_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.dataset.dataset import Dataset
    from shadowprobe.measure.candidate_scores import Kind
    from shadowprobe.running.check import Finding
    from shadowprobe.systems.linker import Linker

Run = FinishedRun
# Run directories, or runs that were read.
Runs = Sequence[str | Path | Run]


class DumpNames(Struct, frozen=True):
    """The names that several articles of a wiki share, with the entities of each, the most common first."""

    spaces: list[EntitySpace]
    entities: dict[str, Entity]
    # How many disambiguation pages were left out, by reason.
    dropped: dict[str, int]
    # What a reader of the numbers should know about the dumps.
    notes: list[str]


def load_run(path: str | Path, *, dataset: str | None = None, name: str = "") -> Run:
    """Reads a finished run: its `results`, and when they are first used its `dataset` and `answers`.

    `dataset` is where the dataset is now, if not where it was. `name` is what tables and figures call the run.
    """
    return read_runs([Path(path)], dataset, [name] if name else ())[0]


def runs(folder: str | Path = "runs") -> list[Run]:
    """Reads all finished runs of a folder and of the folders in it, in the order of their paths."""
    place = Path(folder)
    if not place.is_dir():
        raise UsageError(f"{place}: no such directory")
    return read_runs(sorted(path.parent for path in place.rglob(RESULTS)), is_mixed=True)


def compare(
    runs: Runs, *, dataset: str | None = None, names: Sequence[str] = (), rounds: int = ROUNDS, seed: int = SEED
) -> Comparison:
    """Compares every two of the runs over the same data: paired differences with intervals and tests."""
    from shadowprobe.running.comparison import compare as compare_runs

    return compare_runs(_read(runs, dataset, names), collection=dataset, rounds=rounds, seed=seed)


def table(
    which: str,
    runs: Runs,
    *,
    format_name: str = "markdown",
    dataset: str | None = None,
    names: Sequence[str] = (),
    published: bool = False,
) -> str:
    """Puts runs into a table, `summary` or one of a paper, and returns it as text.

    `format_name` is `markdown`, `latex`, `csv`, `json`, `html` or `terminal`.
    """
    from shadowprobe.reporting.tables.named_tables import SUMMARY, make_tables
    from shadowprobe.reporting.tables.rendering import FORMATS, render

    if format_name not in FORMATS:
        raise UsageError(
            f"format {format_name!r}: choose from {', '.join(FORMATS)}{nearest(str(format_name), FORMATS)}"
        )
    read = _read(runs, dataset, names, is_mixed=which == SUMMARY)
    if which != SUMMARY:
        check_comparable(read)
    return render(format_name, make_tables(which, read, published=published))


def plot(
    figure: str,
    runs: Runs,
    out: str | Path | None = None,
    *,
    dataset: str | None = None,
    names: Sequence[str] = (),
    force: bool = False,
    **settings: Any,
) -> Figure:
    """Draws a figure over runs, and writes it if `out` names a .png, .svg or .pdf file.

    The other settings are those of `shadowprobe plot`, such as `width="two"`.
    """
    from shadowprobe.reporting import figures

    drawn = figures.plot(figure, _read(runs, dataset, names), **settings)
    if out is not None:
        figures.save(drawn, out, force=force)
    return drawn


def report(
    runs: Runs,
    out: str | Path | None = None,
    *,
    dataset: str | None = None,
    names: Sequence[str] = (),
    force: bool = False,
) -> Path:
    """Writes the report of runs over the same data as one HTML file, and returns where it is."""
    from shadowprobe.reporting.html.page import write_report

    target = Path(out) if out is not None else None
    return write_report(_read(runs, dataset, names), target, dataset=dataset, force=force)


def debias(
    run: str | Path | Run,
    out: str | Path | None = None,
    *,
    weight: float | None = None,
    top_loss: float | None = None,
    scale: Kind | None = None,
    dataset: str | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Corrects the answers of a linker's run for its prior, and returns the content of debias.json.

    The corrected run is written to `out`, or to the run's path with `-debiased` behind it. `top_loss` is the share of
    right answers on Top that a chosen weight may cost, 0.01 without it.
    """
    from shadowprobe.running.correction import correct_run

    target = Path(out) if out is not None else None
    (read,) = _read([run], dataset, ())
    return correct_run(read, target, weight=weight, top_loss=top_loss, scale=scale, force=force).found


def summarize(results: Results) -> str:
    """What `shadowprobe run` prints about results: the tables, the remarks and the verdict."""
    from shadowprobe.reporting.tables.to_terminal import render_run

    return render_run(results)


def check(linker: str | Linker, dataset: str | Path | Dataset = "mini") -> list[Finding]:
    """Tests a linker on small cases: repeated names, emoji before the mention, batches of any size, unknown names."""
    from shadowprobe.catalogue.datasets import open_dataset
    from shadowprobe.plugins import make_linker
    from shadowprobe.running.check import check as check_linker

    made = make_linker(linker) if isinstance(linker, str) else linker
    opened = open_dataset(str(dataset)) if isinstance(dataset, str | Path) else dataset
    return list(check_linker(made, opened))


def names_from_dumps(folder: str | Path, *, language: str = "en", database: str | Path | None = None) -> DumpNames:
    """Finds the ambiguous names of a wiki in its dump files, and how many pages link to each of their entities.

    It sends no request. `database` is the file that the dumps are read into once [dumps.duckdb in the folder].
    """
    from shadowprobe.base.languages import read_language
    from shadowprobe.build.dumps.commonness import count_backlinks_in_dumps
    from shadowprobe.build.dumps.source import find_spaces_in_dumps
    from shadowprobe.build.dumps.store import read_notes
    from shadowprobe.build.funnel import Funnel
    from shadowprobe.build.settings import BuildSettings

    place = Path(folder)
    file = Path(database) if database is not None else place / "dumps.duckdb"
    funnel = Funnel("spaces")
    settings = BuildSettings(wiki=str(place), name=place.name, dumps=str(place))
    found = list(find_spaces_in_dumps(file, read_language(language), funnel, settings))
    new_entities = [entity for one in found for entity in one.new_entities]
    entities = {
        one.title: Entity(one.title, page_id=one.page_id, commonness=one.commonness, redirects=one.redirects)
        for one in count_backlinks_in_dumps(file, new_entities)
    }
    spaces = [
        EntitySpace(space.name, tuple(sorted(space.entities, key=lambda title: -(entities[title].commonness or 0))))
        for space, _ in found
    ]
    return DumpNames(spaces, entities, dict(funnel.dropped), read_notes(file))


def _read(given: Runs, dataset: str | None, names: Sequence[str], *, is_mixed: bool = False) -> list[Run]:
    """The runs among what a caller gives; those that were read already keep their names."""
    if isinstance(given, str | Path | Run):
        raise UsageError("give a list of runs")
    read = [run for run in given if isinstance(run, Run)]
    paths = [Path(run) for run in given if not isinstance(run, Run)]
    if not read:
        return read_runs(paths, dataset, names, is_mixed=is_mixed)
    if paths or dataset is not None or names:
        raise UsageError("give run directories or runs that were read, not both; the latter have dataset and name")
    return read
