"""What goes out in a foreign format comes back: documents, gold and answers, for every format that is written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from world import hand_predictions

from shadowprobe import Candidate, Card, Dataset, Entity, Prediction, Snippet, formats, write_dataset
from shadowprobe.base.identity import Resolver
from shadowprobe.catalogue.datasets import open_dataset
from shadowprobe.errors import InputError
from shadowprobe.formats.documents import AnnotatedDocument, Mention, export_documents, import_documents
from shadowprobe.formats.imported import Imported
from shadowprobe.running import api

NAMES = ("aida-conll", "kilt", "blink", "elevant", "simple-jsonl", "zelda")
every_format = pytest.mark.parametrize("name", NAMES)
# These write what they were given, to the last space.
verbatim_format = pytest.mark.parametrize("name", [name for name in NAMES if name != "aida-conll"])

TEXT = "Müller 😀 met Ajax in Ajax,\n\tand “Ajax” won."
FIRST, SECOND, THIRD = (13, 17), (21, 25), (33, 37)


def module(name: str) -> Any:
    return formats.import_format(name)


def meaning(predictions: Iterable[Prediction], dataset: Dataset) -> dict[str, str | None]:
    """Each snippet's entity, or the status of an answer without one."""
    resolver = Resolver(dataset.entities.values(), language=dataset.card.language)
    return {
        prediction.id: resolver.resolve(prediction.answer, prediction.page_id, prediction.qid).entity
        if prediction.status == "linked"
        else prediction.status
        for prediction in predictions
    }


def there_and_back(name: str, dataset: Dataset, predictions: Iterable[Prediction], out: Path) -> dict[str, Prediction]:
    formats.write(name, dataset, out, predictions={prediction.id: prediction for prediction in predictions})
    taken = formats.read_predictions(name, out, dataset)
    assert taken.left_out == {}
    return taken.predictions


def gold_there_and_back(name: str, documents: list[AnnotatedDocument], out: Path) -> list[AnnotatedDocument]:
    out.write_text("".join(module(name).encode_documents(documents)), encoding="utf-8", newline="")
    # Only some of the formats have URIs, which tell a language too.
    return [
        replace(document, mentions=tuple(replace(mention, language=None) for mention in document.mentions))
        for document in module(name).read_documents(out)
    ]


def small_dataset(path: Path, language: str = "en") -> Dataset:
    """Two documents of one text with three mentions each, the last without gold."""
    entities = [Entity("Ajax the Great", 11, "Q172725"), Entity("AFC Ajax", 22), Entity("Ájax", qid="Q5")]
    golds = ("Ajax the Great", "AFC Ajax", None)
    snippets = [
        Snippet(f"{name}#{number}", "all", TEXT, *span, gold=gold, document=name)
        for name in ("a", "b")
        for number, (span, gold) in enumerate(zip((FIRST, SECOND, THIRD), golds, strict=True))
    ]
    return write_dataset(path, Card(name="small", language=language), entities, [], {"all": snippets})


@every_format
def test_answers_to_the_world_come_back_with_nil_and_skipped_kept_apart(
    name: str, world: Dataset, tmp_path: Path
) -> None:
    found = there_and_back(name, world, hand_predictions(), tmp_path / "out")
    assert meaning(found.values(), world) == meaning(hand_predictions(), world)
    assert found["tDale"].status == "nil"
    assert found["sDale"].status == "skipped"


@every_format
def test_answers_to_mini_come_back_from_the_files_of_its_subsets(name: str, tmp_path: Path) -> None:
    mini = open_dataset("mini")
    # The gold, and for neutral contexts an entity that no dataset has.
    answers = [Prediction(snippet.id, answer=snippet.gold or "Nobody (film)") for snippet in mini.snippets()]
    found = there_and_back(name, mini, answers, tmp_path / "out")
    assert meaning(found.values(), mini) == meaning(answers, mini)


@every_format
def test_a_gold_export_scored_as_predictions_is_all_right(name: str, world: Dataset, tmp_path: Path) -> None:
    # The oracle's answers, exported and scored: four Top, four Shadow and one Tail, all right.
    answers = {snippet.id: Prediction(snippet.id, answer=snippet.gold) for snippet in world.snippets() if snippet.gold}
    formats.write(name, world, tmp_path / "out", predictions=answers)
    results = api.score(tmp_path / "out", world, format_name=name, out=tmp_path / "scored")
    assert {subset: (found["n"], found["f1"]) for subset, found in results["subsets"].items()} == {
        "top": (4, 1.0),
        "shadow": (4, 1.0),
        "tail": (1, 1.0),
    }


@every_format
@pytest.mark.parametrize("language", ["en", "de"])
def test_two_documents_of_one_text_keep_their_own_answers_to_each_mention(
    name: str, language: str, tmp_path: Path
) -> None:
    dataset = small_dataset(tmp_path / "data", language)
    answers = [
        Prediction("a#0", answer="AFC Ajax"),
        Prediction("a#1", status="nil"),
        Prediction("a#2", status="skipped"),
        Prediction("b#0", answer="Ájax"),
        Prediction("b#1", answer="AFC Ajax"),
        Prediction("b#2", answer="Ajax the Great"),
    ]
    found = there_and_back(name, dataset, answers, tmp_path / "out")
    assert meaning(found.values(), dataset) == {
        "a#0": "AFC Ajax",
        "a#1": "nil",
        "a#2": "skipped",
        "b#0": "Ájax",
        "b#1": "AFC Ajax",
        "b#2": "Ajax the Great",
    }


@every_format
def test_an_answer_by_page_id_or_qid_or_unknown_to_the_dataset_comes_back(name: str, tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "data")
    answers = [
        Prediction("a#0", answer="Another name", page_id=22),
        Prediction("a#1", qid="Q5"),
        Prediction("a#2", answer="https://en.wikipedia.org/wiki/Ajax_(play)"),
        Prediction("b#0", qid="Q777"),
        Prediction("b#1", page_id=777),
        Prediction("b#2", answer="Ajax, Ontario"),
    ]
    found = there_and_back(name, dataset, answers, tmp_path / "out")
    assert meaning(found.values(), dataset) == {
        "a#0": "AFC Ajax",
        "a#1": "Ájax",
        "a#2": "Ajax (play)",
        "b#0": "wd:Q777",
        "b#1": "curid:777",
        "b#2": "Ajax, Ontario",
    }


def test_an_answer_goes_out_with_all_the_keys_that_the_dataset_knows_of_it(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "data")
    (document, *_) = export_documents(dataset, "all", {"a#0": Prediction("a#0", answer="ajax_the_Great")})
    assert document.mentions[0] == Mention(*FIRST, "Ajax the Great", 11, "Q172725")


@every_format
def test_scores_come_back_to_the_last_digit(name: str, tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "data")
    scores = {"a#0": 0.1 + 0.2, "a#1": -1e-7, "a#2": None, "b#0": 0.0, "b#1": 12345678.9}
    answers = [Prediction(snippet_id, answer="AFC Ajax", score=score) for snippet_id, score in scores.items()]
    answers.append(Prediction("b#2", status="nil", score=0.5))
    found = there_and_back(name, dataset, answers, tmp_path / "out")
    assert {snippet_id: prediction.score for snippet_id, prediction in found.items()} == scores | {"b#2": 0.5}


@pytest.mark.parametrize(("name", "expected"), [("nif", {"tAvon": 0.1 + 0.2, "tDale": -1.5}), ("kilt", {})])
def test_a_suspicion_comes_back_from_nif_which_has_room_for_it(
    name: str, expected: dict[str, float], world: Dataset, tmp_path: Path
) -> None:
    carried = {"tAvon": 0.1 + 0.2, "tBerg": float("inf"), "tDale": -1.5}
    predictions = [replace(one, suspicion=carried.get(one.id)) for one in hand_predictions() if one.id[0] != "n"]
    found = there_and_back(name, world, predictions, tmp_path / "out")
    assert {key: one.suspicion for key, one in found.items() if one.suspicion is not None} == expected


@pytest.mark.parametrize("name", ["kilt", "blink", "elevant", "simple-jsonl"])
def test_candidates_come_back_where_the_format_has_room_for_them(name: str, tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "data")
    ranked = (Candidate("AFC Ajax", score=0.75), Candidate("Ajax the Great", score=0.25), Candidate(qid="Q777"))
    answers = [
        Prediction("a#0", answer="AFC Ajax", score=0.75, candidates=ranked),
        Prediction("a#1", answer="AFC Ajax"),
    ]
    found = there_and_back(name, dataset, answers, tmp_path / "out")
    resolver = Resolver(dataset.entities.values())
    candidates = found["a#0"].candidates
    assert [resolver.resolve(one.answer, one.page_id, one.qid).entity for one in candidates] == [
        "AFC Ajax",
        "Ajax the Great",
        "wd:Q777",
    ]
    assert found["a#1"].candidates == ()


@pytest.mark.parametrize("name", ["kilt", "blink", "elevant", "simple-jsonl"])
def test_a_ranking_of_one_comes_back_as_one_and_an_answer_without_candidates_without(name: str, tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "data")
    answers = [
        Prediction("a#0", answer="AFC Ajax", candidates=(Candidate("AFC Ajax", entity="AFC Ajax"),)),
        Prediction("a#1", answer="AFC Ajax"),
        Prediction("b#0", qid="Q777", candidates=(Candidate(qid="Q777"),)),
        Prediction("b#1", status="nil"),
    ]
    found = there_and_back(name, dataset, answers, tmp_path / "out")
    assert {key: len(prediction.candidates) for key, prediction in found.items()} == {
        "a#0": 1,
        "a#1": 0,
        "a#2": 0,
        "b#0": 1,
        "b#1": 0,
        "b#2": 0,
    }
    (candidate,) = found["a#0"].candidates
    resolver = Resolver(dataset.entities.values())
    assert resolver.resolve(candidate.answer, candidate.page_id, candidate.qid).entity == "AFC Ajax"


@pytest.mark.parametrize("name", ["aida-conll", "kilt", "blink", "elevant", "simple-jsonl", "zelda"])
def test_the_longest_page_id_comes_back_and_a_longer_one_is_refused_by_its_line(name: str, tmp_path: Path) -> None:
    longest = AnnotatedDocument("d", "Ajax", (Mention(0, 4, "AFC Ajax", 10**18 - 1),))
    assert gold_there_and_back(name, [longest], tmp_path / "file") == [longest]
    longer = AnnotatedDocument("d", "Ajax", (Mention(0, 4, "AFC Ajax", 10**30),))
    with pytest.raises(InputError) as caught:
        gold_there_and_back(name, [longest, longer], tmp_path / "file")
    # A document of tokens has three lines: its name, its token and a blank one.
    assert caught.value.line == (5 if name == "aida-conll" else 2)


@every_format
def test_gold_comes_back_and_a_mention_without_it_stays_without(name: str, tmp_path: Path) -> None:
    document = AnnotatedDocument(
        "a name 7",
        "Käfer Ajax 😀 und Ajax\nvon Ajax",
        (Mention(6, 10, "AFC Ajax", 22), Mention(17, 21, "Ájax (Spiel)"), Mention(26, 30)),
    )
    found = gold_there_and_back(name, [document], tmp_path / "file")
    numbered = ["a name 7#0", "a name 7#1", "a name 7#2"]
    assert [one.id for one in found] == (numbered if name in {"kilt", "blink"} else ["a name 7"])
    assert {one.text for one in found} == {document.text}
    assert tuple(mention for one in found for mention in one.mentions) == document.mentions


@every_format
def test_an_imported_export_has_the_same_texts_spans_and_gold(name: str, tmp_path: Path) -> None:
    text = "Ajax sank and Ajax sang 😀 ."
    snippets = [
        Snippet("d#0", "all", text, 0, 4, gold="HMS Ajax", document="d"),
        Snippet("d#1", "all", text, 14, 18, document="d"),
    ]
    dataset = write_dataset(tmp_path / "data", Card(name="two"), [Entity("HMS Ajax", 3)], [], {"all": snippets})
    formats.write(name, dataset, tmp_path / "out")
    imported = formats.read(name, [tmp_path / "out"])
    assert [(snippet.text, snippet.start, snippet.end, snippet.gold) for snippet in imported.snippets["all"]] == [
        (text, 0, 4, "HMS Ajax"),
        (text, 14, 18, None),
    ]
    assert imported.entities == [Entity("HMS Ajax", 3)]
    assert imported.count_remarks() == {"kept": {"a mention without an entity, which is not counted as gold": 1}}


letters = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
words = st.text(st.characters(exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=6)


@verbatim_format
@settings(max_examples=60, deadline=None)
@given(left=letters, mention=words, right=letters)
def test_any_text_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, name: str, left: str, mention: str, right: str
) -> None:
    span = len(left), len(left) + len(mention)
    document = AnnotatedDocument("d", f"{left}{mention}{right}", (Mention(*span, "Ajax"),))
    (found,) = gold_there_and_back(name, [document], tmp_path_factory.mktemp("any") / "file")
    assert found == document


@settings(max_examples=60, deadline=None)
@given(left=letters, mention=words, right=letters)
def test_aida_conll_changes_nothing_but_white_space(
    tmp_path_factory: pytest.TempPathFactory, left: str, mention: str, right: str
) -> None:
    span = len(left), len(left) + len(mention)
    document = AnnotatedDocument("d", f"{left}{mention}{right}", (Mention(*span, "Ajax"),))
    (found,) = gold_there_and_back("aida-conll", [document], tmp_path_factory.mktemp("any") / "file")
    assert found.text.split() == f"{left} {mention} {right}".split()
    (place,) = found.mentions
    assert found.text[place.start : place.end] == mention
    # The same words stand before it, so it is the same mention and not another of its name.
    assert found.text[: place.start].split() == left.split()


@every_format
@pytest.mark.parametrize(
    ("content", "line"),
    [(b"\xff\xfe\n", 1), (b"{}\n", 1), (b"[]\n", 1), (b"rubbish\n", 1), (b"\n\n\x00\x80\n", 3)],
)
def test_rubbish_is_refused_by_its_line(name: str, content: bytes, line: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    for predicted in (False, True):
        with pytest.raises(InputError) as caught:
            list(module(name).read_documents(path, predicted=predicted))
        assert (caught.value.path, caught.value.line) == (path, line)


@every_format
def test_a_file_that_is_not_there_and_answers_to_other_texts_are_refused_in_one_line(
    name: str, world: Dataset, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="no such file"):
        formats.read_predictions(name, tmp_path / "none", world)
    other = small_dataset(tmp_path / "data")
    formats.write(name, other, tmp_path / "out", predictions={"a#0": Prediction("a#0", answer="AFC Ajax")})
    with pytest.raises(InputError, match="documents is in the dataset `world`"):
        formats.read_predictions(name, tmp_path / "out", world)


def test_white_space_is_all_that_may_differ_between_a_text_and_its_answers(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "data")
    path = tmp_path / "answers.tsv"
    path.write_text("-DOCSTART- (a)\nMüller\n😀\nmet\nAjax\tB\tAjax\tAFC_Ajax\nin\nAjax\n,\nand\n“\nAjax\n”\nwon\n.\n")
    assert formats.read_predictions("aida-conll", path, dataset).predictions["a#0"].answer == "AFC Ajax"
    path.write_text(path.read_text().replace("won", "lost"))
    with pytest.raises(InputError, match="none of its 1 documents"):
        formats.read_predictions("aida-conll", path, dataset)


def test_an_answer_that_is_given_twice_counts_once_and_an_empty_one_takes_nothing_back(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "data")
    answered = AnnotatedDocument("a", TEXT, (Mention(*FIRST, "AFC Ajax"),))
    # Counted from the end of the text, the last of these would stand on the first mention.
    from_the_end = Mention(FIRST[0] - len(TEXT), FIRST[1] - len(TEXT), "Ájax")
    again = AnnotatedDocument("a", TEXT, (Mention(*FIRST, "Ájax"), Mention(0, 99, "Ájax"), from_the_end))
    path = tmp_path / "answers.jsonl"
    path.write_text(
        "".join(module("elevant").encode_documents([answered, AnnotatedDocument("a", TEXT), again], predicted=True))
    )
    taken = formats.read_predictions("elevant", path, dataset)
    assert taken.predictions["a#0"].answer == "AFC Ajax"
    assert list(taken.notes()) == [
        "answers on spans that are no mention of the dataset: 2",
        "mentions answered in two documents, of which the first counts: 1",
    ]


def test_what_a_reader_left_out_is_listed_and_a_title_of_nothing_is_no_title(tmp_path: Path) -> None:
    document = AnnotatedDocument(
        "d", "Ajax Ajax", (Mention(0, 4, "#", qid="Q1"), Mention(5, 9, "#")), left_out=("a joke",)
    )
    imported = import_documents(Imported(Card(name="x")), [(tmp_path, document)], several_files=False)
    assert imported.entities == [Entity("Q1", qid="Q1")]
    assert [snippet.gold for snippet in imported.snippets["all"]] == ["Q1", None]
    assert imported.count_remarks() == {
        "dropped": {"a joke": 1},
        "kept": {"a mention without an entity, which is not counted as gold": 1},
    }
