"""Documents with several mentions: what they say of an entity, how they are imported, and how they are exported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from world import linked, top

from shadowprobe import Card, Dataset, InputError, Prediction
from shadowprobe.base.model import Candidate, Subset
from shadowprobe.formats.documents import (
    MAPPED,
    NOT_GOLD,
    NOT_MAPPED,
    AnnotatedDocument,
    Mention,
    export_documents,
    group_snippets,
    import_documents,
)
from shadowprobe.formats.imported import Imported, Remark

TEXT = "Avon met Avon."
FIRST, SECOND = (0, 4), (9, 13)


def read(
    *documents: tuple[str, AnnotatedDocument], several: bool = False, subsets: Mapping[Path, Subset] | None = None
) -> Imported:
    """What is imported from documents of some files."""
    pairs = ((Path(file), document) for file, document in documents)
    return import_documents(Imported(Card(name="mine")), pairs, several_files=several, subsets=subsets)


def document(*mentions: Mention, name: str = "d", left_out: tuple[str, ...] = ()) -> AnnotatedDocument:
    return AnnotatedDocument(name, TEXT, mentions, left_out=left_out)


@pytest.mark.parametrize(
    ("mention", "has_entity", "is_answered"),
    [
        (Mention(*FIRST), False, False),
        (Mention(*FIRST, title="Avon"), True, True),
        (Mention(*FIRST, page_id=7), True, True),
        (Mention(*FIRST, qid="Q7"), True, True),
        (Mention(*FIRST, nil=True), False, True),
        (Mention(*FIRST, title="Avon", nil=True), False, True),
    ],
)
def test_a_mention_has_an_entity_by_any_key_unless_it_is_nil(
    mention: Mention, has_entity: bool, is_answered: bool
) -> None:
    assert (mention.has_entity, mention.is_answered) == (has_entity, is_answered)


def test_the_answer_is_ranked_first_and_every_other_candidate_once() -> None:
    candidates = (Candidate("Berg", score=0.4), Candidate("Avon", score=0.9), Candidate(qid="Q7"), Candidate("Berg"))
    ranked = Mention(*FIRST, title="Avon", score=0.8, candidates=candidates).rank_entities()
    assert ranked == [("Avon", 0.8), ("Berg", 0.4), ("wd:Q7", None)]
    resolved = Mention(*FIRST, page_id=3, candidates=(Candidate("x", entity="Avon"), Candidate())).rank_entities()
    assert resolved == [("curid:3", None), ("Avon", None)]
    assert Mention(*FIRST, candidates=candidates).rank_entities() == []


def test_a_mention_is_numbered_only_beside_others() -> None:
    assert document(Mention(*FIRST)).name_mention(0) == "d"
    assert document(Mention(*FIRST), Mention(*SECOND)).name_mention(1) == "d#1"


def test_each_mention_becomes_a_snippet_of_its_document() -> None:
    imported = read(("a.ttl", document(Mention(*FIRST, title="Avon"), Mention(*SECOND, title="Avon (ship)"))))
    rows = [(one.id, one.start, one.end, one.gold, one.document, one.space) for one in imported.snippets["all"]]
    assert rows == [("d#0", 0, 4, "Avon", "d", None), ("d#1", 9, 13, "Avon (ship)", "d", None)]
    assert [entity.title for entity in imported.entities] == ["Avon", "Avon (ship)"]


def test_documents_of_several_files_have_the_file_in_their_name_unless_one_export_wrote_them() -> None:
    mention = Mention(*FIRST, title="Avon")
    files = [("a.ttl", document(mention)), ("b.ttl", document(mention))]
    assert [one.id for one in read(*files, several=True).snippets["all"]] == ["a/d", "b/d"]
    exported = read(files[0], several=True, subsets={Path("a.ttl"): "tail"})
    assert [one.id for one in exported.snippets["tail"]] == ["d"]


def test_documents_of_one_name_are_numbered_from_the_second_on() -> None:
    imported = read(*[("a.ttl", document(Mention(*FIRST, title="Avon")))] * 3)
    assert [one.id for one in imported.snippets["all"]] == ["d", "d~2", "d~3"]
    assert imported.remarks == [
        Remark("repaired", "a second document of one name", "d", "called ~2"),
        Remark("repaired", "a second document of one name", "d", "called ~3"),
    ]


def test_a_document_without_an_id_is_refused() -> None:
    with pytest.raises(InputError, match=r"a\.ttl: a document has no id"):
        read(("a.ttl", document(Mention(*FIRST), name="")))


def test_what_is_not_taken_as_it_stands_is_remarked() -> None:
    imported = read(
        (
            "a.ttl",
            document(
                Mention(*FIRST),
                Mention(4, 99, title="Avon"),
                Mention(*SECOND, title="Avon", unknown_uri="http://x/1"),
                Mention(*SECOND, unknown_uri="http://x/2"),
                left_out=("an optional label",),
            ),
        )
    )
    assert imported.remarks[0] == Remark("dropped", "an optional label", "d")
    assert imported.remarks[1] == Remark("kept", NOT_GOLD, "d#0")
    assert (imported.remarks[2].action, imported.remarks[2].detail) == ("dropped", "[4, 99]")
    assert imported.remarks[3:] == [
        Remark("repaired", MAPPED, "d#2", "http://x/1"),
        Remark("kept", NOT_MAPPED, "d#3", "http://x/2"),
    ]
    assert [one.id for one in imported.snippets["all"]] == ["d#0", "d#2", "d#3"]


def test_other_titles_of_an_entity_are_redirects_if_they_are_of_its_language() -> None:
    others = ("http://dbpedia.org/resource/River_Avon", "http://de.dbpedia.org/resource/Fluss", "Upper Avon", "wd:Q7")
    for language, redirects in (("en", ("River Avon", "Upper Avon")), ("de", ("Fluss", "Upper Avon"))):
        mention = Mention(*FIRST, title="Avon", others=others, language=language)
        (entity,) = read(("a.ttl", document(mention))).entities
        assert entity.redirects == redirects


def test_the_languages_of_all_mentions_are_counted() -> None:
    mentions = (Mention(*FIRST, title="A", language="de"), Mention(*SECOND, title="B", language="de"))
    imported = read(("a.ttl", document(*mentions, Mention(*FIRST, title="C", language="fr"), Mention(*FIRST))))
    assert imported.languages == {"de": 2, "fr": 1}
    imported.settle_language()
    # They do not agree.
    assert imported.card.language == "en"


@pytest.mark.parametrize(
    ("mention", "title"),
    [
        (Mention(*FIRST, title="Avon", qid="Q7"), "Avon"),
        # `#` ends a title, and nothing would be left of this one.
        (Mention(*FIRST, title="#1", qid="Q7", page_id=3), "Q7"),
        (Mention(*FIRST, title="#1", page_id=3), "Curid:3"),
    ],
)
def test_an_entity_is_called_by_its_title_or_else_by_another_key(mention: Mention, title: str) -> None:
    (snippet,) = read(("a.ttl", document(mention))).snippets["all"]
    assert snippet.gold == title


def test_the_name_of_a_space_is_the_one_in_the_file_or_else_the_marked_words() -> None:
    subsets: dict[Path, Subset] = {Path("top"): "top", Path("shadow"): "shadow", Path("neutral"): "neutral"}
    imported = read(
        ("top", document(Mention(*FIRST, title="Avon", space="The Avon"), Mention(*SECOND, title="Avon (ship)"))),
        ("shadow", document(Mention(*FIRST, title="Avon (song)"), name="e")),
        ("neutral", document(Mention(*FIRST, template=2), name="f")),
        subsets=subsets,
    )
    assert {space.name: space.entities for space in imported.spaces} == {
        "The Avon": ("Avon",),
        "Avon": ("Avon (ship)", "Avon (song)"),
    }
    assert [(one.space, one.template) for one in imported.snippets["neutral"]] == [("Avon", 2)]
    # No neutral context has an entity, and nothing is to be said of it.
    assert imported.remarks == []


def test_the_snippets_of_one_document_and_one_text_are_exported_together(world: Dataset) -> None:
    assert [len(group) for group in group_snippets(world, "neutral").values()] == [1] * 12
    exported = list(export_documents(world, "top"))
    assert [(one.id, one.subset, one.language, one.gold) for one in exported[:1]] == [("tAvon", "top", "en", ())]
    assert exported[0].mentions == (Mention(17, 21, title=top("Avon"), page_id=100, space="Avon"),)


def test_a_prediction_is_exported_with_all_keys_that_the_dataset_has(world: Dataset) -> None:
    predictions = {
        # By its page id alone, in another notation, with keys of its own, NIL twice, and skipped.
        "tAvon": Prediction("tAvon", page_id=100, score=0.5),
        "tBerg": linked("tBerg", "http://en.wikipedia.org/wiki/Berg_(river)"),
        "tComo": Prediction("tComo", answer="Elsewhere", page_id=7, qid="Q7", suspicion=0.25),
        "tDale": Prediction("tDale", answer="NIL", score=0.1),
        "sAvon": Prediction("sAvon", status="nil"),
        "sBerg": Prediction("sBerg", status="skipped"),
    }
    found = {
        one.id: one.mentions[0] for subset in ("top", "shadow") for one in export_documents(world, subset, predictions)
    }
    assert found["tAvon"] == Mention(17, 21, title=top("Avon"), page_id=100, score=0.5)
    assert (found["tBerg"].title, found["tBerg"].page_id) == (top("Berg"), 101)
    assert (found["tComo"].title, found["tComo"].page_id, found["tComo"].qid) == ("Elsewhere", 7, "Q7")
    assert found["tComo"].suspicion == 0.25
    assert (found["tDale"].nil, found["tDale"].score) == (True, 0.1)
    assert found["sAvon"].nil
    assert [found[one].is_answered for one in ("sBerg", "sComo")] == [False, False]
    (first, *_) = export_documents(world, "top", predictions)
    # Beside its prediction, a document has its gold.
    assert [gold.title for gold in first.gold] == [top("Avon")]
