"""NIF in Turtle: what we write, any reader must understand; what others write, we must."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nif_app import parse_one
from rdflib import Graph, Literal, URIRef

from shadowprobe.formats.nif_documents import NifDocument, NifError, Phrase, parse, to_turtle

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "nif"
HEAD = (
    "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    "@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .\n"
)
NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
CONTEXT = f'{HEAD}<http://x.example/d#c> nif:isString "Avon met Dale." .\n'
# Every character but surrogates, which are none; and often one of those that Turtle or offsets could stumble over.
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\0\r\n\t\"'\\ \ufeff\u2028\x85\N{CLAPPER BOARD}")
)


def fixture(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def phrase(more: str, begin: object = 0, end: object = 4) -> str:
    """A document with one phrase, of which something more is said."""
    return (
        f"{CONTEXT}<http://x.example/d#p> nif:referenceContext <http://x.example/d#c> ;"
        f" nif:beginIndex {begin} ; nif:endIndex {end} {more} ."
    )


ANSWER = NifDocument(
    "http://www.aksw.org/gerbil/NifWebService/request_0",
    'Jordan beat Utah near "Zürich", Bob.',
    (
        Phrase(0, 6, ("http://dbpedia.org/resource/Michael_Jordan",), 0.83),
        Phrase(12, 16, ("http://dbpedia.org/resource/Utah_Jazz", "http://www.wikidata.org/entity/Q161345")),
        Phrase(23, 29, ("http://aksw.org/notInWiki/Z%C3%BCrich",)),
        Phrase(32, 35),
    ),
)


@pytest.mark.parametrize("name", ["answer.ttl", "answer_by_another_writer.ttl"])
def test_an_answer_says_the_same_in_any_hand(name: str) -> None:
    assert parse_one(fixture(name)) == ANSWER


def test_a_request_of_gerbil_has_its_mentions_and_says_nothing_of_them() -> None:
    asked = parse_one(fixture("gerbil_request.ttl"))
    assert asked == ANSWER._replace(phrases=(Phrase(0, 6), Phrase(12, 16), Phrase(23, 29), Phrase(32, 35)))


def test_the_test_call_of_gerbil_has_no_mention() -> None:
    found = parse_one(fixture("gerbil_test_call.ttl"))
    assert found == NifDocument("http://www.aksw.org/gerbil/NifWebService/request_7", "Jordan beat Utah.")


def test_what_is_written_is_the_fixed_answer_triple_for_triple() -> None:
    assert set(Graph().parse(data=to_turtle([ANSWER]))) == set(Graph().parse(data=fixture("answer.ttl")))


@st.composite
def documents(draw: st.DrawFn) -> NifDocument:
    text = draw(TEXTS)
    spans = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).filter(lambda span: span[0] < span[1])
    names = st.sampled_from(
        ["http://dbpedia.org/resource/Zürich", "http://x.example/a?b=c&d#e", "urn:x:\N{CLAPPER BOARD}"]
    )
    said = st.tuples(
        st.lists(names, unique=True, max_size=2).map(lambda found: tuple(sorted(found))),
        st.none() | st.floats(allow_nan=False, allow_infinity=False),
    )
    found = draw(st.dictionaries(spans, said, max_size=4)) if text else {}
    return NifDocument("http://x.example/d", text, tuple(sorted(Phrase(*span, *more) for span, more in found.items())))


@settings(deadline=None)
@given(documents())
@example(NifDocument("http://x.example/d", "\N{CLAPPER BOARD}" * 4, (Phrase(1, 2), Phrase(3, 4))))
def test_any_text_with_any_spans_comes_back_as_it_went(document: NifDocument) -> None:
    written = to_turtle([document])
    assert parse(written) == [document]
    assert parse(written.encode()) == [document]
    # A reader that is not ours sees the same text and the same anchors.
    graph = Graph().parse(data=written)
    assert [str(text) for text in graph.objects(predicate=URIRef(f"{NIF}isString"))] == [document.text]
    anchors = {(int(str(s).rpartition("=")[2].partition(",")[0]), str(o)) for s, o in graph[: URIRef(f"{NIF}anchorOf")]}
    assert anchors == {(p.start, document.text[p.start : p.end]) for p in document.phrases}


def test_what_is_written_is_on_one_line_a_text_and_holds_no_control_character() -> None:
    written = to_turtle([NifDocument("http://x.example/d", 'a\r\nb\tc\0d\x7f"e\\')])
    assert r'nif:isString "a\r\nb\tc\u0000d\u007F\"e\\"^^xsd:string ;' in written.splitlines()[6]
    assert not {character for character in written if character < " "} - {"\n"}


def test_several_documents_come_back_in_the_order_of_their_uris() -> None:
    first, second = (
        NifDocument("http://x.example/a", "Avon", (Phrase(0, 4),)),
        NifDocument("http://x.example/b", "Dale"),
    )
    assert parse(to_turtle([second, first])) == [first, second]
    assert parse("") == []


def test_a_byte_order_mark_is_no_part_of_the_document() -> None:
    assert parse(b"\xef\xbb\xbf" + CONTEXT.encode()) == [NifDocument("http://x.example/d#c", "Avon met Dale.")]


def test_relative_addresses_tell_nothing_of_the_place_where_they_are_read() -> None:
    (found,) = parse(f'{HEAD}<#char=0,4> nif:isString "Avon" .')
    assert found.uri == "http://shadowprobe.example/"


def test_offsets_in_utf16_are_known_by_their_anchors() -> None:
    found = parse_one(fixture("answer_in_utf16.ttl"))
    assert found.text == "Grüße: Avon \N{CLAPPER BOARD} met Dale."
    assert found.phrases == (Phrase(7, 11), Phrase(18, 22, ("http://dbpedia.org/resource/Dale_(ship)",)))


def counted(end: int, start: int, anchor: str) -> NifDocument:
    """A text of three equal letters after an emoji, whose context ends and whose phrase starts as given."""
    return parse_one(
        f'{HEAD}<http://x.example/d#c> nif:isString "\N{CLAPPER BOARD}aaa" ; nif:beginIndex 0 ; nif:endIndex {end} .'
        f"<http://x.example/d#p> nif:referenceContext <http://x.example/d#c> ; nif:beginIndex {start} ;"
        f' nif:endIndex {start + 1} ; nif:anchorOf "{anchor}" .'
    )


def test_where_anchors_fit_both_ways_the_length_of_the_text_says_how_is_counted() -> None:
    # The second letter is at 2 in code points, and at 3 in UTF-16 units; the text has 4 or 5 of them.
    assert counted(4, 2, "a").phrases == (Phrase(2, 3),)
    assert counted(5, 3, "a").phrases == (Phrase(2, 3),)


def test_anchors_say_more_than_the_length_of_the_text() -> None:
    # By UTF-16 units the place is the inside of the emoji.
    assert counted(5, 1, "a").phrases == (Phrase(1, 2),)
    assert counted(4, 4, "a").phrases == (Phrase(3, 4),)


def test_an_anchor_that_fits_neither_way_does_not_move_the_phrase() -> None:
    assert counted(4, 1, "A").phrases == (Phrase(1, 2),)


def test_a_sentence_is_no_mention_but_a_word_is() -> None:
    assert parse_one(phrase("; a nif:Sentence")).phrases == ()
    assert parse_one(phrase("; a nif:Sentence, nif:Phrase")).phrases == (Phrase(0, 4),)
    assert parse_one(phrase("; a nif:Word")).phrases == (Phrase(0, 4),)


def test_a_mention_that_is_all_of_its_text_is_one_although_it_has_the_texts_uri() -> None:
    document = NifDocument("http://x.example/d", "Avon", (Phrase(0, 4, ("http://x.example/e",)),))
    assert parse_one(to_turtle([document])) == document
    said = "nif:beginIndex 0 ; nif:endIndex 4 ; nif:referenceContext <http://x.example/d#c>"
    itself = f'{HEAD}<http://x.example/d#c> nif:isString "Avon" ; {said}'
    assert parse_one(f"{itself} ; a nif:Phrase .").phrases == (Phrase(0, 4),)
    assert parse_one(f"{itself} ; a nif:Context .").phrases == ()


def test_of_several_confidences_the_highest_counts_and_one_that_is_not_finite_says_nothing() -> None:
    assert parse_one(phrase("; itsrdf:taConfidence 0.25, 0.5")).phrases == (Phrase(0, 4, (), 0.5),)
    for word in ("NaN", "INF", "-INF"):
        typed = f'"{word}"^^<http://www.w3.org/2001/XMLSchema#double>'
        assert parse_one(phrase(f"; itsrdf:taConfidence {typed}")).phrases == (Phrase(0, 4),)


def test_a_suspicion_is_read_and_one_that_is_no_number_is_refused() -> None:
    own = "<http://shadowprobe.example/ns#suspicion>"
    assert parse_one(phrase(f"; {own} -0.5")).phrases == (Phrase(0, 4, suspicion=-0.5),)
    with pytest.raises(NifError, match=r"shadowprobe:suspicion: could not convert string to float: 'high'$"):
        parse_one(phrase(f'; {own} "high"'))


def test_an_entity_without_a_name_is_ignored() -> None:
    assert parse_one(phrase("; itsrdf:taIdentRef [], <http://x.example/e>")).phrases == (
        Phrase(0, 4, ("http://x.example/e",)),
    )


@pytest.mark.parametrize(
    ("turtle", "problem"),
    [
        (b"\xff\xfe", "^not UTF-8: invalid start byte at byte 0$"),
        ("<html><body>Bad gateway</body></html>", "^not Turtle: at line 1 of"),
        ('{"status": "ok"}', "^not Turtle: at line 1 of"),
        (CONTEXT.rstrip(" .\n"), "^not Turtle: "),
        ("[" * 5000, "^not Turtle: "),
        (f'{HEAD}[] nif:isString "Avon" .', "^a nif:Context must have a URI$"),
        (f'{CONTEXT}<http://x.example/d#c> nif:isString "Dale" .', "there are 2 different nif:isString$"),
        (f'{HEAD}<http://x.example/d#c> nif:isString "Avon\\uD83C" .', r"contains half a character"),
        (phrase("", begin='""'), "nif:beginIndex is '', not a number$"),
        (phrase("", begin='"one"'), "nif:beginIndex is 'one', not a number$"),
        (phrase("", begin=-1), "nif:beginIndex is '-1', not a number$"),
        (phrase("", end=4.5), "nif:endIndex is '4.5', not a number$"),
        (phrase("", begin='"٣"'), "nif:beginIndex is '٣', not a number$"),
        (phrase("", end=f'"{"9" * 5000}"'), "nif:endIndex is '9{40}', not a number$"),
        (phrase("", begin="0, 1"), "nif:beginIndex is '0 and 1', not a number$"),
        (phrase("").replace("nif:endIndex", "nif:end"), "nif:endIndex is missing$"),
        (phrase("", end=15), "0 to 15 is outside its text of 14 characters$"),
        (phrase("", begin=4), "4 to 4 is outside its text of 14 characters$"),
        (phrase("", begin=5), "5 to 4 is outside its text of 14 characters$"),
        (phrase('; itsrdf:taConfidence "high"'), "itsrdf:taConfidence: could not convert string to float: 'high'$"),
    ],
)
def test_text_that_is_not_nif_is_refused_in_one_line(turtle: str | bytes, problem: str) -> None:
    with pytest.raises(NifError, match=problem) as caught:
        parse(turtle)
    assert len(str(caught.value).splitlines()) == 1


def test_numbers_that_are_none_leave_no_traceback_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), pytest.raises(NifError):
        parse(phrase("", begin='"one"^^<http://www.w3.org/2001/XMLSchema#int>'))
    assert caplog.text == ""


@pytest.mark.parametrize("unfit", ['"', "<", ">", " ", "{", "}", "|", "^", "`", "\\", "\n", "\0", "\ud83c"])
def test_a_uri_that_turtle_cannot_hold_is_not_written(unfit: str) -> None:
    text = NifDocument("http://x.example/d", "Avon")
    for document in (
        text._replace(uri=f"http://x.example/{unfit}"),
        text._replace(phrases=(Phrase(0, 4, (f"urn:{unfit}",)),)),
    ):
        with pytest.raises(NifError, match="is not a URI: it contains"):
            to_turtle([document])


def test_two_phrases_on_one_span_are_not_written_as_one() -> None:
    with pytest.raises(NifError, match=r"^http://x\.example/d: two phrases have the same span$"):
        to_turtle([NifDocument("http://x.example/d", "Avon", (Phrase(0, 4, ("urn:a",)), Phrase(0, 4, ("urn:b",))))])


def test_two_resources_on_one_span_are_two_phrases() -> None:
    again = (
        "<http://x.example/d#q> nif:referenceContext <http://x.example/d#c> ; nif:beginIndex 0 ; nif:endIndex 4 ;"
        " itsrdf:taIdentRef <urn:b> ."
    )
    found = parse_one(phrase("; itsrdf:taIdentRef <urn:a>") + again)
    assert found.phrases == (Phrase(0, 4, ("urn:a",)), Phrase(0, 4, ("urn:b",)))


def test_a_text_given_twice_in_two_types_is_one_text() -> None:
    graph = Graph().parse(data=CONTEXT)
    graph.add((URIRef("http://x.example/d#c"), URIRef(f"{NIF}isString"), Literal("Avon met Dale.", lang="en")))
    assert parse(graph.serialize()) == [NifDocument("http://x.example/d#c", "Avon met Dale.")]


@pytest.mark.parametrize(
    ("context", "uri"),
    [
        ("http://x.example/d#char=0,4", "http://x.example/d"),
        ("http://x.example/d#char=0,", "http://x.example/d"),
        ("http://x.example/d#char0,4", "http://x.example/d"),
        ("http://x.example/d#char=0,4;length=4,UTF-8", "http://x.example/d"),
        ("http://x.example/d#offset_0_4", "http://x.example/d"),
        ("http://x.example/d#offset_0_4_Avon", "http://x.example/d"),
        ("http://x.example/d#doc1&char=0,4", "http://x.example/d#doc1"),
        ("http://x.example/d#doc1", "http://x.example/d#doc1"),
        ("http://x.example/d#doc1&doc2", "http://x.example/d#doc1&doc2"),
        ("http://x.example/d#character", "http://x.example/d#character"),
        ("http://x.example/d#offset_note", "http://x.example/d#offset_note"),
        ("http://x.example/d?a=b&char=0,4", "http://x.example/d?a=b&char=0,4"),
        ("http://x.example/d", "http://x.example/d"),
    ],
)
def test_of_a_contexts_uri_only_the_place_is_cut_off(context: str, uri: str) -> None:
    assert parse(f'{HEAD}<{context}> nif:isString "Avon" .') == [NifDocument(uri, "Avon")]


@pytest.mark.parametrize(
    "contexts",
    [
        ("http://x.example/c#doc1", "http://x.example/c#doc2"),
        ("http://x.example/c#char=0,4", "http://x.example/c#char=5,9"),
        ("http://x.example/c", "http://x.example/c#char=0,4"),
    ],
)
def test_contexts_that_differ_in_the_fragment_stay_apart_when_read_and_when_written(contexts: tuple[str, str]) -> None:
    said = "".join(
        f'<{context}> nif:isString "{text}" .'
        f" <urn:{text}> nif:referenceContext <{context}> ; nif:beginIndex 0 ; nif:endIndex 4 ."
        for context, text in zip(contexts, ("Avon", "Dale"), strict=True)
    )
    found = parse(HEAD + said)
    assert found == [
        NifDocument(contexts[0], "Avon", (Phrase(0, 4),)),
        NifDocument(contexts[1], "Dale", (Phrase(0, 4),)),
    ]
    written = to_turtle(found)
    assert parse(written) == found
    # A URI has one fragment at most.
    assert max(str(subject).count("#") for subject in Graph().parse(data=written).subjects()) == 1
