"""The task of a language model: answer questions about sets of documents on namesakes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from shadowprobe import plugins
from shadowprobe.base.files import file_digest
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.base.model import Failure
from shadowprobe.catalogue.datasets import builtin_directory
from shadowprobe.errors import LinkerError, PluginError, UsageError
from shadowprobe.measure.query_probes import AnswerProbe
from shadowprobe.measure.statistics import ROUNDS, SEED
from shadowprobe.queries.ambigdocs_sets import FILE, read_ambigdocs
from shadowprobe.queries.stored_answers import read_answers
from shadowprobe.running.directory import ANSWERS, SCHEMA, Results
from shadowprobe.running.task import Batch, Task
from shadowprobe.systems.chat_answerer import Answer, Asker

BUILTIN, BUILTIN_NAME = "builtin", "namesakes"


class AnsweringTask(Task):
    """A language model and sets of documents, with the probes that read its answers."""

    kind = "model"
    answers_file, over = ANSWERS, "queries"
    unit = "sets"

    def __init__(
        self,
        queries: str = BUILTIN,
        *,
        documents: int | None = None,
        limit: int | None = None,
        probes: Sequence[str] = (),
        rounds: int = ROUNDS,
        seed: int = SEED,
    ) -> None:
        if not queries:
            raise UsageError(f"--queries: is empty; give a file, or `{BUILTIN}`")
        self._limit, self.locations = limit, {"queries": queries}
        self._asker: Asker | None = None
        self.path = builtin_directory(BUILTIN_NAME) / FILE if queries == BUILTIN else Path(queries)
        self.paths = {"queries": self.path}
        self.name = BUILTIN_NAME if queries == BUILTIN else self.path.stem
        every_set = read_ambigdocs(self.path)
        # What a file of answers may hold; a limited job may well continue in the directory of a longer one.
        self.known = {one.id: one.question for one in every_set}
        self.sets = [one if documents is None else one.first(documents) for one in every_set[:limit]]
        self.total = len(self.sets)
        self.digest = file_digest(self.path)
        self.questions = {"queries": {"name": self.name, "digest": self.digest, "documents": documents}}
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
        self._asker, self.system, self.incidental = asker, asker.described, asker.incidental

    @property
    def asker(self) -> Asker:
        """The language model; a task of stored answers has none."""
        if self._asker is None:
            raise LinkerError("there is no language model to ask: the answers are stored ones")
        return self._asker

    @property
    def waiting(self) -> int:
        """How many sets have no answer yet."""
        return sum(one.id not in self.answers for one in self.sets)

    @property
    def notes(self) -> list[str]:
        """What the language model has said about this run."""
        return self._asker.notes if self._asker is not None else []

    @property
    def status(self) -> str:
        """How often the language model was asked again."""
        return self.asker.status

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
            answers = [reply for reply in replies if isinstance(reply, Answer)]
            failures = [reply for reply in replies if isinstance(reply, Failure)]
            self.answers |= {answer.id: answer.answer for answer in answers}
            yield Batch(answers, failures, len(replies), len(failures))

    def measure(self, notes: Iterable[str]) -> Results:
        """What every probe finds in the answers."""
        findings = {
            probe.name: plugins.run_probe(probe.name, partial(probe.measure, self.sets, self.answers))
            for probe in self.probes
        }
        return {
            "schema": SCHEMA,
            "model": dict(self.system),
            "queries": {**self.questions["queries"], "sets": self.total, "limit": self._limit},
            "settings": self._settings,
            "missing": self.waiting,
            "notes": list(notes),
            "probes": findings,
        }
