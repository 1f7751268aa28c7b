"""Answers in foreign formats are assigned to the mentions at the same place, and to no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe import Card, Dataset, Entity, Snippet, write_dataset
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.base.model import Candidate
from shadowprobe.errors import InputError
from shadowprobe.formats import read_predictions
from shadowprobe.formats.documents import AnnotatedDocument, Mention, import_documents
from shadowprobe.formats.imported import Imported
from shadowprobe.formats.places import find_difference
from shadowprobe.formats.predictions import MatchedPredictions, match_predictions

#       0     6
TEXT = "Visit\nBAGHDAD now."
BAGHDAD = (6, 13)
IGNORED = "answers with white space at the edges of their span, ignored because the two texts differ there: 1"
ELSEWHERE = "answers on spans that are no mention of the dataset: 1"


def make_dataset(path: Path, text: str = TEXT, span: tuple[int, int] = BAGHDAD) -> Dataset:
    document = AnnotatedDocument("d", text, (Mention(*span, "Baghdad"),))
    return import_documents(Imported(Card(name="x")), [(path, document)], several_files=False).write(path)


def answer(dataset: Dataset, span: tuple[int, int], text: str = TEXT, name: str = "d") -> MatchedPredictions:
    document = AnnotatedDocument(name, text, (Mention(*span, "Baghdad"),))
    return match_predictions(Path("answers.x"), [(Path("answers.x"), document)], dataset)


@pytest.mark.parametrize("span", [(5, 13), (6, 14), (5, 14)])
def test_white_space_at_the_edges_of_a_span_counts_if_the_texts_are_the_same(
    span: tuple[int, int], tmp_path: Path
) -> None:
    dataset = make_dataset(tmp_path / "data")
    assert answer(dataset, BAGHDAD).predictions["d"].answer == "Baghdad"
    wrong = answer(dataset, span)
    assert wrong.predictions["d"].status == "skipped"
    assert list(wrong.notes()) == [ELSEWHERE]


@pytest.mark.parametrize(
    ("text", "span", "notes"),
    [
        # The line break is a space here, so that the white space before the name is not the dataset's.
        ("Visit BAGHDAD now.", (6, 13), []),
        ("Visit BAGHDAD now.", (5, 13), [IGNORED]),
        ("Visit  BAGHDAD now.", (6, 14), [IGNORED]),
        # The texts differ before the name and not after it.
        ("Visit BAGHDAD now.", (6, 14), [ELSEWHERE]),
        # They differ somewhere else.
        ("Visit\nBAGHDAD  now.", (5, 13), [ELSEWHERE]),
        ("Visit\nBAGHDAD  now.", (6, 14), [IGNORED]),
    ],
)
def test_white_space_is_ignored_only_where_the_texts_differ_in_it_and_that_is_reported(
    text: str, span: tuple[int, int], notes: list[str], tmp_path: Path
) -> None:
    found = answer(make_dataset(tmp_path / "data"), span, text)
    assert list(found.notes()) == notes
    assert found.predictions["d"].status == ("skipped" if notes == [ELSEWHERE] else "linked")


def test_a_span_that_the_import_trimmed_may_be_answered_as_the_file_has_it(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "data", span=(5, 14))
    assert [snippet.mention for snippet in dataset.snippets()] == ["BAGHDAD"]
    # Both the trimmed span and the original one, with the text and without it, but no third.
    for span, text in (((5, 14), TEXT), (BAGHDAD, TEXT), ((5, 14), ""), (BAGHDAD, "")):
        assert answer(dataset, span, text).predictions["d"].status == "linked"
        assert list(answer(dataset, span, text).notes()) == []
    assert answer(dataset, (5, 13)).predictions["d"].status == "skipped"


def test_repairs_in_another_form_are_ignored(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "data", span=(5, 14))
    card = Card(name="x", repairs={"items": [{"why": "white space in the span", "where": 7}]})
    copy = write_dataset(tmp_path / "copy", card, dataset.entities.values(), [], {"all": list(dataset.snippets())})
    assert answer(copy, BAGHDAD).predictions["d"].status == "linked"
    assert answer(copy, (5, 14)).predictions["d"].status == "skipped"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Visit\nBASRA now.", "differs from the dataset's at character 8: 'SRA now.' against 'GHDAD now.'"),
        ("Visit BAGHDAD", "differs from the dataset's at character 13: '' against 'now.'"),
        (
            "Visit\n******* now.",
            "at character 6: '******* now.' against 'BAGHDAD now.'. The file's text is masked with `*`: make it from"
            " the full text",
        ),
    ],
)
def test_answers_to_another_text_of_a_known_document_say_where_it_differs(
    text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as raised:
        answer(make_dataset(tmp_path / "data"), BAGHDAD, text)
    assert str(raised.value).startswith("answers.x: none of its 1 documents is in the dataset `x`: the text of 'd' ")
    assert str(raised.value).endswith(message)


def test_a_benchmark_with_masked_texts_is_named_as_the_reason(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "data", "Visit BAGHDAD ***.")
    line = {"id": 0, "document": "d", "text": "Visit BAGHDAD now.", "entity_mentions": [{"span": [6, 13], "id": "Q1"}]}
    (tmp_path / "answers.jsonl").write_bytes(encode_lines([line]))
    with pytest.raises(InputError) as raised:
        read_predictions("elevant", tmp_path / "answers.jsonl", dataset)
    assert str(raised.value).endswith(
        "the text of 'd' differs from the dataset's at character 14: 'now.' against '***.'. The dataset's text is"
        " masked with `*`: import the full text"
    )


def test_one_document_with_another_text_is_counted_beside_those_that_fit(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "data")
    texts = {"d": TEXT.replace("now", "not"), "e": TEXT, "f": "Something else."}
    documents = [(Path("a"), AnnotatedDocument(name, text)) for name, text in texts.items()]
    assert list(match_predictions(Path("a"), documents, dataset).notes()) == [
        "documents with another text than the dataset has under the same id: 1",
        "documents of which the dataset has no mention: 1",
    ]


def test_a_document_without_a_known_id_or_text_is_in_another_dataset(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the ids and texts must be the dataset's"):
        answer(make_dataset(tmp_path / "data"), BAGHDAD, "Visit BASRA", name="e")


def test_a_masked_dataset_is_named_even_if_no_id_fits(tmp_path: Path) -> None:
    masked = "Visit BAGHDAD ** *** **** now * the ****** comes."
    with pytest.raises(InputError) as raised:
        answer(make_dataset(tmp_path / "masked", masked), BAGHDAD, "Visit BAGHDAD as soon", name="e")
    assert str(raised.value).endswith(
        "the ids and texts must be the dataset's. Its text of 'd' is masked with `*` from character 14: import the full"
        " text"
    )
    # A footnote and a line of stars are not masks.
    with pytest.raises(InputError, match=r"texts must be the dataset's$"):
        answer(make_dataset(tmp_path / "plain", "Visit BAGHDAD * now ***"), BAGHDAD, "Visit BAGHDAD", name="e")


def test_two_texts_differ_at_the_first_character_that_is_not_white_space() -> None:
    assert find_difference("a  b c", "a b\nd") == (5, 4)
    assert find_difference("ab", " a bc") == (2, 4)


def match(dataset: Dataset, *documents: AnnotatedDocument, gerbil_nil: bool = False) -> MatchedPredictions:
    files = [(Path("answers.x"), document) for document in documents]
    return match_predictions(Path("answers.x"), files, dataset, gerbil_nil=gerbil_nil)


def test_of_several_answers_the_best_scored_counts_and_an_answer_without_a_score_last(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "data")
    mentions = (Mention(*BAGHDAD, "A"), Mention(*BAGHDAD, "B", score=-3.0), Mention(*BAGHDAD, "C", score=-5.0))
    found = match(dataset, AnnotatedDocument("d", TEXT, mentions))
    assert found.predictions["d"].answer == "B"
    assert list(found.notes()) == ["mentions with several answers, of which the best-scored counts: 1"]


def test_of_two_documents_the_first_answer_counts_and_no_answer_does_not_stand_before_one(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "data")
    documents = [AnnotatedDocument("d", TEXT, (Mention(*BAGHDAD, title),)) for title in (None, "A", "B", None)]
    found = match(dataset, *documents)
    assert found.predictions["d"].answer == "A"
    assert list(found.notes()) == ["mentions answered in two documents, of which the first counts: 1"]


def test_a_marked_span_without_an_entity_is_nil_only_in_gerbils_counting(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "data")
    marked = AnnotatedDocument("d", TEXT, (Mention(*BAGHDAD), Mention(*BAGHDAD)))
    for gerbil_nil, status in ((False, "skipped"), (True, "nil")):
        found = match(dataset, marked, gerbil_nil=gerbil_nil)
        assert found.predictions["d"].status == status
        assert list(found.notes()) == []
    # A span that is not marked is no answer in either.
    assert match(dataset, AnnotatedDocument("d", TEXT), gerbil_nil=True).predictions["d"].status == "skipped"


def test_of_several_references_the_first_that_the_dataset_knows_counts(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "data")
    known = Mention(*BAGHDAD, "Elsewhere", others=("Nowhere", "Baghdad", "baghdad"))
    assert match(dataset, AnnotatedDocument("d", TEXT, (known,))).predictions["d"].answer == "Baghdad"
    unknown = Mention(*BAGHDAD, "Elsewhere", others=("Nowhere",))
    assert match(dataset, AnnotatedDocument("d", TEXT, (unknown,))).predictions["d"].answer == "Elsewhere"


def test_an_article_of_another_language_is_not_the_one_with_the_same_title(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "data")
    for language, answer in (
        (None, "Baghdad"),
        ("en", "Baghdad"),
        ("de", "http://de.wikipedia.org/wiki/Baghdad"),
    ):
        mention = Mention(*BAGHDAD, "Baghdad", language=language)
        given = match(dataset, AnnotatedDocument("d", TEXT, (mention,))).predictions["d"].answer
        assert given is not None
        assert given.replace("https:", "http:") == answer


def test_a_document_is_found_by_its_file_and_by_the_number_of_its_mention(tmp_path: Path) -> None:
    snippets = [
        Snippet(f"{name}/d#{number}", "all", TEXT, *span, gold="Baghdad", document=f"{name}/d")
        for name in ("answers", "other")
        for number, span in enumerate([(0, 5), BAGHDAD])
    ]
    data = write_dataset(tmp_path / "two", Card(name="x"), [Entity("Baghdad")], [], {"all": snippets})
    for name in ("d", "answers/d", "d#1", "answers/d#1"):
        found = match(data, AnnotatedDocument(name, TEXT, (Mention(*BAGHDAD, "Baghdad"),)))
        assert {one: prediction.status for one, prediction in found.predictions.items()} == {
            "answers/d#0": "skipped",
            "answers/d#1": "linked",
        }
    # Without a text a number is part of the name.
    with pytest.raises(InputError, match="the ids and texts must be the dataset's"):
        match(data, AnnotatedDocument("d#1", "", (Mention(*BAGHDAD, "Baghdad"),)))


def test_a_file_without_a_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no document, and so no answer to the dataset `x`"):
        match(make_dataset(tmp_path / "data"))


def test_a_single_candidate_is_kept_only_where_another_answer_has_several(tmp_path: Path) -> None:
    snippets = [Snippet(name, "all", f"{name} {TEXT}", 8, 15, gold="Baghdad") for name in ("a", "b")]
    data = write_dataset(tmp_path / "two", Card(name="x"), [Entity("Baghdad")], [], {"all": snippets})
    one = Mention(8, 15, "Baghdad", candidates=(Candidate("Baghdad"),), perhaps_ranked=True)
    two = Mention(8, 15, "Baghdad", candidates=(Candidate("Baghdad"), Candidate("Basra")))
    for other, counts in ((one, [0, 0]), (two, [1, 2])):
        documents = [
            AnnotatedDocument(name, f"{name} {TEXT}", (mention,)) for name, mention in (("a", one), ("b", other))
        ]
        found = match(data, *documents)
        assert [len(found.predictions[name].candidates) for name in ("a", "b")] == counts


def test_offsets_outside_of_the_text_are_no_mention(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "data")
    # Counted from the end, the first would be the name.
    for span in ((-12, -5), (6, 99), (13, 6)):
        found = match(dataset, AnnotatedDocument("d", TEXT, (Mention(*span, "Baghdad"),)))
        assert found.predictions["d"].status == "skipped"
        assert list(found.notes()) == [ELSEWHERE]
