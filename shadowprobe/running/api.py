"""Runs of linkers from Python: `shadowprobe.run` and `shadowprobe.score`, and the jobs behind them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shadowprobe import plugins
from shadowprobe.base import prediction_file
from shadowprobe.base.model import Prediction
from shadowprobe.catalogue.datasets import open_dataset
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import UsageError
from shadowprobe.running.directory import Results, dataset_location
from shadowprobe.running.job import FinishedJob, Job
from shadowprobe.running.linking import LinkingTask, Settings
from shadowprobe.running.naming import FOLDER
from shadowprobe.running.stored import score_stored
from shadowprobe.systems.linker import Linker
from shadowprobe.systems.replies import read_replies

if TYPE_CHECKING:
    from shadowprobe.compute.executor import Executor


def run(
    linker: str | Linker,
    dataset: str | Path | Dataset = "mini",
    *,
    options: Mapping[str, str] | None = None,
    out: Path | str | None = None,
    batch_size: int | None = None,
    limit: int | None = None,
    settings: Settings | None = None,
    force: bool = False,
) -> Results:
    """Runs a linker over a dataset into a run directory and returns its results."""
    job = make_linking_job(
        linker,
        dataset,
        options=options,
        out=out,
        batch_size=batch_size,
        limit=limit,
        settings=settings,
        force=force,
    )
    return job.run().results


def score(
    predictions: Path | str,
    dataset: str | Path | Dataset | None = None,
    *,
    format_name: str | None = None,
    limit: int | None = None,
    name: str | None = None,
    out: Path | str | None = None,
    settings: Settings | None = None,
    force: bool = False,
) -> Results:
    """Measures a predictions file or a run directory, writes results.json and returns what it holds.

    Without a dataset, that of the run is taken, or `mini` for a file that belongs to none. Predictions in a foreign
    format are matched to the dataset's mentions first, and stand in our own form beside the results.
    """
    job = score_predictions(
        predictions,
        dataset,
        format_name=format_name,
        limit=limit,
        name=name,
        out=out,
        settings=settings,
        force=force,
    )
    return job.results


def make_linking_job(
    linker: str | Linker,
    dataset: str | Path | Dataset = "mini",
    *,
    options: Mapping[str, str] | None = None,
    out: Path | str | None = None,
    batch_size: int | None = None,
    limit: int | None = None,
    settings: Settings | None = None,
    force: bool = False,
    location: str | None = None,
    keep_replies: bool = False,
    from_replies: Path | None = None,
    name: str | None = None,
    folder: Path = FOLDER,
    executor: Executor | None = None,
) -> Job[LinkingTask]:
    """A linker to be run over a dataset, with everything checked that can be checked before the first snippet.

    `folder` is where the run directory is made, if `out` does not name it. With an executor, its workers link.
    """
    options = dict(options or {})
    _refuse_below_one(batch_size=batch_size, limit=limit)
    if isinstance(linker, type):
        raise UsageError(f"{linker.__name__} is a class: give an instance, {linker.__name__}()")
    if options and not isinstance(linker, str):
        raise UsageError("options go with a linker by name; an instance has its own")
    made = plugins.make_linker(linker, options) if isinstance(linker, str) else plugins.add_version(linker)
    opened = _open(dataset)
    if executor is not None:
        from shadowprobe.running.linker_workers import refuse_for_workers

        refuse_for_workers(linker, made)
    if keep_replies or from_replies is not None:
        _set_replies(made, options, keep=keep_replies, source=from_replies)
    task = LinkingTask(
        opened.first(limit) if limit is not None else opened,
        made,
        options=options,
        settings=settings,
        # As the user named it, so that later commands find the dataset again.
        location=_clean(location or str(opened.path if isinstance(dataset, Dataset) else dataset)),
        batch_size=batch_size,
        keep_replies=keep_replies,
        executor=executor,
        named=linker if isinstance(linker, str) else "",
    )
    place, called = Path(out) if out is not None else None, _clean(name) if name is not None else None
    return Job(task, place, force=force, name=called, folder=folder)


def score_predictions(
    predictions: Path | str,
    dataset: str | Path | Dataset | None = None,
    *,
    format_name: str | None = None,
    limit: int | None = None,
    name: str | None = None,
    out: Path | str | None = None,
    settings: Settings | None = None,
    force: bool = False,
    location: str | None = None,
) -> FinishedJob:
    """Measures stored predictions; also says where the results were written."""
    _refuse_below_one(limit=limit)
    place = dataset if dataset is not None else dataset_location(Path(predictions))
    opened = _open(place)
    task = LinkingTask(
        opened.first(limit) if limit is not None else opened,
        settings=settings,
        location=_clean(location or str(opened.path if isinstance(place, Dataset) else place)),
        format_name=format_name,
    )
    target = Path(out) if out is not None else None
    return score_stored(task, Path(predictions), name=_clean(name) if name else None, out=target, force=force)


def read_predictions(predictions: Path, dataset: Dataset) -> dict[str, Prediction]:
    """The stored predictions of a file or a run for a dataset, by snippet; checked as scoring does."""
    task = LinkingTask(dataset)
    path = task.find_answers(predictions)
    task.read_card(path)
    task.load(path)
    return {prediction.id: prediction for _, prediction in prediction_file.read_predictions(path)}


def _set_replies(linker: Linker, options: dict[str, str], *, keep: bool, source: Path | None) -> None:
    """Checks the options about the replies of a service, and lets the linker read stored ones."""
    from shadowprobe.systems.web_linker import WebLinker

    option = "--keep-replies" if keep else "--from-replies"
    if not isinstance(linker, WebLinker):
        raise UsageError(f"{option}: `{linker.name}` is no web service, and there are no replies")
    if source is None:
        return
    if keep:
        raise UsageError("--keep-replies: with --from-replies no service is asked, and there is no new reply")
    reply = next(iter(read_replies(source).values()))
    if reply.linker != linker.name:
        raise UsageError(f"--from-replies: {source} has replies of `{reply.linker}`, not of `{linker.name}`")
    # The run records the service that gave the replies, not the address that a new run would ask.
    linker.from_replies, linker.url = source, reply.url
    options["url"] = reply.url


def _open(dataset: str | Path | Dataset) -> Dataset:
    return dataset if isinstance(dataset, Dataset) else open_dataset(str(dataset))


def _refuse_below_one(**numbers: int | None) -> None:
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise UsageError(f"{name} is {value}, and must be at least 1")


def _clean(argument: str) -> str:
    """An argument of the command line as text that JSON can hold, whatever bytes a file's name is made of."""
    return argument.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
