"""Draws outputs of a language model about namesakes, for annotators who say what kind of answer each is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal, get_args

from msgspec import Struct

from shadowprobe.errors import UsageError
from shadowprobe.human_study.sample import SCHEMA, FormQuestion, Sample, ShownDocument, hash_questions
from shadowprobe.queries.ambigdocs_sets import AmbigSet
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.item_measures import AMBIGDOCS
from shadowprobe.running.kinds import NOUNS
from shadowprobe.running.questions import open_sets_of, read_answers_of

SIZE = 100
Category = Literal["complete", "partial", "no_answer", "ambiguous", "merged"]
CATEGORIES: tuple[Category, ...] = get_args(Category)


class AmbigdocsItem(Struct, frozen=True):
    """An output, what it was asked, and the kind of answer that the probe `ambigdocs` takes it for."""

    item: int
    id: str
    question: str
    documents: tuple[ShownDocument, ...]
    output: str
    automatic: Category


class AmbigdocsKey(Struct, frozen=True):
    """The content of `sample.json`: needed to score answers, and not shown to annotators."""

    sample: str
    name: str
    queries: str
    digest: str
    # The label of the language model.
    system: str
    seed: int
    items: tuple[AmbigdocsItem, ...]
    study: Literal["ambigdocs"] = "ambigdocs"
    schema: int = SCHEMA
    choices: ClassVar[int] = len(CATEGORIES)

    def text_of(self, item: int, choice: int) -> str | None:
        """Nothing is marked in this study."""
        return None

    def find_problems(self) -> Iterator[tuple[str, str]]:
        """The types of the fields are all that can be wrong."""
        yield from ()


def draw_ambigdocs_sample(
    run: FinishedRun, queries: Path | None = None, n: int | None = None, seed: int = 7, name: str | None = None
) -> Sample[AmbigdocsKey]:
    """Draws outputs at random from all that a run has, so that rare kinds of answers are as rare as in the run."""
    outputs = list(_list_outputs(run, queries))
    if not outputs:
        raise UsageError(f"{run.path} has no answer of a language model")
    if n is not None and n > len(outputs):
        raise UsageError(f"--n {n}: {run.path} has {len(outputs)} answers")
    random.Random(seed).shuffle(outputs)
    drawn = outputs[: SIZE if n is None else n]
    items = tuple(_make_item(number, *output) for number, output in enumerate(drawn, start=1))
    questions = tuple(_make_question(item) for item in items)
    sample, asked = hash_questions(questions), run.data["name"]
    key = AmbigdocsKey(sample, name or asked, asked, run.data["digest"], run.label, seed, items)
    # A file of questions does not say its language.
    return Sample(questions, key, "")


def _list_outputs(run: FinishedRun, queries: Path | None) -> Iterator[tuple[AmbigSet, str, Category]]:
    """Every set that has an answer, with the answer and its kind by the probe."""
    if run.kind != "model":
        raise UsageError(
            f"--run {run.path}: is a run of a {NOUNS[run.kind]}; `shadowprobe answer` makes those of this study"
        )
    task = open_sets_of(run, AMBIGDOCS, queries)
    answers = read_answers_of(run, task)
    (probe,) = task.probes
    for one, row in zip(task.sets, probe.rows(task.sets, answers), strict=True):
        if one.id in answers:
            yield one, answers[one.id], row["category"]


def _make_item(number: int, asked: AmbigSet, output: str, automatic: Category) -> AmbigdocsItem:
    documents = tuple(ShownDocument(one.title, one.text, tuple(one.answers)) for one in asked.documents)
    return AmbigdocsItem(number, asked.id, asked.question, documents, output, automatic)


def _make_question(item: AmbigdocsItem) -> FormQuestion:
    return FormQuestion(item.item, item.question, "", "", (), item.documents, item.output)
