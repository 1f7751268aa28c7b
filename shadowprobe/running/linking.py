"""The task of a linker: link the snippets of a dataset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from shadowprobe import formats, plugins
from shadowprobe.base.identity import read_redirects
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.base.model import Failure, Snippet
from shadowprobe.base.prediction_file import is_table, read_predictions
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.dataset.index import Repeats
from shadowprobe.errors import LinkerError, PluginError
from shadowprobe.measure.answer_columns import MISSING
from shadowprobe.measure.answers import NO_GOLD, Answers
from shadowprobe.measure.probe import Probe, VariantProbe
from shadowprobe.measure.statistics import ROUNDS, SEED
from shadowprobe.measure.variants import Varied
from shadowprobe.running.directory import EXTRA, PREDICTIONS, SCHEMA, Results, RunCard
from shadowprobe.running.naming import choose_options
from shadowprobe.running.task import Batch, Task
from shadowprobe.running.variant_dataset import Variants
from shadowprobe.systems.calling import check_given, close_system, link_in_parts, open_linker
from shadowprobe.systems.linker import Given, Linker, without_gold
from shadowprobe.systems.options import describe_system, list_incidental, option_values
from shadowprobe.systems.replies import REPLIES

if TYPE_CHECKING:
    from shadowprobe.compute.executor import Executor


class Settings(Struct, frozen=True):
    """How predictions are measured."""

    # Only these probes; or all but those that need new predictions, and of these the ones named in `also`. `+` before
    # a name adds the probe to the others.
    probes: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    redirects: Path | None = None
    gerbil_threshold: bool = False
    rounds: int = ROUNDS
    seed: int = SEED
    gerbil_nil: bool = False


class LinkingTask(Task):
    """A linker and the snippets of a dataset."""

    kind = "linker"
    answers_file, over = PREDICTIONS, "dataset"
    unit = "snippets"
    _tested: Linker | None

    def __init__(
        self,
        dataset: Dataset,
        linker: Linker | None = None,
        *,
        options: Mapping[str, str] | None = None,
        settings: Settings | None = None,
        location: str | None = None,
        batch_size: int | None = None,
        keep_replies: bool = False,
        format_name: str | None = None,
        executor: Executor | None = None,
        named: str = "",
    ) -> None:
        self.dataset, self.settings = dataset, settings or Settings()
        self._executor, self._named = executor, named
        self.name, self.total = dataset.name, len(dataset.index)
        self.questions = {"dataset": {"name": dataset.name, "digest": dataset.digest}}
        self.locations = {"dataset": location or str(dataset.path)}
        self.paths = {"dataset": dataset.path}
        self._tested, self._keep_replies, self._format = linker, keep_replies, format_name
        self._format_notes: list[str] = []
        self._stale_replies: Path | None = None
        self._probes: list[Probe] = []
        self._probe_notes: list[str] = []
        self.variants: list[Variants] = []
        self._varied: dict[str, Mapping[str, Varied]] = {}
        redirects = read_redirects(self.settings.redirects) if self.settings.redirects else None
        self.answers = Answers(
            dataset,
            redirects,
            gerbil_threshold=self.settings.gerbil_threshold,
            gerbil_nil=self.settings.gerbil_nil,
            rounds=self.settings.rounds,
            seed=self.settings.seed,
        )
        if linker is not None:
            self.incidental = list_incidental(linker)
            name = linker.name or type(linker).__name__
            self.system = describe_system(name, linker.version, option_values(linker, options))
            self._given, self._options = tuple(options or ()), tuple((options or {}).items())
            self.batch_size = batch_size or linker.batch_size

    @property
    def linker(self) -> Linker:
        """The linker; a task of stored predictions has none."""
        if self._tested is None:
            raise LinkerError("there is no linker to ask: the predictions are stored ones")
        return self._tested

    @property
    def chosen(self) -> Mapping[str, Any]:
        """Options that were given, and differ from their defaults."""
        return choose_options(type(self.linker), self.system["options"], self._given, self.incidental)

    @property
    def waiting(self) -> int:
        """How many snippets have no prediction yet."""
        return int(np.count_nonzero(self.answers.entity == MISSING))

    @property
    def notes(self) -> list[str]:
        """What the linker has said about this run, or what was noticed while its predictions were converted."""
        return self._tested.notes if self._tested is not None else self._format_notes

    @property
    def status(self) -> str:
        """How often a service was asked again."""
        return self.linker.status

    def prepare(self, run: Path | None, *, force: bool = False) -> None:
        """Chooses the probes: one that needs new predictions where it is named, or where the run has them already."""
        if run is not None:
            self._source = run / PREDICTIONS
            if self._keep_replies:
                # It is a web linker, or was refused before.
                vars(self.linker)["keep_replies"] = run / REPLIES
                self._stale_replies = run / REPLIES if force else None
        # `+NAME` adds a probe to the others.
        added = [name.removeprefix("+") for name in self.settings.probes if name.startswith("+")]
        only = [name for name in self.settings.probes if not name.startswith("+")]
        chosen = {*only, *added, *self.settings.also}
        names = only or [name for name in plugins.names(plugins.PROBES) if name not in chosen]
        for name in dict.fromkeys((*names, *added, *self.settings.also)):
            is_chosen = name in chosen
            try:
                probe = plugins.make_probe(name)
            except PluginError as error:
                if is_chosen:
                    raise
                # Of all probes, one that cannot be loaded costs a note and not the run.
                self._probe_notes.append(f"the probe `{name}` was left out: {error}")
                continue
            if not isinstance(probe, VariantProbe):
                self._probes.append(probe)
            elif run is not None and (is_chosen or ((run / EXTRA).exists() and not force)):
                variants = Variants(probe, self.dataset, run)
                if is_chosen or variants.are_linked():
                    self._probes.append(probe)
                    self.variants.append(variants)
            elif is_chosen:
                self._probes.append(probe)

    def find_answers(self, source: Path) -> Path:
        """The predictions of a run directory, or the file itself; foreign formats may have directories."""
        return super().find_answers(source) if self._format is None else source

    def read_card(self, answers: Path) -> RunCard | None:
        """The card of the run that predictions belong to; those in a foreign format belong to none."""
        return super().read_card(answers) if self._format is None else None

    def load(self, path: Path, *, resumed: bool = False) -> None:
        """Reads stored predictions; a limited dataset ignores those of the rest."""
        self._source = path
        if self._format is not None:
            gerbil_nil = self.settings.gerbil_nil
            converted = formats.read_predictions(self._format, path, self.dataset, gerbil_nil=gerbil_nil)
            self._format_notes = list(converted.notes())
            self._converted = list(converted.predictions.values())
            self.answers.fill(self._converted)
        else:
            lines = None if resumed else read_predictions(path)
            self.answers.read(path, partial=self.dataset.limit is not None, torn=resumed, lines=lines)

    def encode_answers(self, path: Path) -> bytes:
        """The predictions as they were, or converted from a table or a foreign format."""
        if self._format is not None:
            return encode_lines(self._converted)
        return encode_lines(p for _, p in read_predictions(path)) if is_table(path) else path.read_bytes()

    def load_further(self) -> None:
        """Reads the answers to the variants that an earlier run has linked."""
        for variants in self.variants:
            if variants.are_linked():
                self._read_variants(variants)

    def further_tasks(self) -> Iterator[tuple[Path, Task]]:
        """The variants of the probes, to be linked by the same linker."""
        for variants in self.variants:
            dataset = variants.write()
            if dataset is not None:
                yield variants.out, self._make_variants_task(dataset)
            self._read_variants(variants)

    def _make_variants_task(self, dataset: Dataset) -> Task:
        return _VariantsTask(
            dataset,
            self.linker,
            options=dict(self._options),
            settings=self.settings,
            batch_size=self.batch_size,
            executor=self._executor,
            named=self._named,
        )

    def _read_variants(self, variants: Variants) -> None:
        self._varied[variants.probe.name] = variants.read(self.answers, self._source)

    def measure(self, notes: Iterable[str]) -> Results:
        """What the probes find in the answers."""
        notes = [*notes, *self._probe_notes]
        if self.answers.gerbil_nil:
            nil = int(np.count_nonzero(self.answers.has_gold & (self.answers.gold == NO_GOLD)))
            notes.append(f"counted with --gerbil-nil: NIL is right for {nil} mentions without an entity")
        return measure_answers(self.answers, self._probes, linker=self.system, notes=notes, varied=self._varied)

    @contextmanager
    def open_system(self) -> Iterator[None]:
        """Starts the linker, and closes it at the end of the block; workers start their own."""
        if self._executor is not None:
            yield
            return
        open_linker(self.linker, self.dataset.knowledge)
        if self._stale_replies is not None:
            # Replies of an earlier run would pass for this one's. The linker has the file open by now.
            os.truncate(self._stale_replies, 0)
        try:
            yield
        finally:
            close_system(self.linker)

    def ask(self) -> Iterator[Batch]:
        """Links every snippet that has no prediction; one that repeats another gets its answer."""
        ids = list(self.answers.row)
        waiting = self.answers.entity == MISSING
        repeats = self.dataset.index.find_repeats(waiting, with_gold=self.linker.sees_gold)
        for predictions in self._link(self._first_snippets(repeats)):
            answers, failures, failed = [], [], 0
            for snippet_id, given in predictions.items():
                same = repeats.rows_of(self.answers.row[snippet_id])
                if isinstance(given, Failure):
                    failed += 1
                    failures += [Failure(ids[row], given.error) for row in same]
                else:
                    answers.append((self.answers.add(given, same), same))
            lines = (replace(answer, id=ids[row]) for answer, same in answers for row in same)
            yield Batch(lines, failures, len(predictions), failed)

    def _first_snippets(self, repeats: Repeats) -> Iterator[Snippet]:
        """The snippets to link: of those with the same question, the first."""
        for row, snippet in enumerate(self.dataset.snippets()):
            if repeats.is_first(row):
                yield snippet if self.linker.sees_gold else without_gold(snippet)

    def _link(self, snippets: Iterator[Snippet]) -> Iterator[dict[str, Given]]:
        """What the linker gives for snippets, checked, by snippet and some at a time."""
        if self._executor is not None:
            from shadowprobe.running.linker_workers import LinkerSource, link_on_workers

            place, limit = self.dataset.path.absolute(), self.dataset.limit
            source = LinkerSource(self._named, self._options, place, self.dataset.digest, limit)
            yield from link_on_workers(self._executor, source, self.linker, snippets, self.batch_size)
        elif self.linker.streams:
            for answers in self.linker.link_each(snippets):
                yield {answer.id: check_given(answer) for answer in answers}
        else:
            while batch := list(islice(snippets, self.batch_size)):
                yield from link_in_parts(self.linker, batch)


def measure_answers(
    answers: Answers,
    probes: Iterable[Probe],
    *,
    linker: dict[str, Any],
    notes: Iterable[str] = (),
    varied: Mapping[str, Mapping[str, Varied]] | None = None,
) -> Results:
    """The results of a linker: asks every probe. No time and no path, so that equal runs give equal results.

    `varied` has the answers to variants, by the name of the probe that needs them.
    """
    dataset = answers.dataset
    results: Results = {
        "schema": SCHEMA,
        "linker": linker,
        "dataset": {
            "name": dataset.name,
            "version": dataset.card.version,
            "digest": dataset.digest,
            "spaces": len(dataset.spaces) if dataset.limit is None else min(dataset.limit, len(dataset.spaces)),
            "snippets": len(answers),
            "limit": dataset.limit,
        },
        "settings": {
            "bootstrap_rounds": answers.rounds,
            "bootstrap_seed": answers.seed,
            "gerbil_threshold": answers.gerbil_threshold,
            "gerbil_nil": answers.gerbil_nil,
            "redirects": answers.redirects_digest,
        },
        "missing": int(np.count_nonzero(answers.entity == MISSING)),
        "identity": {**answers.rules, "page_id_conflicts": answers.page_id_conflicts},
        "notes": list(notes),
        "probes": {},
    }
    for probe in probes:
        place = results if probe.top_level else results["probes"]
        if probe.name in place:
            raise PluginError(
                f"probe `{probe.name}`: results.json has that name already, from another probe or its own"
            )
        variants = (varied or {}).get(probe.name)
        if isinstance(probe, VariantProbe) and variants is not None:
            ask = partial(probe.compare, answers, variants)
        else:
            ask = partial(probe.measure, answers)
        place[probe.name] = plugins.run_probe(probe.name, ask)
    return results


class _VariantsTask(LinkingTask):
    """The variants of a probe: linked here, and measured by the task of the run that they belong to."""

    def prepare(self, run: Path | None, *, force: bool = False) -> None:
        """Nothing is measured here, so no probe is needed."""
