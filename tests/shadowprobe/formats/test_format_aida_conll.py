"""AIDA-CoNLL's tokens, on small files in the shape of the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe import formats
from shadowprobe.base.model import Entity, Snippet
from shadowprobe.errors import InputError, UsageError
from shadowprobe.formats import aida_conll
from shadowprobe.formats.documents import AnnotatedDocument, Mention

WIKIPEDIA = "http://en.wikipedia.org/wiki"
# Two documents: one of two sentences, one that ends inside a mention.
FILE = f"""-DOCSTART- (1 TEA)
Ree\tB\tRee\tLough_Ree\t{WIKIPEDIA}/Lough_Ree\t77\t/m/01
and
Caf\u00e9\tB\tCaf\u00e9 de Paris\tCaf\\u00e9_de_Paris\t{WIKIPEDIA}/Caf%C3%A9_de_Paris\t78\t/m/02
de\tI\tCaf\u00e9 de Paris\tCaf\\u00e9_de_Paris\t{WIKIPEDIA}/Caf%C3%A9_de_Paris\t78\t/m/02
Paris\tI\tCaf\u00e9 de Paris\tCaf\\u00e9_de_Paris\t{WIKIPEDIA}/Caf%C3%A9_de_Paris\t78\t/m/02
Ree\tB\tRee\t--NME--
.

Again
.

-DOCSTART- (2 (testb) \U0001f600)

Ree\tB\tRee\tLough_Ree\t{WIKIPEDIA}/Lough_Ree\t000
"""


def write(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "aida.tsv"
    path.write_text(content, encoding="utf-8", newline="")
    return path


def test_tokens_are_joined_by_spaces_and_sentences_by_newlines(tmp_path: Path) -> None:
    # Worked out by hand: Ree 0-3, and 4-7, Café de Paris 8-21, Ree 22-25.
    assert list(aida_conll.read_documents(write(tmp_path, FILE))) == [
        AnnotatedDocument(
            "1 TEA",
            "Ree and Café de Paris Ree .\nAgain .",
            (
                Mention(0, 3, "Lough Ree", 77, language="en"),
                Mention(8, 21, "Café de Paris", 78, language="en"),
                Mention(22, 25),
            ),
        ),
        AnnotatedDocument("2 (testb) \U0001f600", "Ree", (Mention(0, 3, "Lough Ree", language="en"),)),
    ]


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    plain = list(aida_conll.read_documents(write(tmp_path, FILE)))
    assert list(aida_conll.read_documents(write(tmp_path, "\ufeff" + FILE.replace("\n", "\r\n")))) == plain


def test_nme_is_no_gold_but_an_answer_of_nil(tmp_path: Path) -> None:
    path = write(tmp_path, FILE)
    assert next(aida_conll.read_documents(path)).mentions[2] == Mention(22, 25)
    assert next(aida_conll.read_documents(path, predicted=True)).mentions[2] == Mention(22, 25, nil=True)


def test_the_import_takes_each_mention_as_a_snippet(tmp_path: Path) -> None:
    imported = formats.read("aida-conll", [write(tmp_path, FILE)])
    text = "Ree and Café de Paris Ree .\nAgain ."
    assert imported.snippets["all"][:3] == [
        Snippet("1 TEA#0", "all", text, 0, 3, gold="Lough Ree", document="1 TEA"),
        Snippet("1 TEA#1", "all", text, 8, 21, gold="Café de Paris", document="1 TEA"),
        Snippet("1 TEA#2", "all", text, 22, 25, document="1 TEA"),
    ]
    assert imported.entities == [Entity("Lough Ree", 77), Entity("Café de Paris", 78)]
    assert imported.card.title == "AIDA-CoNLL: aida"


def test_a_mention_ends_with_its_sentence_and_may_begin_with_an_i(tmp_path: Path) -> None:
    content = "-DOCSTART- (d)\nNew\tB\tNew York\tNew_York\n\nYork\tI\tYork\tYork\nYork\tI\tYork\tYork\nout\tO\n"
    (document,) = aida_conll.read_documents(write(tmp_path, content))
    assert document == AnnotatedDocument("d", "New\nYork York out", (Mention(0, 3, "New York"), Mention(4, 13, "York")))


def test_a_second_half_of_no_entity_belongs_to_the_first(tmp_path: Path) -> None:
    half = "-\tB\t-\tnull\n"
    content = f"-DOCSTART- (d)\n{half}Aix\tB\tAix\tAix-les-Bains\n{half}out\n"
    (document,) = aida_conll.read_documents(write(tmp_path, content))
    assert document == AnnotatedDocument("d", "- Aix - out", (Mention(2, 7, "Aix-les-Bains"),))


def test_a_url_speaks_where_there_is_no_yago_name_and_a_document_may_lack_its_name(tmp_path: Path) -> None:
    content = f"-DOCSTART-\nRee\tB\tRee\t\t{WIKIPEDIA}/Lough_Ree\t\nRee\tB\tRee\t\n"
    (document,) = aida_conll.read_documents(write(tmp_path, content))
    assert document == AnnotatedDocument(
        "line-1", "Ree Ree", (Mention(0, 3, "Lough Ree", language="en"), Mention(4, 7))
    )


@pytest.mark.parametrize(
    ("line", "field", "problem"),
    [
        ("Ree\tX\tRee\tRee", "B/I", "expected B or I, got 'X'"),
        ("Ree\tB", None, "expected 4 to 7 columns in a mention, got 2"),
        ("Ree\tB\tRee", None, "expected 4 to 7 columns in a mention, got 3"),
        ("\tB\tRee\tRee", "token", "is empty"),
        ("Ree\tB\tRee\tRee\t\tseven", "page id", "expected a number of at most 18 digits, got 'seven'"),
        (f"Ree\tB\tRee\tRee\t\t{10**18}", "page id", f"expected a number of at most 18 digits, got '{10**18}'"),
        ("Ree\tB\tRee\tRee\t\t7\t\thigh", "score", "expected a number, got 'high'"),
    ],
)
def test_a_line_of_another_shape_is_refused_by_line_and_field(
    tmp_path: Path, line: str, field: str | None, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        list(aida_conll.read_documents(write(tmp_path, f"-DOCSTART- (d)\n{line}\n")))
    assert (caught.value.line, caught.value.field, caught.value.problem) == (2, field, problem)


def test_a_token_before_the_first_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"aida\.tsv:2: expected -DOCSTART- \(ID\) before the first token"):
        list(aida_conll.read_documents(write(tmp_path, "\nRee\n")))


def test_a_text_is_cut_at_white_space_and_at_the_edges_of_its_mentions() -> None:
    text = "On Ree,\n“Café\tX”."
    document = AnnotatedDocument("d", text, (Mention(3, 6, "Lough Ree", 77), Mention(9, 15, "Café X")))
    assert "".join(aida_conll.encode_documents([document])) == (
        "-DOCSTART- (d)\nOn\n"
        "Ree\tB\tRee\tLough_Ree\thttps://en.wikipedia.org/wiki/Lough_Ree\t77\n"
        ",\n\n“\n"
        "Café\tB\tCafé X\tCaf\\u00e9_X\thttps://en.wikipedia.org/wiki/Caf%C3%A9_X\t000\n"
        "X\tI\tCafé X\tCaf\\u00e9_X\thttps://en.wikipedia.org/wiki/Caf%C3%A9_X\t000\n"
        "”.\n\n"
    )


def test_an_entity_without_a_title_has_the_address_of_its_item_or_page() -> None:
    mentions = (Mention(0, 3, qid="Q7"), Mention(4, 7, page_id=77))
    written = "".join(aida_conll.encode_documents([AnnotatedDocument("d", "Ree Ree", mentions)]))
    urls = [line.split("\t")[4] for line in written.splitlines() if "\t" in line]
    assert urls == ["http://www.wikidata.org/entity/Q7", "https://en.wikipedia.org/?curid=77"]


def test_a_mention_without_an_answer_is_not_marked_and_one_without_gold_is() -> None:
    document = AnnotatedDocument("a\tb", "Ree", (Mention(0, 3),))
    assert "".join(aida_conll.encode_documents([document])) == "-DOCSTART- (a b)\nRee\tB\tRee\t--NME--\n\n"
    assert "".join(aida_conll.encode_documents([document], predicted=True)) == "-DOCSTART- (a b)\nRee\n\n"
    nil = AnnotatedDocument("d", "Ree", (Mention(0, 3, nil=True),))
    assert "".join(aida_conll.encode_documents([nil], predicted=True)) == "-DOCSTART- (d)\nRee\tB\tRee\t--NME--\n\n"


def test_a_score_is_an_eighth_column(tmp_path: Path) -> None:
    linked = Mention(0, 3, "Lough Ree", 77, score=0.5, language="en")
    document = AnnotatedDocument("d", "Ree Ree", (linked, Mention(4, 7, score=1, nil=True)))
    written = "".join(aida_conll.encode_documents([document], predicted=True))
    assert [line.split("\t")[7:] for line in written.splitlines() if "\t" in line] == [["0.5"], ["1.0"]]
    assert list(aida_conll.read_documents(write(tmp_path, written), predicted=True)) == [document]


def test_mentions_that_overlap_are_refused_and_one_that_stands_twice_is_written_once() -> None:
    ree = Mention(0, 3, "Lough Ree")
    assert "".join(aida_conll.encode_documents([AnnotatedDocument("d", "Ree X", (ree, ree))])).count("\tB\t") == 1
    with pytest.raises(UsageError, match="d: 'Ree X' overlaps another mention"):
        list(aida_conll.encode_documents([AnnotatedDocument("d", "Ree X", (ree, Mention(0, 5, "Ree X")))]))
