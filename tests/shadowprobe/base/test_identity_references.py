"""References as linkers write them: page ids, QIDs, NIL, and the URIs of Wikipedia, DBpedia, YAGO and Wikidata."""

from __future__ import annotations

import pytest

from shadowprobe.base.identity import (
    Reference,
    dbpedia_uri,
    is_nil,
    parse,
    unescape_yago,
    wikidata_uri,
    wikipedia_uri,
    yago_id,
)


@pytest.mark.parametrize(
    "uri",
    [
        "https://en.wikipedia.org/wiki/Mercury_(planet)",
        "http://en.wikipedia.org/wiki/Mercury_(planet)",
        "HTTPS://EN.Wikipedia.ORG/wiki/Mercury_(planet)",
        "https://en.m.wikipedia.org/wiki/Mercury_(planet)",
        "https://m.wikipedia.org/wiki/Mercury_(planet)",
        "https://www.wikipedia.org/wiki/Mercury_(planet)",
        "https://en.wikipedia.org:443/wiki/Mercury_(planet)",
        "https://en.wikipedia.org/wiki/Mercury%20(planet)",
        "https://en.wikipedia.org/wiki/Mercury_%28planet%29#Orbit",
        "https://en.wikipedia.org/wiki/mercury_(planet)?oldid=12345",
        "https://en.wikipedia.org/wiki/Mercury_(planet)?redirect=no&action=raw",
        "https://en.wikipedia.org/w/index.php?title=Mercury_(planet)",
        "https://en.wikipedia.org/w/index.php?title=Mercury+%28planet%29&oldid=12345",
        "https://en.wikipedia.org/w/index.php?oldid=12345&amp;title=Mercury_(planet)#Orbit",
        "  https://en.wikipedia.org/wiki/Mercury_(planet)\n",
        "http://dbpedia.org/resource/Mercury_(planet)",
        "https://dbpedia.org/page/Mercury_(planet)",
        "http://www.dbpedia.org/resource/Mercury_%28planet%29",
        "http://en.dbpedia.org/resource/Mercury_(planet)",
    ],
)
def test_addresses_of_the_english_wikipedia_and_dbpedia_give_title_and_language(uri: str) -> None:
    assert parse(uri) == Reference(title="Mercury (planet)", language="en")


@pytest.mark.parametrize(
    "reference",
    [
        "YAGO:Mercury_(planet)",
        "yago:Mercury_(planet)",
        "YAGO:Mercury_\\u0028planet\\u0029",
        "http://yago-knowledge.org/resource/Mercury_(planet)",
        "https://www.yago-knowledge.org/resource/Mercury_\\u0028planet\\u0029",
        "Mercury_(planet)",
        " Mercury (planet) ",
    ],
)
def test_yago_identifiers_and_plain_titles_give_the_title(reference: str) -> None:
    assert parse(reference) == Reference(title="Mercury (planet)")


@pytest.mark.parametrize(
    ("uri", "title", "language"),
    [
        ("https://de.wikipedia.org/wiki/Merkur_(Planet)", "Merkur (Planet)", "de"),
        ("https://de.m.wikipedia.org/wiki/Merkur_(Planet)", "Merkur (Planet)", "de"),
        ("http://fr.dbpedia.org/resource/Mercure_(plan%C3%A8te)", "Mercure (planète)", "fr"),
        ("https://zh-min-nan.wikipedia.org/wiki/Chuí-chheⁿ", "Chuí-chheⁿ", "zh-min-nan"),
        ("https://simple.wikipedia.org/wiki/Mercury", "Mercury", "simple"),
    ],
)
def test_other_editions_keep_their_language(uri: str, title: str, language: str) -> None:
    assert parse(uri) == Reference(title=title, language=language)


@pytest.mark.parametrize(
    ("uri", "title"),
    [
        ("https://en.wikipedia.org/wiki/Who's_Afraid_of_Virginia_Woolf?", "Who's Afraid of Virginia Woolf?"),
        ("http://dbpedia.org/resource/Who's_Afraid_of_Virginia_Woolf?", "Who's Afraid of Virginia Woolf?"),
        ("http://dbpedia.org/resource/Who's_Afraid_of_Virginia_Woolf%3F", "Who's Afraid of Virginia Woolf?"),
        ("https://en.wikipedia.org/wiki/What's_Up,_Doc?_(1950_film)", "What's Up, Doc? (1950 film)"),
        ("https://en.wikipedia.org/wiki/AC/DC", "AC/DC"),
        ("https://en.wikipedia.org/wiki/AC%2FDC", "AC/DC"),
        ("http://dbpedia.org/resource/AC/DC", "AC/DC"),
        ("https://en.wikipedia.org/wiki//dev/null", "/dev/null"),
        ("https://en.wikipedia.org/wiki/2001:_A_Space_Odyssey", "2001: A Space Odyssey"),
        ("https://en.wikipedia.org/wiki/C++", "C++"),
        ("https://en.wikipedia.org/w/index.php?title=C%2B%2B", "C++"),
        ("https://en.wikipedia.org/w/index.php?title=AT%26T&redirect=no", "AT&T"),
        ("https://en.wikipedia.org/w/index.php?title=Caf%E9", "Caf%E9"),
        ("https://en.wikipedia.org/wiki/100%25", "100%"),
        ("http://dbpedia.org/resource/%22Heroes%22", '"Heroes"'),
        ("https://en.wikipedia.org/wiki/Q10", "Q10"),
        ("http://dbpedia.org/resource/Q10", "Q10"),
    ],
)
def test_signs_that_mean_something_in_a_uri_survive_in_a_title(uri: str, title: str) -> None:
    assert parse(uri) == Reference(title=title, language="en")


@pytest.mark.parametrize(
    "reference",
    [
        "curid:736",
        "curid=736",
        "https://en.wikipedia.org/?curid=736",
        "https://en.wikipedia.org/wiki?curid=736",
        "http://en.m.wikipedia.org/w/index.php?action=view&curid=736",
    ],
)
def test_page_ids_are_read_from_curid(reference: str) -> None:
    assert parse(reference).page_id == 736
    assert parse(reference).title is None


@pytest.mark.parametrize("number", ["-1", "", "7x", "٣", "9" * 5000])
def test_a_curid_that_is_no_number_of_a_page_is_not_a_page_id(number: str) -> None:
    assert parse(f"curid:{number}").page_id is None
    assert parse(f"https://en.wikipedia.org/?curid={number}").page_id is None


@pytest.mark.parametrize(
    "reference",
    [
        "http://www.wikidata.org/entity/Q42",
        "https://www.wikidata.org/wiki/Q42",
        "https://www.wikidata.org/wiki/Q42?uselang=de#P31",
        "https://m.wikidata.org/wiki/Q42",
        "http://wikidata.org/entity/q42",
        "http://wikidata.dbpedia.org/resource/Q42",
        "wd:Q42",
        "WD:q42",
        "wikidata:Q42",
    ],
)
def test_wikidata_references_give_the_qid_and_no_title(reference: str) -> None:
    assert parse(reference) == Reference(qid="Q42")


@pytest.mark.parametrize("reference", ["Q42", "q42", " Q42\n"])
def test_a_bare_qid_may_be_a_title_too(reference: str) -> None:
    assert parse(reference) == Reference(title="Q42", qid="Q42")


@pytest.mark.parametrize("reference", ["Q0", "Q-1", "Q042", "Q42b", "Q 42", "Q", "Q٤٢"])
def test_what_only_resembles_a_qid_is_a_title(reference: str) -> None:
    assert parse(reference) == Reference(title=reference)


def test_the_fragment_of_an_unknown_uri_distinguishes_entities() -> None:
    assert parse("http://kb.example/all#Paris") != parse("http://kb.example/all#London")
    assert parse("http://kb.example/S%C3%A3o") == parse("http://kb.example/São")


@pytest.mark.parametrize(
    "reference", ["http://", "https://[", "http://[::1", "http://\uff0fx", "http://en.wikipedia.org"]
)
def test_a_broken_address_is_read_without_an_error(reference: str) -> None:
    found = parse(reference)
    assert (found.page_id, found.qid) == (None, None)


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        ("S\\u00e3o_Paulo", "São_Paulo"),
        ("S\\u00E3o_Paulo", "São_Paulo"),
        ("\\ud83d\\ude02", "😂"),
        ("O\\u0027Brien", "O'Brien"),
        # Half a pair means nothing and stays.
        ("A\\ud83d", "A\\ud83d"),
        ("A\\u00e", "A\\u00e"),
        ("A\\n", "A\\n"),
    ],
)
def test_yagos_escapes_are_undone(escaped: str, plain: str) -> None:
    assert unescape_yago(escaped) == plain


def test_each_knowledge_base_gets_its_own_form_of_a_title() -> None:
    assert wikipedia_uri("São Paulo (state)") == "https://en.wikipedia.org/wiki/S%C3%A3o_Paulo_(state)"
    assert wikipedia_uri("What? 100%", "de") == "https://de.wikipedia.org/wiki/What%3F_100%25"
    assert dbpedia_uri("São Paulo") == "http://dbpedia.org/resource/S%C3%A3o_Paulo"
    assert dbpedia_uri("AC/DC", "fr") == "http://fr.dbpedia.org/resource/AC/DC"
    assert yago_id("São Paulo") == "YAGO:S\\u00e3o_Paulo"
    assert yago_id("😂 (sign)") == "YAGO:\\ud83d\\ude02_(sign)"
    assert wikidata_uri("Q42") == "http://www.wikidata.org/entity/Q42"


def test_a_backslash_in_a_title_survives_yagos_escapes() -> None:
    title = "A\\u0042c"
    assert parse(yago_id(title)).title == title


@pytest.mark.parametrize(
    "reference",
    [
        "http://aksw.org/notInWiki/Utah",
        "http://aksw.org/notinwiki/Utah",
        "http://aksw.org/notInWiki/",
        "https://aksw.org/notInWiki/Utah",
        "http://aksw.org/unknown_entity/Utah",
        "HTTP://AKSW.ORG/UNKNOWN_ENTITY/1",
        "http://ns.aksw.org/fox/resource#Utah",
        "http://ns.aksw.org/FOX/resource#Utah",
        "http://www.wikidata.org/entity/null",
        " http://aksw.org/notInWiki/Utah\n",
        "NIL",
        "nil",
        "--NME--",
    ],
)
def test_every_way_to_say_nil_is_known(reference: str) -> None:
    assert is_nil(reference)


@pytest.mark.parametrize(
    "reference",
    [
        "Nile",
        "NIL (programming language)",
        "Senegal",
        "",
        "http://dbpedia.org/resource/NIL",
        "https://en.wikipedia.org/wiki/Nil",
        "http://aksw.org/Utah",
        "http://aksw.org/notInWikiAtAll",
        "http://dbpedia.org/resource/http://aksw.org/notInWiki/Utah",
        "http://www.wikidata.org/entity/Q42",
        "http://www.wikidata.org/entity/nullify",
        "Null",
    ],
)
def test_what_names_an_entity_is_not_nil(reference: str) -> None:
    assert not is_nil(reference)
