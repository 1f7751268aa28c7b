"""The questions of finished runs, opened again where they were or where a user says that they are now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shadowprobe.errors import InputError, UsageError
from shadowprobe.measure.query_probes import RankingProbe
from shadowprobe.measure.rankings import Rankings, look_up, read_rankings
from shadowprobe.plugins import make_retrieval_probe
from shadowprobe.queries.collection import BUILTIN, Collection, digest_of, open_collection
from shadowprobe.queries.query import Ranking
from shadowprobe.queries.stored_answers import read_answers
from shadowprobe.running.answering import BUILTIN as BUILTIN_SETS
from shadowprobe.running.answering import BUILTIN_NAME, AnsweringTask, read_held_out
from shadowprobe.running.directory import ANSWERS, RANKINGS, RESULTS, RUN, locate, read_card
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.reading import ReadingSettings, open_stored_answers


def check_probe(run: FinishedRun, name: str) -> None:
    """Refuses a run that has no findings of a probe."""
    if name not in run.results["probes"]:
        raise UsageError(f"{run.path} was not asked `{name}`")


def open_collection_of(run: FinishedRun, location: str | None = None) -> Collection:
    """The documents that a retriever searched; refuses where they are gone, or are others."""
    name = run.data["name"]
    if location is None and name not in BUILTIN:
        location = _location_of(run, "collection")
        if not location or not Path(location).exists():
            raise UsageError(f"the collection `{name}` is not where the run had it; --dataset says where it is")
    collection = open_collection(location or name)
    _check_digest(run, collection.path, collection.digest)
    return collection


def open_ranking_probe(
    run: FinishedRun, name: str, collection: Collection, queries: Path | None = None
) -> RankingProbe:
    """A probe of a retriever's run with its queries loaded; refuses where these are gone, or are others."""
    where = f"--queries says where the queries of `{name}` are"
    if queries is None and (location := _location_of(run, "queries")):
        queries = Path(location)
        if not queries.exists():
            raise UsageError(f"{queries} does not exist any more; {where}")
    probe = make_retrieval_probe(name, RankingProbe)
    if queries is None and collection.directory is None:
        raise UsageError(f"`{collection.name}` is a file of documents alone; {where}")
    path = queries or (collection.directory or Path()) / probe.folder
    probe.load(path)
    if digest_of(path) != run.results["queries"][name]:
        raise InputError(path, f"has other queries of `{name}` than {run.path}; {where}")
    return probe


def read_stored_rankings(run: FinishedRun) -> list[Ranking]:
    """The rankings that a retriever's run has stored."""
    return read_rankings(_find_file(run, RANKINGS))


def read_rankings_of(runs: Sequence[FinishedRun], collection: Collection, ks: tuple[int, ...]) -> list[Rankings]:
    """The rankings of runs over one collection, down to the depth of each run."""
    rankings = [read_stored_rankings(run) for run in runs]
    ids = {document for of_run in rankings for ranking in of_run for document in ranking.documents}
    pages = look_up(collection, ids).pages
    return [
        Rankings(
            collection,
            of_run,
            depth=run.results["settings"]["depth"],
            ks=ks,
            pages=pages,
            text_only=run.reads_text_only,
        )
        for run, of_run in zip(runs, rankings, strict=True)
    ]


def open_sets_of(run: FinishedRun, probe: str, queries: Path | None = None) -> AnsweringTask:
    """The sets that a language model was asked about; refuses where they are gone, or are others."""
    check_probe(run, probe)
    location = BUILTIN_SETS if queries is None else str(queries)
    if queries is None and run.data["name"] != BUILTIN_NAME:
        location = _location_of(run, "queries")
        if not Path(location).is_file():
            raise UsageError(
                f"the questions `{run.data['name']}` are not where the run had them; --queries says where they are"
            )
    sets = AnsweringTask(
        location,
        documents=run.data["documents"],
        limit=run.data["limit"],
        held_out=read_held_out(run.data, run.path / RESULTS),
        probes=(probe,),
    )
    _check_digest(run, sets.path, sets.digest, "was asked")
    return sets


def read_answers_of(run: FinishedRun, sets: AnsweringTask) -> dict[str, str]:
    """The answers of a language model's run by set."""
    return read_answers(_find_file(run, ANSWERS), sets.known)


def _find_file(run: FinishedRun, name: str) -> Path:
    if not (run.path / name).exists():
        raise InputError(run.path, f"has no {name}")
    return run.path / name


def read_reading_rows(
    run: FinishedRun, location: str | None = None, queries: Path | None = None
) -> dict[str, list[dict[str, Any]]]:
    """What each probe of a reader's run says of every query, by the name of the probe."""
    settings = ReadingSettings(location, tuple(run.results["queries"]), queries, run.data["limit"])
    task = open_stored_answers(run.path, settings)
    task.read_card(run.path / ANSWERS)
    if task.questions["queries"] != run.results["queries"]:
        raise InputError(run.path, "was asked other queries than are there now; --queries says where they are")
    task.load(run.path / ANSWERS)
    return {probe.name: list(probe.rows(task.answers)) for probe in task.probes}


def _check_digest(run: FinishedRun, path: Path, digest: str, relation: str = "is over") -> None:
    """Refuses documents or questions that are not those of a run."""
    if digest != (expected := run.data["digest"]):
        raise InputError(path, f"is not what {run.path} {relation} ({digest[:12]}..., not {expected[:12]}...)")


def _location_of(run: FinishedRun, what: str) -> str:
    """Where the collection or the queries of a run are; empty where its card does not say."""
    path = run.path / RUN
    return locate(run.path, read_card(path), what) if path.exists() else ""
