"""Fixtures that the tests of figures share; each imports what it needs, so that other tests do not wait for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from figure_runs import Stored

    from shadowprobe import Dataset, Prediction, Settings


@pytest.fixture
def stored(world: Dataset, tmp_path: Path) -> Stored:
    """Writes predictions as a finished run over the hand-made dataset, or over another."""
    from figure_runs import store_run

    def store(
        name: str, predictions: Iterable[Prediction], dataset: Dataset = world, settings: Settings | None = None
    ) -> Path:
        return store_run(tmp_path / "runs" / name, predictions, dataset, settings)

    return store


@pytest.fixture
def hand(stored: Stored) -> Path:
    """The hand-made answers as a finished run."""
    from world import hand_predictions

    return stored("hand", hand_predictions())


@pytest.fixture
def readers(stored: Stored, hand: Path) -> list[Path]:
    """The hand-made answers, and a linker that is always right and takes the river for its prior."""
    from world import NAMES, linked, shadow, top

    right = [linked(f"t{name}", top(name), 2.0) for name in NAMES]
    right += [linked(f"s{name}", shadow(name), 4.0) for name in NAMES]
    right += [linked(f"n{name}{column}", top(name), 1.0) for name in NAMES for column in (1, 2, 3)]
    return [hand, stored("right", [*right, linked("tail1", "Ourika", 3.0)])]


@pytest.fixture
def uneven(world: Dataset, tmp_path: Path) -> Dataset:
    """The hand-made dataset with gaps of 50/40, 50/10, 50/5 and 100/0."""
    from figure_runs import with_commonness
    from world import shadow, top

    told = {"Avon": (50, 40), "Berg": (50, 10), "Como": (50, 5), "Dale": (100, 0)}
    commonness = {top(name): common for name, (common, _) in told.items()}
    commonness |= {shadow(name): rare for name, (_, rare) in told.items()}
    return with_commonness(world, tmp_path / "uneven", lambda title: commonness.get(title, 2))


@pytest.fixture
def little(tmp_path: Path) -> Path:
    """The small collection, whose questions say how frequent their subjects are."""
    from retrieval_world import QUESTIONS, write_collection, write_questions

    frequencies = {"P19": (5, 5, 1000), "P20": (30_000,)}
    directory = tmp_path / "little"
    write_collection(directory)
    told = {
        relation: [{**one, "frequency": many} for one, many in zip(questions, frequencies[relation], strict=True)]
        for relation, questions in QUESTIONS.items()
    }
    write_questions(directory / "entity_questions", told)
    return directory


@pytest.fixture
def confused(little: Path, tmp_path: Path) -> Path:
    """The retriever of the small world, which prefers the head."""
    from measured_runs import write_retrieval
    from retrieval_world import ANSWERED, FOUND

    return write_retrieval(tmp_path / "runs" / "confused", little, {**FOUND, **ANSWERED})


@pytest.fixture
def both(little: Path, confused: Path, tmp_path: Path) -> list[Path]:
    """It, and one that finds the tail too but was asked no question."""
    from measured_runs import READ, write_retrieval

    return [confused, write_retrieval(tmp_path / "runs" / "reader", little, READ, probes=["amber"])]


@pytest.fixture
def models(tmp_path: Path) -> list[Path]:
    """A model whose answers are partial, merged and complete, and one that says nothing."""
    from measured_runs import SAID, write_answers, write_questions_about_namesakes
    from namesake_sets import AVON

    from shadowprobe.queries.document_order import DocumentOrder

    queries = write_questions_about_namesakes(tmp_path)
    runs = tmp_path / "runs"
    return [
        write_answers(runs / "talker", queries, SAID, DocumentOrder("given")),
        write_answers(runs / "mute", queries, {AVON.id: "I do not know."}),
    ]
