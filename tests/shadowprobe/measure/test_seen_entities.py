"""The list of entities that were seen in training: titles, and QIDs by their documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from retrieval_world import write_documents

from shadowprobe import InputError
from shadowprobe.measure.seen_entities import SeenEntities
from shadowprobe.queries.collection import Collection, open_collection
from shadowprobe.queries.query import Document


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    documents = [Document("1", "Avon (river)", "a river", qid="Q12"), Document("2", "Elbe", "a river", qid="Q13")]
    return open_collection(str(write_documents(tmp_path / "documents.jsonl", documents)))


def test_titles_and_qids_mark_entities(collection: Collection, tmp_path: Path) -> None:
    (tmp_path / "seen.txt").write_text("Q12\n\n  lake_Como \nQ99\nlake_Como\n")
    seen = SeenEntities(tmp_path / "seen.txt", collection)
    assert "Avon (river)" in seen
    assert "Lake Como" in seen
    assert "Elbe" not in seen
    assert (seen.listed, seen.unknown_qids) == (3, 1)
    assert seen.note() == "--seen: 1 of the 3 entities are QIDs that no document has"


def test_an_empty_list_is_refused(collection: Collection, tmp_path: Path) -> None:
    (tmp_path / "seen.txt").write_text("\n \n")
    with pytest.raises(InputError, match="lists no entity: give a title or a QID on each line"):
        SeenEntities(tmp_path / "seen.txt", collection)
