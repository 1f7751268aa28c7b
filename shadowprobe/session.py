"""One whole job: link and measure, or measure stored predictions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

import shadowprobe
from shadowprobe import plugins
from shadowprobe.answers import Answers
from shadowprobe.catalogue import open_dataset
from shadowprobe.dataset import Dataset, make_directory
from shadowprobe.errors import InputError, UsageError
from shadowprobe.identity import read_redirects
from shadowprobe.jsonl import as_read_back, encode_json, write_atomically
from shadowprobe.linker import Linker
from shadowprobe.results import Results, measure
from shadowprobe.runner import PREDICTIONS, RESULTS, RUN, Outcome, Progress, RunCard, Runner, read_run_card
from shadowprobe.statistics import ROUNDS, SEED


class Settings(Struct, frozen=True):
    """How predictions are measured."""

    probes: tuple[str, ...] = ()
    redirects: Path | None = None
    gerbil_threshold: bool = False
    rounds: int = ROUNDS
    seed: int = SEED


class Finished(Struct, frozen=True):
    """A finished job: its results, where they are, and how the linking went."""

    results: Results
    out: Path
    outcome: Outcome | None = None


class Job:
    """A linker to be run over a dataset, with everything checked that can be checked before the first snippet."""

    def __init__(
        self,
        linker: str | Linker,
        dataset: str | Dataset = "mini",
        *,
        options: Mapping[str, str] | None = None,
        out: Path | str | None = None,
        batch_size: int | None = None,
        limit: int | None = None,
        settings: Settings | None = None,
        force: bool = False,
        location: str | None = None,
    ) -> None:
        self.settings = settings or Settings()
        options = dict(options or {})
        self.linker = plugins.make_linker(linker, options) if isinstance(linker, str) else linker
        # As the user named it, so that later commands find the dataset again.
        self.location = _text(location or (dataset if isinstance(dataset, str) else str(dataset.path)))
        opened = open_dataset(dataset) if isinstance(dataset, str) else dataset
        self.dataset = opened.first(limit) if limit is not None else opened
        self.probes = [plugins.make_probe(name) for name in self.settings.probes or plugins.names(plugins.PROBES)]
        self.answers = _empty_answers(self.dataset, self.settings)
        name = self.linker.name or type(self.linker).__name__
        self.described = {
            "name": name,
            "version": self.linker.version,
            "options": as_read_back(plugins.option_values(self.linker, options)),
        }
        self.out = Path(out) if out is not None else _default_out(name, self.dataset)
        self.runner = Runner(
            self.linker,
            self.dataset,
            self.out,
            card=RunCard(
                linker=self.described,
                dataset={"name": opened.name, "digest": opened.digest, "location": self.location},
                shadowprobe=shadowprobe.__version__,
            ),
            batch_size=batch_size,
            resolver=self.answers.resolver,
            rows=self.answers.row,
            force=force,
        )

    def run(self, progress: Progress | None = None) -> Finished:
        """Links, measures, writes results.json."""
        outcome = self.runner.run(progress)
        answers = self.answers.read(self.out / PREDICTIONS, partial=self.dataset.limit is not None)
        results = measure(answers, self.probes, linker=self.described, notes=self.runner.card.notes)
        write_atomically(self.out / RESULTS, encode_json(results))
        return Finished(results, self.out, outcome)


def run(
    linker: str | Linker,
    dataset: str | Dataset = "mini",
    *,
    options: Mapping[str, str] | None = None,
    out: Path | str | None = None,
    batch_size: int | None = None,
    limit: int | None = None,
    settings: Settings | None = None,
    force: bool = False,
) -> Results:
    """Runs a linker over a dataset into a run directory and returns its results."""
    job = Job(
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
    dataset: str | Dataset = "mini",
    *,
    name: str | None = None,
    out: Path | str | None = None,
    settings: Settings | None = None,
    force: bool = False,
) -> Results:
    """Measures a predictions file or a run directory, writes results.json and returns what it holds."""
    return score_file(predictions, dataset, name=name, out=out, settings=settings, force=force).results


def score_file(
    predictions: Path | str,
    dataset: str | Dataset,
    *,
    name: str | None = None,
    out: Path | str | None = None,
    settings: Settings | None = None,
    force: bool = False,
) -> Finished:
    """The same, and where the results were written."""
    settings = settings or Settings()
    path = Path(predictions)
    if path.is_dir():
        path = path / PREDICTIONS
    opened = open_dataset(dataset) if isinstance(dataset, str) else dataset
    card = _run_card(path, opened)
    unknown: dict[str, Any] = {"name": path.stem, "version": "", "options": {}}
    linker = card.linker if card is not None else unknown
    described = {**linker, "name": _text(name or linker["name"])}
    target = Path(out) if out is not None else _default_out(described["name"], opened)
    # A run directory may be scored again in place; any other results are somebody's.
    own = path.name == PREDICTIONS and target.resolve() == path.parent.resolve()
    if (target / RESULTS).exists() and not own and not force:
        raise UsageError(f"{target / RESULTS} exists; give another --out, or --force to write over it")
    probes = [plugins.make_probe(probe) for probe in settings.probes or plugins.names(plugins.PROBES)]
    answers = _empty_answers(opened, settings).read(path)
    results = measure(answers, probes, linker=described, notes=card.notes if card is not None else ())
    make_directory(target)
    write_atomically(target / RESULTS, encode_json(results))
    return Finished(results, target)


def _run_card(path: Path, dataset: Dataset) -> RunCard | None:
    """What the run behind a predictions file says of itself, if the file belongs to one."""
    card_path = path.parent / RUN
    if path.name != PREDICTIONS or not card_path.exists():
        return None
    card = read_run_card(card_path)
    if card.dataset.get("digest") != dataset.digest:
        raise InputError(
            card_path,
            f"the run is over `{card.dataset.get('name')}` ({str(card.dataset.get('digest'))[:12]}...),"
            f" and the dataset given is `{dataset.name}` ({dataset.digest[:12]}...)",
            field="dataset",
        )
    return card


def _default_out(linker: str, dataset: Dataset) -> Path:
    """`runs/LINKER-DATASET`; a name with a slash in it must not lead elsewhere."""
    return Path("runs") / re.sub(r"[/\\\0]", "_", f"{linker}-{dataset.name}")


def _text(argument: str) -> str:
    """An argument of the command line as text that JSON can hold, whatever bytes a file's name is made of."""
    return argument.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _empty_answers(dataset: Dataset, settings: Settings) -> Answers:
    redirects = read_redirects(settings.redirects) if settings.redirects else None
    return Answers(
        dataset,
        redirects,
        gerbil_threshold=settings.gerbil_threshold,
        rounds=settings.rounds,
        seed=settings.seed,
    )
