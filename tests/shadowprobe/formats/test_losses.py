"""What an export does not keep, counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe import Card, Dataset, Entity, EntitySpace, Snippet, write_dataset
from shadowprobe.base.model import Subset
from shadowprobe.formats.losses import find_losses

RIVER, SHIP = "Avon (river)", "Avon (ship)"
FIELDS = frozenset({"space", "template", "page_id", "qid"})


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Two Top mentions of one document, one of them in other letters; a Shadow with a source; two neutral contexts."""
    top = [
        Snippet("d#0", "top", "AVON, Avon", 0, 4, space="Avon", gold=RIVER, document="d"),
        Snippet("mine", "top", "AVON, Avon", 6, 10, space="Avon", gold=RIVER, document="d"),
    ]
    shadow = [Snippet("s", "shadow", "Avon", 0, 4, space="Avon", gold=SHIP, source="http://127.0.0.1/")]
    neutral = [
        Snippet(f"n{number}", "neutral", f"Avon {number}", 0, 4, space="Avon", template=number) for number in (0, 1)
    ]
    entities = [Entity(RIVER, 7, kind="river"), Entity(SHIP, qid="Q2", redirects=("Old Avon",))]
    snippets: dict[Subset, list[Snippet]] = {"top": top, "shadow": shadow, "neutral": neutral}
    return write_dataset(tmp_path / "avon", Card(name="avon"), entities, [EntitySpace("Avon", (RIVER, SHIP))], snippets)


NAMES = "the names of 1 mentions, which differ from the marked words"
TEMPLATES = "the template numbers of 2 neutral contexts"
IDS = "the ids of 1 mentions: they become those of their documents"
SOURCES = "the sources of 1 texts"


@pytest.mark.parametrize(
    ("subsets", "lost", "expected"),
    [
        (
            ["top", "shadow", "neutral"],
            FIELDS,
            [NAMES, TEMPLATES, IDS, SOURCES, "of the entities: page ids, QIDs, kinds, redirects"],
        ),
        # What the format has a place for is not lost.
        (["top", "shadow", "neutral"], frozenset(), [IDS, SOURCES, "of the entities: kinds, redirects"]),
        (
            ["top"],
            frozenset({"qid"}),
            [IDS, "1 entities of the names, which are the gold of no mention", "of the entities: kinds"],
        ),
        (
            ["shadow", "neutral"],
            frozenset({"template", "qid"}),
            [
                TEMPLATES,
                SOURCES,
                "the subset of shadow and neutral: without `top` an import puts them into `all`",
                "of the entities: QIDs, redirects",
            ],
        ),
    ],
)
def test_everything_that_does_not_come_back_is_counted(
    dataset: Dataset, subsets: list[Subset], lost: frozenset[str], expected: list[str]
) -> None:
    assert list(find_losses(dataset, subsets, lost)) == expected
