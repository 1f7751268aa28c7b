"""The task of a language model: answer questions about sets of documents on namesakes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec

from shadowprobe import plugins
from shadowprobe.base.files import file_digest
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.catalogue.datasets import builtin_directory
from shadowprobe.errors import InputError, PluginError, UsageError
from shadowprobe.measure.query_probes import AnswerProbe
from shadowprobe.measure.statistics import ROUNDS, SEED
from shadowprobe.queries.ambigdocs_sets import FILE, AmbigSet, read_ambigdocs
from shadowprobe.queries.document_order import ORDERS, DocumentOrder
from shadowprobe.queries.examples import Examples, HeldOut
from shadowprobe.queries.stored_answers import read_answers
from shadowprobe.running.directory import ANSWERS, RUN, SCHEMA, Results, RunCard, find_answers, read_stored_card
from shadowprobe.running.probe_queries import run_probes
from shadowprobe.running.task import Batch, Task
from shadowprobe.systems.chat_answerer import Answer, Asker

BUILTIN, BUILTIN_NAME = "builtin", "namesakes"


class AnsweringTask(Task):
    """A language model and sets of documents, with the probes that read its answers.

    Nobody is asked about the sets that are `held_out` for examples. `order` is that in which stored answers saw the
    documents, if their run does not say it.
    """

    kind = "model"
    answers_file, over = ANSWERS, "queries"
    unit = "sets"
    # A task of stored answers has none.
    asker: Asker

    def __init__(
        self,
        queries: str = BUILTIN,
        *,
        documents: int | None = None,
        limit: int | None = None,
        held_out: HeldOut | None = None,
        order: DocumentOrder | None = None,
        probes: Sequence[str] = (),
        rounds: int = ROUNDS,
        seed: int = SEED,
    ) -> None:
        if not queries:
            raise UsageError(f"--queries: is empty; give a file, or `{BUILTIN}`")
        self._limit, self.locations = limit, {"queries": queries}
        self.path = builtin_directory(BUILTIN_NAME) / FILE if queries == BUILTIN else Path(queries)
        self.paths = {"queries": self.path}
        self.name = BUILTIN_NAME if queries == BUILTIN else self.path.stem
        every_set = read_ambigdocs(self.path)
        # What a file of answers may hold; a limited job may well continue in the directory of a longer one.
        self.known = {one.id: one.question for one in every_set}
        every_set = _keep_first(every_set, documents)
        self.held, asked = held_out.split(every_set) if held_out is not None else ([], every_set)
        self.sets = asked[:limit]
        self._documents, self._order = documents, order
        self.total = len(self.sets)
        self.digest = file_digest(self.path)
        queries_card: dict[str, Any] = {"name": self.name, "digest": self.digest, "documents": documents}
        if held_out is not None:
            queries_card["held_out"] = msgspec.to_builtins(held_out)
        self.questions = {"queries": queries_card}
        chosen = [plugins.make_retrieval_probe(name, AnswerProbe) for name in probes]
        self.probes = chosen or plugins.make_retrieval_probes(AnswerProbe)
        if not self.probes:
            raise PluginError("no probe that is installed reads answers: install shadowprobe again")
        for probe in self.probes:
            probe.rounds, probe.seed = rounds, seed
        self._settings = {"bootstrap_rounds": rounds, "bootstrap_seed": seed}
        self.answers: dict[str, str] = {}

    def set_asker(self, asker: Asker) -> None:
        """Sets the language model that is asked."""
        self.asker = self._tested = asker
        self.system, self.incidental, self._order = asker.described, asker.incidental, asker.order

    def make_examples(self, shots: int, source: Path | None, seed: int) -> Examples:
        """Examples from a file, or from the sets that are held out; refuses too few."""
        if source is None:
            examples = Examples(self.held, shots, seed)
        else:
            sets = _keep_first(read_ambigdocs(source), self._documents)
            examples = Examples(sets, shots, seed, {"name": source.stem, "digest": file_digest(source)})
        examples.check(self.sets)
        return examples

    @property
    def waiting(self) -> int:
        """How many sets have no answer yet."""
        return sum(one.id not in self.answers for one in self.sets)

    @property
    def chosen(self) -> Mapping[str, Any]:
        """Whether there are examples, what is held out without any, and another order than the usual one."""
        options = self.system["options"]
        chosen = {name: options[name] for name in ("shots", "order") if name in options}
        held_out = self.questions["queries"].get("held_out")
        return chosen if "shots" in chosen or held_out is None else {"held-out": held_out["names"], **chosen}

    def read_card(self, answers: Path) -> RunCard | None:
        """The card of the run that answers belong to, which says in which order the documents were shown."""
        card = super().read_card(answers)
        if card is not None and (order := _read_order(card)) is not None:
            self._order = order
        return card

    def load(self, path: Path, *, resumed: bool = False) -> None:
        """Reads stored answers: ours, or AmbigDocs' items with `gen_answer`."""
        self.answers = read_answers(path, self.known, torn=resumed)

    def encode_answers(self, path: Path) -> bytes:
        """The answers that were loaded."""
        return encode_lines(Answer(*pair) for pair in self.answers.items())

    def open_system(self) -> AbstractContextManager[None]:
        """Reaches the language model."""
        return self.asker.connect()

    def ask(self) -> Iterator[Batch]:
        """Asks about every set that has no answer."""
        waiting = [one for one in self.sets if one.id not in self.answers]
        for replies in self.asker.ask(waiting):
            batch = Batch.divide(replies)
            self.answers |= {answer.id: answer.answer for answer in batch.answers}
            yield batch

    def measure(self, notes: Iterable[str]) -> Results:
        """What every probe finds in the answers."""
        for probe in self.probes:
            probe.order = self._order
        return {
            "schema": SCHEMA,
            "model": dict(self.system),
            "queries": {**self.questions["queries"], "sets": self.total, "limit": self._limit},
            "settings": self._settings,
            "missing": self.waiting,
            "notes": list(notes),
            "probes": run_probes(self.probes, self.sets, self.answers),
        }


def _keep_first(sets: Sequence[AmbigSet], documents: int | None) -> list[AmbigSet]:
    return [one if documents is None else one.first(documents) for one in sets]


def _read_order(card: RunCard) -> DocumentOrder | None:
    """In which order a run showed the documents; None for answers that were asked elsewhere."""
    options = card.system["options"]
    order, seed = options.get("order", ORDERS[0]), options.get("order_seed")
    return DocumentOrder(order, seed) if order in ORDERS and isinstance(seed, int) else None


def find_held_out(source: Path) -> HeldOut | None:
    """What the run of stored answers held out; None if it held out nothing, or if there is no run."""
    card = read_stored_card(source, ANSWERS)
    return read_held_out((card.queries or {}) if card is not None else {}, find_answers(source, ANSWERS).parent / RUN)


def read_held_out(queries: Mapping[str, Any], path: Path) -> HeldOut | None:
    """What was held out, as a file of a run says it in its entry on the queries."""
    try:
        return msgspec.convert(queries.get("held_out"), HeldOut | None)
    except msgspec.ValidationError as error:
        raise InputError(path, str(error), field="queries.held_out") from None
