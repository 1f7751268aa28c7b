"""What the tiny models of GENRE's tests are taught, and how they are asked.

A test file makes the fixtures its own by giving them a name in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from asking import answers_of
from tiny_bart import save_tiny_bart
from world import NAMES, shadow, top

from shadowprobe import Entity, EntitySpace, Failure, Knowledge, Prediction, Snippet
from shadowprobe.plugins import make_linker

# One is the beginning of three others, one says the same five times, one is longer than the others together.
MERCURY = {
    "Mercury": "The singer [Mercury] bowed.",
    "Mercury (planet)": "Craters cover [Mercury] all over.",
    "Mercury Mercury Mercury Mercury Mercury": "They sang [Mercury] in a round.",
    "Mercury, or the secret and swift messenger, shewing how a man may with privacy and speed communicate his thoughts"
    " to a friend at any distance": "The treatise [Mercury] was printed in 1641.",
    "Merkur (Grüße 🎬)": "In German, [Mercury] is a film.",
}
TWICE = {
    "Anglers like [Avon] a lot. The crew of Avon lost both masts.": top("Avon"),
    "Anglers like Avon a lot. The crew of [Avon] lost both masts.": shadow("Avon"),
}
ODD = {
    "Grüße aus Zürich: anglers say that [Avon] runs clear.": top("Avon"),
    "🎬𝐀 👩‍👩‍👧: the crew of [Avon] cut down both masts.": shadow("Avon"),
}
UNKNOWN = "Nobody has ever met [Zork] here."
EXAMPLES = [
    *((f"Anglers say that [{name}] runs clear above the mill.", top(name)) for name in NAMES),
    *((f"The crew of [{name}] cut down both masts in the gale.", shadow(name)) for name in NAMES),
    ("The novel [Ourika] sold out in a week.", "Ourika"),
    *((text, title) for title, text in MERCURY.items()),
    *TWICE.items(),
    *ODD.items(),
    (UNKNOWN, "NIL"),
]

# Files share what takes seconds to learn.
_saved: dict[int, Path] = {}


@contextmanager
def one_thread() -> Iterator[None]:
    """Leaves the other cores to others."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@pytest.fixture(scope="module", autouse=True)
def quietly() -> Iterator[None]:
    """One thread, and no way to the hub."""
    with one_thread(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


def _model(factory: pytest.TempPathFactory, steps: int) -> Path:
    if steps not in _saved:
        with one_thread():
            _saved[steps] = save_tiny_bart(factory.mktemp("genre"), EXAMPLES, steps=steps)
    return _saved[steps]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learnt the examples by heart."""
    return _model(tmp_path_factory, 100)


@pytest.fixture(scope="session")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows nothing, for which no title is very likely or unlikely."""
    return _model(tmp_path_factory, 0)


@pytest.fixture
def mercury() -> Knowledge:
    """The entities of the examples that share a name."""
    entities = {title: Entity(title) for title in MERCURY}
    return Knowledge(entities, [EntitySpace("Mercury", tuple(entities))])


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A file of all titles of the examples."""
    path = tmp_path / "titles.txt"
    path.write_text("\n".join(title for _, title in EXAMPLES), encoding="utf-8")
    return path


def ask(model: Path, knowledge: Knowledge, *snippets: Snippet, **options: object) -> list[Prediction | Failure]:
    """The answers to a few snippets, in their order; the longest title of the examples is allowed."""
    given = {key: str(value) for key, value in {"max_tokens": 100, **options}.items()}
    return answers_of(make_linker("genre", {"model": str(model), **given}), knowledge, *snippets)


def titles(found: Prediction | Failure) -> list[str | None]:
    """The candidates of an answer."""
    assert isinstance(found, Prediction), found
    return [candidate.answer for candidate in found.candidates]
