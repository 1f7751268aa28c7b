"""AmbER sets as the release has them: its layout, its fields, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from refusals import Damage, change, drop, ids, put, spoil, whole, write
from retrieval_world import SETS, amber_set, entity, query, write_sets

from shadowprobe import InputError
from shadowprobe.queries.amber_sets import AmberQuery, AmberSet, group_by_name, read_amber_sets

# A set with every field that the release documents; fact checking has a word for its answer, not a list.
RELEASED = """
{"name": "Avon", "qids": {
  "Q1": {"is_head": true, "popularity": 5.19, "wikipedia": [{"wikipedia_id": "307", "title": "Avon"},
                                                              {"wikipedia_id": "308", "title": "Avon's course"}],
         "queries": [{"id": "69=f1", "input": "Avon rises at Naseby.",
                      "output": {"answer": "SUPPORTS", "provenance": [{"wikipedia_id": "307", "title": "Avon"}],
                                 "meta": {"values": ["Naseby"], "additional_values": []}},
                      "meta": {"pid": "P885"}}]},
  "Q2": {"is_head": false, "popularity": 1.77, "wikipedia": [{"wikipedia_id": "17", "title": "Avon (ship)"}],
         "queries": []}}}
""".replace("\n", " ")


def test_a_set_of_the_release_is_read_field_by_field(tmp_path: Path) -> None:
    (tmp_path / "amber_sets.jsonl").write_text(f"{RELEASED}\n")
    (found,) = read_amber_sets(tmp_path / "amber_sets.jsonl")["", ""]
    head, tail = found.qids["Q1"], found.qids["Q2"]
    assert found.name == "Avon"
    assert (head.is_head, head.popularity, tail.is_head) == (True, 5.19, False)
    assert head.documents == {"307", "308"}
    (asked,) = head.queries
    assert (asked.id, asked.input, asked.output.answer) == ("69=f1", "Avon rises at Naseby.", "SUPPORTS")
    assert asked.gold == {"307"}
    assert asked.meta == {"pid": "P885"}
    assert tail.documents == {"17"}
    assert [qid for qid, _ in found.queries()] == ["Q1"]


def numbered(text: str) -> dict[str, Any]:
    return amber_set("Avon", entity([query(text, "Avon?", "1")], head=True))


def test_the_folders_of_the_release_are_parts_in_the_order_of_the_paper(tmp_path: Path) -> None:
    for collection in ("nonhuman", "human"):
        for task in ("qa", "sf", "fc"):
            write_sets(tmp_path / collection / task / "amber_sets.jsonl", [numbered(f"{collection} {task}")])
        # What else lies in the folders of the release is none of our business.
        (tmp_path / collection / "amber_set_tuples.jsonl").write_text("{}")
    parts = read_amber_sets(tmp_path)
    order = [(collection, task) for collection in ("human", "nonhuman") for task in ("fc", "sf", "qa")]
    assert list(parts) == order
    assert [asked.id for _, asked in parts["nonhuman", "sf"][0].queries()] == ["nonhuman sf"]


def test_a_part_of_the_release_knows_which_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sets(tmp_path / "human" / "qa" / "amber_sets.jsonl")
    monkeypatch.chdir(tmp_path / "human" / "qa")
    for path in (Path(), Path("amber_sets.jsonl"), Path("../qa"), tmp_path / "human"):
        assert list(read_amber_sets(path)) == [("human", "qa")]


def test_a_file_that_is_a_link_belongs_to_the_folder_that_it_stands_in(tmp_path: Path) -> None:
    stored = write_sets(tmp_path / "store" / "4f0a")
    link = tmp_path / "data" / "human" / "qa" / "amber_sets.jsonl"
    link.parent.mkdir(parents=True)
    link.symlink_to(stored)
    assert list(read_amber_sets(tmp_path / "data")) == [("human", "qa")]


def test_a_file_elsewhere_is_of_no_part(tmp_path: Path) -> None:
    assert list(read_amber_sets(write_sets(tmp_path / "mine.jsonl"))) == [("", "")]


def test_a_blank_line_and_a_byte_order_mark_are_passed_over(tmp_path: Path) -> None:
    path = write_sets(tmp_path / "mine.jsonl")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\n")
    assert len(read_amber_sets(path)["", ""]) == len(SETS)


def of_qid(qid: str, **fields: object) -> Damage:
    """Gives fields of an entity on the second line, Berg, other values."""

    def damage(content: bytes) -> bytes:
        lines = content.splitlines()
        found = json.loads(lines[1])
        found["qids"][qid] |= fields
        lines[1] = json.dumps(found).encode()
        return b"\n".join(lines) + b"\n"

    return damage


def asked(**fields: object) -> Damage:
    """Gives fields of the query b2, which is of the tail of Berg, other values."""
    return of_qid("Q2", queries=[query("b2", "Who sings Berg?", "berg-song") | fields])


# Line 2 is the set of Berg: Q1 the river, its query b1; Q2 the song, its query b2. The ids of line 1 are a1, a2, a3.
BROKEN = [
    (put(2, b'{"name": "Berg", '), 2, None, "not valid JSON"),
    (write(2, "name", b'"\xff"'), 2, None, "is not UTF-8"),
    (drop(2, "name"), 2, "name", "missing"),
    (change(2, name=" "), 2, "name", "is empty"),
    (drop(2, "qids"), 2, "qids", "missing"),
    (change(2, qids={}), 2, "qids", "no entity is the head"),
    (of_qid("Q1", is_head=False), 2, "qids", "no entity is the head"),
    (of_qid("Q1", is_head="yes"), 2, "qids[...].is_head", "Expected `bool`, got `str`"),
    (of_qid("Q1", popularity="4"), 2, "qids[...].popularity", "Expected `float | null`, got `str`"),
    (change(2, qids={"Q1": {"is_head": True, "queries": []}}), 2, "qids", "no entity has a query"),
    (asked(id="b1"), 2, "qids.Q2.queries", "the id 'b1' stands twice"),
    (asked(id="a3"), 2, "qids.Q2.queries", "the id 'a3' stands twice"),
    (asked(id=""), 2, "qids.Q2.queries", "'' has an empty id or input"),
    (asked(input=" "), 2, "qids.Q2.queries", "'b2' has an empty id or input"),
    (asked(output={"answer": ["x"]}), 2, "qids.Q2.queries", "'b2' has no gold document in its provenance"),
    (asked(output={"provenance": [{"title": "Berg"}]}), 2, "qids[...].queries[0].output.provenance[0]", "wikipedia_id"),
    (asked(input=None), 2, "qids[...].queries[0].input", "Expected `str`, got `null`"),
    (whole(b""), None, None, "holds no sets"),
    (whole(b"\n\n"), None, None, "holds no sets"),
]


@pytest.mark.parametrize(("damage", "line", "field", "words"), BROKEN, ids=ids(BROKEN))
def test_a_file_with_a_fault_is_refused(
    tmp_path: Path, damage: Damage, line: int | None, field: str | None, words: str
) -> None:
    path = write_sets(tmp_path / "amber_sets.jsonl")
    spoil(path, damage)
    with pytest.raises(InputError) as refused:
        read_amber_sets(path)
    error = refused.value
    assert words in str(error)
    assert (error.path, error.line, error.field) == (path, line, field)


def test_an_id_may_not_stand_in_two_files(tmp_path: Path) -> None:
    write_sets(tmp_path / "human" / "fc" / "amber_sets.jsonl")
    write_sets(tmp_path / "human" / "qa" / "amber_sets.jsonl")
    with pytest.raises(InputError, match="the id 'a1' stands twice") as refused:
        read_amber_sets(tmp_path)
    assert refused.value.path == tmp_path / "human" / "qa" / "amber_sets.jsonl"


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        read_amber_sets(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no amber_sets"):
        read_amber_sets(tmp_path)


def make_set(name: str, *entities: tuple[bool, float | None, str]) -> AmberSet:
    """A set of entities, each with whether it is the head, its popularity and its document."""
    qids = {
        f"Q{page}": {"is_head": is_head, "popularity": popularity, "wikipedia": [{"wikipedia_id": page}], "queries": []}
        for is_head, popularity, page in entities
    }
    return msgspec.convert({"name": name, "qids": qids}, AmberSet)


def test_the_entities_of_a_name_are_in_the_order_of_their_popularity_or_the_head_is_first() -> None:
    parts = {
        ("human", "qa"): [make_set("Avon", (False, 2.5, "2"), (True, 3.5, "3"))],
        # A thing of the same name is more popular than the person, and one document is known already.
        ("nonhuman", "qa"): [
            make_set("Avon", (True, 4.5, "4"), (False, 3.5, "3")),
            make_set("Berg", (False, 9.5, "5"), (True, None, "6")),
        ],
    }
    assert group_by_name(parts) == {
        "Avon": [frozenset("4"), frozenset("3"), frozenset("2")],
        "Berg": [frozenset("6"), frozenset("5")],
    }


@pytest.mark.parametrize(("answer", "answers"), [("SUPPORTS", ("SUPPORTS",)), (["a", "b"], ("a", "b"))])
def test_a_query_has_one_answer_or_several(answer: Any, answers: tuple[str, ...]) -> None:
    asked = {"id": "1", "input": "?", "output": {"answer": answer, "provenance": [{"wikipedia_id": "1"}]}}
    assert msgspec.convert(asked, AmberQuery).answers == answers
