"""NIF as a format: from phrases to mentions, and from mentions to URIs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from shadowprobe import InputError
from shadowprobe.formats import nif
from shadowprobe.formats.documents import AnnotatedDocument, Mention
from shadowprobe.formats.nif_documents import BASE, NIL, NifDocument, Phrase, to_turtle

AVON, RIVER = "http://dbpedia.org/resource/Avon", "http://dbpedia.org/resource/River_Avon"
GERMAN = "http://de.dbpedia.org/resource/Der_Avon"
ITEM = "http://www.wikidata.org/entity/Q7"
OWN = "http://own.example/1"


def read(folder: Path, *uris: str, predicted: bool = False, same_as: str = "") -> Mention:
    """The mention of a phrase with these URIs."""
    turtle = to_turtle([NifDocument("http://x.example/d", "Avon", (Phrase(0, 4, uris),))]) + same_as
    (folder / "a.ttl").write_text(turtle)
    (document,) = nif.read_documents(folder / "a.ttl", predicted=predicted)
    (mention,) = document.mentions
    return mention


def test_the_uris_of_a_phrase_are_keys_of_one_entity(tmp_path: Path) -> None:
    mention = read(tmp_path, AVON, ITEM)
    assert (mention.title, mention.qid, mention.language, mention.others) == ("Avon", "Q7", "en", ())
    # Another title is another reference, and the same title at another host is not.
    assert read(tmp_path, AVON, RIVER, "http://en.wikipedia.org/wiki/Avon").others == (RIVER,)


def test_the_english_title_is_that_of_the_entity_with_its_language(tmp_path: Path) -> None:
    mention = read(tmp_path, AVON, GERMAN)
    assert (mention.title, mention.language, mention.others) == ("Avon", "en", (GERMAN,))
    alone = read(tmp_path, GERMAN, ITEM)
    assert (alone.title, alone.language, alone.qid) == ("Der Avon", "de", "Q7")


def test_a_phrase_is_nil_if_all_its_uris_are(tmp_path: Path) -> None:
    assert read(tmp_path, f"{NIL}Avon").nil
    assert not read(tmp_path).nil
    mention = read(tmp_path, f"{NIL}Avon", AVON)
    assert (mention.nil, mention.title) == (False, "Avon")


def test_a_uri_of_an_unknown_knowledge_base_is_an_answer_but_no_gold(tmp_path: Path) -> None:
    gold = read(tmp_path, OWN)
    assert (gold.has_entity, gold.unknown_uri) == (False, OWN)
    assert read(tmp_path, OWN, predicted=True).has_entity
    assert read(tmp_path, OWN, predicted=True).unknown_uri is None
    # One that is the same as a known one is mapped, and beside a known one nothing is to be said.
    mapped = read(tmp_path, OWN, same_as=f"<{OWN}> <http://www.w3.org/2002/07/owl#sameAs> <{AVON}> .\n")
    assert (mapped.title, mapped.unknown_uri) == ("Avon", OWN)
    assert (read(tmp_path, OWN, AVON).title, read(tmp_path, OWN, AVON).unknown_uri) == ("Avon", None)
    assert read(tmp_path, OWN, AVON, predicted=True).title == "Avon"


def test_documents_of_ours_get_their_ids_back_and_others_keep_their_uris(tmp_path: Path) -> None:
    texts = [NifDocument(f"{BASE}a%2Fb%20c", "Avon"), NifDocument("http://x.example/a%2Fb", "Avon")]
    (tmp_path / "a.ttl").write_text(to_turtle(texts))
    assert [one.id for one in nif.read_documents(tmp_path / "a.ttl")] == ["a/b c", "http://x.example/a%2Fb"]
    assert nif.make_nif_document(AnnotatedDocument("a/b c", "Avon")).uri == f"{BASE}a%2Fb%20c"


def test_a_file_that_is_no_turtle_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("<")
    with pytest.raises(InputError, match=r"a\.ttl: not Turtle: "):
        list(nif.read_documents(tmp_path / "a.ttl"))


def test_an_entity_is_written_with_all_its_uris() -> None:
    def write(*mentions: Mention, language: str = "en") -> tuple[Phrase, ...]:
        return nif.make_nif_document(AnnotatedDocument("d", "An Ä.", mentions, language=language)).phrases

    assert write(Mention(0, 2, title="Avon", qid="Q7")) == (Phrase(0, 2, (AVON, ITEM)),)
    assert write(Mention(0, 2, title="Der Avon"), language="de") == (Phrase(0, 2, (GERMAN,)),)
    assert write(Mention(0, 2, title=OWN)) == (Phrase(0, 2, (OWN,)),)
    assert write(Mention(0, 2)) == (Phrase(0, 2),)
    assert write(Mention(3, 4, nil=True)) == (Phrase(3, 4, (f"{NIL}%C3%84",)),)
    # Two gold entities of one span are both right, and a number that Turtle cannot hold is left out.
    both = write(Mention(0, 2, title="Avon", score=0.5), Mention(0, 2, qid="Q7", score=math.nan, suspicion=0.25))
    assert both == (Phrase(0, 2, (AVON, ITEM), None, suspicion=0.25),)
    assert write(Mention(0, 2, score=0.5, suspicion=math.inf)) == (Phrase(0, 2, (), 0.5),)
