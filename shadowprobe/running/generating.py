"""The task of a language model that makes sets: a question about each name, and the answer of each document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec import Struct, to_builtins

from shadowprobe.base.files import write_atomically
from shadowprobe.base.jsonl import encode_json, encode_lines
from shadowprobe.base.model import Failure
from shadowprobe.errors import UsageError
from shadowprobe.queries.ambigdocs_sets import FILE
from shadowprobe.queries.query import Query
from shadowprobe.running.directory import RUN, SCHEMA, Results, refuse_existing
from shadowprobe.running.job import FinishedJob, Job, Progress
from shadowprobe.running.probe_queries import read_own_lines
from shadowprobe.running.task import Batch, Task
from shadowprobe.sets.name_documents import GatheredNames
from shadowprobe.sets.question_drafts import (
    MadeSets,
    keep_shared,
    list_answer_prompts,
    list_question_prompts,
    make_sets,
)
from shadowprobe.sets.question_prompts import ANSWER, QUESTION
from shadowprobe.systems.calling import open_reader
from shadowprobe.systems.options import describe_system, option_values
from shadowprobe.systems.reader import Reader, can_write, check_texts

REPLIES, REJECTED = "replies.jsonl", "rejected.jsonl"
# Not those of a run: nothing is measured, and lists of runs must not show it.
CARD, FUNNEL = "generation.json", "funnel.json"


class WrittenReply(Struct, frozen=True):
    """What a language model wrote about a name, or about one document of it."""

    id: str
    reply: str


class GeneratingTask(Task):
    """A reader that has a language model, and documents about names."""

    kind = "reader"
    answers_file, over = REPLIES, "collection"
    card_file, results_file = CARD, FUNNEL
    unit = "prompts"

    def __init__(self, reader: Reader, gathered: GatheredNames) -> None:
        if not can_write(reader):
            raise UsageError(f"reader `{reader.name}` has no language model that writes questions: `chat` and `lm` do")
        self.reader = self._tested = reader
        self.names, self.name = gathered.names, gathered.collection["name"]
        self.asked = keep_shared(self.names)
        if not self.asked:
            raise UsageError(f"no two documents of `{self.name}` are about one name: give --dataset for its names")
        self.incidental = reader.incidental
        described = describe_system(reader.name, reader.version, option_values(reader))
        self.system = {**described, "prompts": {"question": QUESTION, "answer": ANSWER}}
        self.questions = {"collection": gathered.collection, "queries": gathered.described}
        self.locations, self.paths = {}, {}
        self.replies: dict[str, str] = {}
        self.total = self._count_prompts()

    def _count_prompts(self) -> int:
        """How many prompts there are, as far as is known; documents of a dropped question are not asked about."""
        unknown = sum(len(one.documents) for one in self.asked if one.name not in self.replies)
        return len(self.asked) + unknown + sum(1 for _ in list_answer_prompts(self.asked, self.replies))

    @property
    def waiting(self) -> int:
        """How many prompts have no reply."""
        ids = [one.name for one in self.asked]
        ids += [prompt.id for prompt in list_answer_prompts(self.asked, self.replies)]
        return self._count_prompts() - sum(one in self.replies for one in ids)

    def load(self, path: Path, *, resumed: bool = False) -> None:
        """Reads the stored replies; those about other names are of a run with another limit."""
        stored = read_own_lines(path, WrittenReply, None, torn=resumed)
        self.replies = {name: one.reply for name, one in stored.items()}
        self.total = self._count_prompts()

    def encode_answers(self, path: Path) -> bytes:
        """The replies that were loaded."""
        return encode_lines(WrittenReply(*pair) for pair in self.replies.items())

    def open_system(self) -> AbstractContextManager[None]:
        """Lets the reader prepare, and closes it at the end of the block."""
        return open_reader(self.reader)

    def ask(self) -> Iterator[Batch]:
        """Asks for the questions, and then for the answers to those that can be asked."""
        yield from self._ask(list_question_prompts(self.asked))
        yield from self._ask(list_answer_prompts(self.asked, self.replies))

    def _ask(self, prompts: Iterable[Query]) -> Iterator[Batch]:
        missing = [prompt for prompt in prompts if prompt.id not in self.replies]
        for batch in self.ask_in_batches(missing, self.reader.batch_size, self._write):
            self.replies |= {one.id: one.reply for one in batch.answers}
            yield batch

    def _write(self, prompts: Sequence[Query]) -> Iterator[WrittenReply | Failure]:
        texts = check_texts(self.reader, prompts, self.reader.write(prompts), "write")
        for prompt, text in zip(prompts, texts, strict=True):
            yield text if isinstance(text, Failure) else WrittenReply(prompt.id, text)

    def make(self) -> MadeSets:
        """The sets, what is rejected, and the counts, from the replies so far."""
        return make_sets(self.names, self.replies)

    def measure(self, notes: Iterable[str]) -> Results:
        """What was made, and what was left out at each stage."""
        made = self.make()
        return {
            "schema": SCHEMA,
            "reader": dict(self.system),
            **self.questions,
            "missing": self.waiting,
            "notes": list(notes),
            "sets": len(made.sets),
            "documents": sum(len(one.documents) for one in made.sets),
            "funnels": to_builtins(made.funnels),
        }


def generate_sets(
    task: GeneratingTask, out: Path, *, force: bool = False, progress: Progress | None = None
) -> FinishedJob:
    """Lets a language model write what is missing, and writes the sets and the rejected drafts beside its replies."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: is a file; generated sets go to a directory, with the replies of the model")
    if not force and not (out / CARD).exists():
        refuse_existing(out, (FILE, REJECTED, RUN))
    finished = Job(task, out, force=force).run(progress)
    made = task.make()
    write_atomically(out / FILE, encode_json(made.sets))
    write_atomically(out / REJECTED, encode_lines(made.rejected))
    return finished
