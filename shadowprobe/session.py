"""One whole job: link and measure, or measure stored predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

import shadowprobe
from shadowprobe import formats, plugins
from shadowprobe.answers import Answers
from shadowprobe.catalogue import open_dataset
from shadowprobe.dataset import Dataset, directory_name, make_directory
from shadowprobe.errors import InputError, PluginError, UsageError
from shadowprobe.identity import read_redirects
from shadowprobe.jsonl import as_read_back, encode_json, encode_lines, file_digest, read_lines, write_atomically
from shadowprobe.linker import Linker
from shadowprobe.masking import public_options
from shadowprobe.model import Prediction
from shadowprobe.probe import Probe, VariantProbe
from shadowprobe.replies import read_replies
from shadowprobe.results import Results, measure
from shadowprobe.run_directory import PREDICTIONS, REPLIES, RESULTS, RUN, RunCard, locked, read_run_card
from shadowprobe.runner import Outcome, Progress, Runner
from shadowprobe.statistics import ROUNDS, SEED
from shadowprobe.variants import Variants, Varied


class Settings(Struct, frozen=True):
    """How predictions are measured."""

    # Only these probes; or all but those that need new predictions, and of these the ones named in `also`.
    probes: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
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
    ) -> None:
        self.settings = settings or Settings()
        options = dict(options or {})
        _refuse_impossible(linker, options, batch_size, limit)
        self.linker = plugins.make_linker(linker, options) if isinstance(linker, str) else plugins.adopt(linker)
        # As the user named it, so that later commands find the dataset again.
        self.location = _text(location or str(dataset.path if isinstance(dataset, Dataset) else dataset))
        opened = _open(dataset)
        self.dataset = opened.first(limit) if limit is not None else opened
        self.answers = _empty_answers(self.dataset, self.settings)
        name = self.linker.name or type(self.linker).__name__
        if keep_replies or from_replies is not None:
            self._set_replies(options, keep=keep_replies, source=from_replies)
        values = plugins.option_values(self.linker, options)
        self.described = {
            "name": name,
            "version": self.linker.version,
            "options": public_options(as_read_back(values)),
        }
        if files := {option: file_digest(value) for option, value in values.items() if _is_file(value)}:
            # A file that has changed makes another linker of it, whose answers are not the old one's.
            self.described["files"] = files
        self.out = Path(out) if out is not None else _default_out(name, self.dataset)
        self.probes, self.notes = _probes(
            self.settings, lambda probe: not force and Variants(probe, self.dataset, self.out).are_linked()
        )
        if keep_replies:
            # It is a web linker, or was refused above.
            vars(self.linker)["keep_replies"] = self.out / REPLIES
        self.runner = Runner(
            self.linker,
            self.dataset,
            self.out,
            card=self._card(opened, self.location),
            batch_size=batch_size,
            resolver=self.answers.resolver,
            rows=self.answers.row,
            force=force,
        )
        self.variants = [Variants(p, self.dataset, self.out) for p in self.probes if isinstance(p, VariantProbe)]

    def _card(self, dataset: Dataset, location: str) -> RunCard:
        return RunCard(
            linker=self.described,
            dataset={"name": dataset.name, "digest": dataset.digest, "location": location},
            shadowprobe=shadowprobe.__version__,
        )

    @property
    def total(self) -> int:
        """How many snippets there are to link, the variants for probes included."""
        return self.dataset.count() + sum(sum(variants.cost.values()) for variants in self.variants)

    def _set_replies(self, options: dict[str, str], *, keep: bool, source: Path | None) -> None:
        from shadowprobe.web import WebLinker

        option = "--keep-replies" if keep else "--from-replies"
        if not isinstance(self.linker, WebLinker):
            raise UsageError(f"{option}: `{self.linker.name}` is no web service, and there are no replies")
        if source is None:
            return
        if keep:
            raise UsageError("--keep-replies: with --from-replies nothing is asked, and no reply comes")
        reply = next(iter(read_replies(source).values()))
        if reply.linker != self.linker.name:
            raise UsageError(f"--from-replies: {source} has replies to `{reply.linker}`, not to `{self.linker.name}`")
        # Who said it is part of what was said, and not the address that a new run would ask.
        self.linker.from_replies, self.linker.url = source, reply.url
        options["url"] = reply.url

    def run(self, progress: Progress | None = None) -> Finished:
        """Links, measures, writes results.json."""
        outcome = self.runner.run(progress)
        answers = self.answers.read(self.out / PREDICTIONS, partial=self.dataset.limit is not None)
        results = self._measured(answers, {})
        varied = {}
        for variants in self.variants:
            # What is known by now is written before anything more can go wrong.
            write_atomically(self.out / RESULTS, encode_json(results))
            outcome += self._link(variants, progress)
            varied[variants.probe.name] = variants.read(answers, self.out / PREDICTIONS)
            results = self._measured(answers, varied)
        write_atomically(self.out / RESULTS, encode_json(results))
        return Finished(results, self.out, outcome)

    def _measured(self, answers: Answers, varied: Mapping[str, Mapping[str, Varied]]) -> Results:
        notes = [*self.runner.card.notes, *self.notes]
        return measure(answers, self.probes, linker=self.described, notes=notes, varied=varied)

    def _link(self, variants: Variants, progress: Progress | None) -> Outcome:
        """Has the variants of a probe answered by the same linker, with the same resume."""
        dataset = variants.write()
        if dataset is None:
            return Outcome()
        runner = Runner(
            self.linker,
            dataset,
            variants.out,
            card=self._card(dataset, str(dataset.path)),
            batch_size=self.runner.batch_size,
            resolver=self.answers.resolver,
            force=self.runner.force,
        )
        return runner.run(progress)


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
    format are set on the dataset's mentions first, and stand in our own form beside the results.
    """
    return score_file(
        predictions,
        dataset,
        format_name=format_name,
        limit=limit,
        name=name,
        out=out,
        settings=settings,
        force=force,
    ).results


def score_file(
    predictions: Path | str,
    dataset: str | Path | Dataset | None = None,
    *,
    format_name: str | None = None,
    limit: int | None = None,
    name: str | None = None,
    out: Path | str | None = None,
    settings: Settings | None = None,
    force: bool = False,
) -> Finished:
    """The same, and where the results were written."""
    settings = settings or Settings()
    path = Path(predictions)
    if path.is_dir() and format_name is None:
        path = path / PREDICTIONS
    if limit is not None and limit < 1:
        raise UsageError(f"limit is {limit}, and must be at least 1")
    whole = _open(dataset_of(path) if dataset is None else dataset)
    card = _run_card(path, whole) if format_name is None else None
    opened = whole.first(limit) if limit is not None else whole
    unknown: dict[str, Any] = {"name": path.stem, "version": "", "options": {}}
    linker = card.linker if card is not None else unknown
    described = {**linker, "name": _text(name or linker["name"])}
    target = Path(out) if out is not None else _default_out(described["name"], opened)
    # A run directory may be scored again in place; any other results are somebody's.
    own = path.name == PREDICTIONS and target.resolve() == path.parent.resolve()
    others = [name for name in (RESULTS, RUN, PREDICTIONS) if (target / name).exists()]
    if others and not own and not force:
        raise UsageError(f"{target / others[0]} exists; give another --out, or --force to write over it")
    # Those of a run belong to its own predictions, and not to another file that lies beside them.
    probes, notes = _probes(
        settings, lambda probe: card is not None and Variants(probe, opened, path.parent).are_linked()
    )
    answers = _empty_answers(opened, settings)
    if format_name is not None:
        taken = formats.read_predictions(format_name, path, opened)
        make_directory(target)
        with locked(target):
            # A card that is left would say that its run had given these answers.
            (target / RUN).unlink(missing_ok=True)
            write_atomically(target / PREDICTIONS, encode_lines(taken.predictions.values()))
        path, notes = target / PREDICTIONS, [*notes, *taken.notes()]
        own = True
    answers.read(path, partial=limit is not None)
    notes = [*(card.notes if card is not None else ()), *notes]
    stored = [Variants(probe, opened, path.parent) for probe in probes if isinstance(probe, VariantProbe)]
    varied = {
        variants.probe.name: variants.read(answers, path)
        for variants in stored
        if card is not None and variants.are_linked()
    }
    results = measure(answers, probes, linker=described, notes=notes, varied=varied)
    make_directory(target)
    if not own:
        # A card that is left would say that its run had given these answers.
        (target / RUN).unlink(missing_ok=True)
        # Beside their results, so that figures, reports and comparisons find them.
        write_atomically(target / PREDICTIONS, path.read_bytes())
    write_atomically(target / RESULTS, encode_json(results))
    return Finished(results, target)


def stored_predictions(predictions: Path, dataset: Dataset) -> dict[str, Prediction]:
    """The predictions of a file or a run for a dataset, by snippet."""
    path = predictions / PREDICTIONS if predictions.is_dir() else predictions
    _run_card(path, dataset)
    # Reading them as scoring does refuses what cannot be.
    _empty_answers(dataset, Settings()).read(path, partial=dataset.limit is not None)
    return {prediction.id: prediction for _, prediction in read_lines(path, Prediction)}


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


def dataset_of(predictions: Path) -> str:
    """Where the dataset of a stored run was, as its user named it; `mini` for a file that belongs to no run."""
    path = predictions / PREDICTIONS if predictions.is_dir() else predictions
    card_path = path.parent / RUN
    if path.name != PREDICTIONS or not card_path.exists():
        return "mini"
    return str(read_run_card(card_path).dataset.get("location") or "mini")


def _is_file(value: Any) -> bool:
    return isinstance(value, Path) and value.is_file()


def _open(dataset: str | Path | Dataset) -> Dataset:
    return dataset if isinstance(dataset, Dataset) else open_dataset(str(dataset))


def _probes(settings: Settings, are_linked: Callable[[VariantProbe], bool]) -> tuple[list[Probe], list[str]]:
    """The probes asked for, or all; of all, one that cannot be loaded costs a note and not the run.

    One that needs new predictions is asked where it is named, or where the run has them already.
    """
    if settings.probes:
        return [plugins.make_probe(name) for name in dict.fromkeys((*settings.probes, *settings.also))], []
    probes, notes = [], []
    for name in plugins.names(plugins.PROBES):
        if name in settings.also:
            continue
        try:
            probe = plugins.make_probe(name)
        except PluginError as error:
            notes.append(f"the probe `{name}` was left out: {error}")
            continue
        if not isinstance(probe, VariantProbe) or are_linked(probe):
            probes.append(probe)
    probes += [plugins.make_probe(name) for name in dict.fromkeys(settings.also)]
    return probes, notes


def _refuse_impossible(linker: Any, options: Mapping[str, str], batch_size: int | None, limit: int | None) -> None:
    for name, value in (("batch_size", batch_size), ("limit", limit)):
        if value is not None and value < 1:
            raise UsageError(f"{name} is {value}, and must be at least 1")
    if isinstance(linker, type):
        raise UsageError(f"{linker.__name__} is a class: give an instance, {linker.__name__}()")
    if options and not isinstance(linker, str):
        raise UsageError("options go with a linker by name; an instance has its own")


def _default_out(linker: str, dataset: Dataset) -> Path:
    """`runs/LINKER-DATASET`."""
    return Path("runs") / directory_name(f"{linker}-{dataset.name}")


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
