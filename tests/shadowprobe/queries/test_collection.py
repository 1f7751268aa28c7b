"""Collections: files of documents in three forms, packed or plain, and what is refused of them."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from refusals import Damage, change, drop, ids, put, spoil, whole, write
from retrieval_world import DOCUMENTS, write_collection, write_documents

from shadowprobe import InputError, UsageError
from shadowprobe.queries.collection import digest_of, open_collection, read_documents
from shadowprobe.queries.query import Document

# Two articles of KILT's knowledge source, with the fields that are read and some that are not.
KILT = [
    {
        "_id": "307",
        "wikipedia_id": "307",
        "wikipedia_title": "Avon",
        "text": [
            "Avon\n",
            "The Avon is a river.\n",
            "Section::::Course.\n",
            "It rises at Naseby.\n",
            "BULLET::::- Evesham\n",
        ],
        "anchors": [{"text": "river", "href": "River", "paragraph_id": 1, "start": 12, "end": 17}],
        "categories": "Rivers of England",
        "wikidata_info": {"wikidata_id": "Q1", "wikidata_label": "Avon"},
        "history": {"revid": 1},
    },
    {"_id": "308", "wikipedia_id": "308", "wikipedia_title": "Berg", "text": ["Berg\n"], "categories": ""},
]
DPR = (
    "id\ttext\ttitle\n"
    '1\t"The ""Avon"" is a river."\tAvon\n'
    "2\tIt rises at Naseby.\tAvon\n"
    '3\tA song of 1977.\t"""Heroes"" (song)"\n'
)
READ_DPR = [
    Document("1", "Avon", 'The "Avon" is a river.', page="Avon"),
    Document("2", "Avon", "It rises at Naseby.", page="Avon"),
    Document("3", '"Heroes" (song)', "A song of 1977.", page='"Heroes" (song)'),
]
PACKERS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
packed = pytest.mark.parametrize("packing", PACKERS)


@packed
def test_our_own_lines_are_read_packed_or_plain(tmp_path: Path, packing: str) -> None:
    plain = write_documents(tmp_path / "plain").read_bytes()
    path = tmp_path / f"documents.jsonl{packing}"
    # With a blank line and a byte-order mark, as other tools leave them.
    path.write_bytes(PACKERS[packing](b"\xef\xbb\xbf" + plain + b"\n"))
    assert list(read_documents(path)) == list(DOCUMENTS)


@packed
def test_kilts_knowledge_source_is_read_packed_or_plain(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"kilt_knowledgesource.json{packing}"
    path.write_bytes(PACKERS[packing]("".join(f"{json.dumps(line)}\n" for line in KILT).encode()))
    assert list(read_documents(path)) == [
        Document("307", "Avon", "Avon The Avon is a river. Course. It rises at Naseby. Evesham", qid="Q1"),
        Document("308", "Berg", "Berg"),
    ]


@packed
def test_dprs_table_is_read_packed_or_plain(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"psgs_w100.tsv{packing}"
    path.write_bytes(PACKERS[packing](DPR.encode()))
    assert list(read_documents(path)) == READ_DPR


def test_a_table_may_have_the_line_ends_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "psgs_w100.tsv"
    path.write_bytes(DPR.replace("\n", "\r\n").encode())
    assert list(read_documents(path)) == READ_DPR


def test_a_quote_that_does_not_end_the_cell_is_a_quote(tmp_path: Path) -> None:
    path = tmp_path / "psgs_w100.tsv"
    path.write_text('id\ttext\ttitle\n1\t"Heroes" is a song\tBowie\n2\t"\tQuote\n')
    assert [document.text for document in read_documents(path)] == ['"Heroes" is a song', '"']


def test_the_words_of_a_document_do_not_decide_its_form(tmp_path: Path) -> None:
    path = write_documents(tmp_path / "d.jsonl", [Document("1", "KILT", 'Its field is "wikipedia_title".')])
    assert [document.title for document in read_documents(path)] == ["KILT"]


# Line 3 is the ship Avon, line 2 a passage of the river.
LINES = [
    (put(3, b'{"id": "avon-ship", '), 3, None, "not valid JSON"),
    (put(3, b"avon-ship\tA ship.\tAvon"), 3, None, "not valid JSON"),
    (put(3, b"[]"), 3, None, "Expected `object`, got `array`"),
    (write(3, "text", b'"\xff"'), 3, None, "is not UTF-8"),
    (drop(3, "id"), 3, "id", "missing"),
    (drop(3, "text"), 3, "text", "missing"),
    (drop(3, "title"), 3, "title", "missing"),
    (change(3, id=7), 3, "id", "Expected `str`, got `int`"),
    (change(3, id=""), 3, "id", "is empty"),
    (change(3, id="avon-river-2"), 3, "id", "'avon-river-2' stands twice"),
    (whole(b""), None, None, "holds no documents"),
    (whole(b"\n \n"), None, None, "holds no documents"),
    (whole(b"Avon is a river.\n"), 1, None, "is neither JSON lines nor a table with the columns id, text and title"),
    (whole(b"id\ttitle\ttext\n1\tAvon\tA river.\n"), 1, None, "a table with the columns id, text and title"),
]


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize(("damage", "line", "field", "words"), LINES, ids=ids(LINES))
def test_a_file_with_a_fault_is_refused(
    tmp_path: Path, damage: Damage, line: int | None, field: str | None, words: str, packing: str
) -> None:
    plain = write_documents(tmp_path / "plain")
    spoil(plain, damage)
    path = tmp_path / f"documents.jsonl{packing}"
    path.write_bytes(PACKERS[packing](plain.read_bytes()))
    with pytest.raises(InputError) as refused:
        list(read_documents(path))
    error = refused.value
    assert words in str(error)
    assert (error.path, error.line, error.field) == (path, line, field)


@pytest.mark.parametrize(
    ("row", "field", "words"),
    [
        (b"4\tonly two\n", None, "has 2 columns, not the three id, text and title"),
        (b"4\ta\tb\tc\n", None, "has 4 columns"),
        (b"4\t\xff\tAvon\n", None, "is not UTF-8 (byte 2"),
        (b"2\tAgain.\tAvon\n", "id", "'2' stands twice"),
        (b"\tNo id.\tAvon\n", "id", "is empty"),
    ],
)
def test_a_row_of_a_table_with_a_fault_is_refused(tmp_path: Path, row: bytes, field: str | None, words: str) -> None:
    path = tmp_path / "psgs_w100.tsv"
    path.write_bytes(DPR.encode() + row)
    with pytest.raises(InputError) as refused:
        list(read_documents(path))
    assert words in str(refused.value)
    assert (refused.value.line, refused.value.field) == (5, field)


def test_a_table_of_its_head_alone_holds_no_documents(tmp_path: Path) -> None:
    (tmp_path / "psgs.tsv").write_text("id\ttext\ttitle\n")
    with pytest.raises(InputError, match="holds no documents"):
        list(read_documents(tmp_path / "psgs.tsv"))


def test_a_line_of_kilt_without_a_field_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kilt.json").write_text('{"wikipedia_id": "1", "wikipedia_title": "Avon"}\n')
    with pytest.raises(InputError, match="`text`") as refused:
        list(read_documents(tmp_path / "kilt.json"))
    assert refused.value.line == 1


def test_a_compressed_file_that_is_truncated_or_invalid_is_refused(tmp_path: Path) -> None:
    whole_file = gzip.compress(b"".join(b'{"id": "%d", "title": "", "text": ""}\n' % n for n in range(5000)))
    (tmp_path / "cut.jsonl.gz").write_bytes(whole_file[:-2000])
    with pytest.raises(InputError, match="is cut off"):
        list(read_documents(tmp_path / "cut.jsonl.gz"))
    (tmp_path / "plain.jsonl.gz").write_text("{}")
    with pytest.raises(InputError, match="cannot be unpacked"):
        list(read_documents(tmp_path / "plain.jsonl.gz"))


def test_a_path_that_is_not_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(read_documents(tmp_path / "nowhere.jsonl"))
    with pytest.raises(InputError, match="is a directory, not a file"):
        list(read_documents(tmp_path))


def test_a_directory_with_documents_is_a_collection(tmp_path: Path) -> None:
    collection = write_collection(tmp_path / "some")
    assert collection.name == "little"
    assert list(collection.documents()) == list(DOCUMENTS)
    assert collection.described == {"name": "little", "digest": digest_of(tmp_path / "some" / "documents.jsonl")}


def test_a_directory_without_a_card_goes_by_its_own_name(tmp_path: Path) -> None:
    write_documents(tmp_path / "mine" / "documents.jsonl")
    assert open_collection(str(tmp_path / "mine")).name == "mine"


def test_a_file_of_documents_is_a_collection_without_queries(tmp_path: Path) -> None:
    collection = open_collection(str(write_documents(tmp_path / "mine.jsonl")))
    assert (collection.name, collection.directory) == ("mine", None)


def test_the_built_in_collection_goes_by_its_name() -> None:
    assert open_collection("namesakes").name == "namesakes"


@pytest.mark.parametrize("name", ["namesake", "", "nowhere/at/all"])
def test_an_unknown_collection_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="give a directory, a file of documents, or namesakes"):
        open_collection(name)


def test_a_directory_without_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a collection: it holds no documents\.jsonl"):
        open_collection(str(tmp_path))


def test_a_card_with_a_fault_is_refused(tmp_path: Path) -> None:
    write_collection(tmp_path / "some")
    (tmp_path / "some" / "collection.json").write_text('{"title": "no name"}')
    with pytest.raises(InputError, match="name"):
        open_collection(str(tmp_path / "some"))


def test_another_byte_or_another_name_of_a_file_is_another_digest(tmp_path: Path) -> None:
    def digest(name: str, content: str) -> str:
        folder = tmp_path / name.replace("/", "-") / content
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(content)
        return digest_of(folder)

    found = [digest("a/x.json", "1"), digest("a/x.json", "2"), digest("b/x.json", "1"), digest("a/y.json", "1")]
    assert len(set(found)) == 4
