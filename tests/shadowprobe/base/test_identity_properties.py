"""What holds for any title and any text, however strange."""

from __future__ import annotations

import json
import tempfile
import unicodedata
from pathlib import Path
from urllib.parse import quote

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from shadowprobe.base.identity import (
    Reference,
    Resolver,
    dbpedia_uri,
    is_nil,
    normalise_title,
    parse,
    read_redirects,
    unescape_yago,
    wikidata_uri,
    wikipedia_uri,
    yago_id,
)
from shadowprobe.base.model import Entity

untimed = settings(deadline=None, max_examples=200)

# Pieces that mean something to one of the layers: percent-encoding, HTML, YAGO, URIs, NFC, case, MediaWiki.
PIECES = [
    *("%", "%4", "%41", "%25", "%2541", "%C3", "%A9", "%C3%A9", "%E2%80%8E", "%23", "%00", "%ED%A0%80", "+"),
    *("&", "amp", ";", "\u037e", "&amp;", "&amp;amp;", "&#39;", "&#x", "&not", "&notit;", "&#xD800;"),
    *("\\", "u0041", "\\u0041", "\\ud83d", "\\ude02", "YAGO:", "wd:", "curid:", "Q", "10", "Q42", "nil"),
    *("#", "?", "?title=", "&curid=", "/", "//", "/wiki/", ":", "[", "]", "@", "http://", "https://"),
    *("en.wikipedia.org", "de.wikipedia.org/wiki/", "dbpedia.org", "www.wikidata.org/entity/", "aksw.org/notInWiki/"),
    *("\u200e", "\u202e", "\u0301", "\u0307", "\u0345", "\u212a", " ", "_", "\u00a0", "\n", "a", "i", "j"),
    *("ß", "ı", "İ", "ǆ", "ǅ", "ა", "ᾳ", "ﬁ", "ŉ", "ς", "\U0001f602", "\U00010428"),
]
anything = st.lists(st.sampled_from(PIECES) | st.text(st.characters(), max_size=3), max_size=8).map("".join)

# What MediaWiki forbids in a title: these signs, control characters, halves of surrogate pairs, U+FFFD; and the code
# points that Unicode keeps free of characters, which HTML has no reference for.
NO_CHARACTERS = [*range(0xFDD0, 0xFDF0), *(plane << 16 | last for plane in range(17) for last in (0xFFFE, 0xFFFF))]
FORBIDDEN = dict.fromkeys([*map(ord, "#<>[]|{}\ufffd"), *NO_CHARACTERS])


def as_title(text: str) -> str:
    legal = "".join(sign for sign in text.translate(FORBIDDEN) if unicodedata.category(sign) not in {"Cc", "Cs"})
    # Decoding may have brought out more of them.
    title = normalise_title(legal)
    return title if title == legal else as_title(title)


titles = anything.map(as_title).filter(bool)
page_ids = st.integers(min_value=1, max_value=10**9)
qids = st.integers(min_value=1, max_value=10**9).map("Q{}".format)


def written(title: str) -> dict[str, str]:
    """A title in every form that cannot be taken for something else."""
    underscored = title.replace(" ", "_")
    return {
        "Wikipedia": wikipedia_uri(title),
        "mobile": wikipedia_uri(title).replace("https://en.", "http://en.m.", 1),
        "index.php": "https://en.wikipedia.org/w/index.php?title=" + quote(title, safe="").replace("%20", "+"),
        "with a section": f"{wikipedia_uri(title)}#History",
        "encoded twice": "https://en.wikipedia.org/wiki/" + quote(quote(underscored, safe=""), safe=""),
        "in HTML": "https://en.wikipedia.org/wiki/" + quote("".join(f"&#{ord(sign)};" for sign in title), safe=""),
        "decomposed": wikipedia_uri(unicodedata.normalize("NFD", title)),
        "DBpedia": dbpedia_uri(title),
        "English DBpedia": dbpedia_uri(title).replace("dbpedia", "en.dbpedia", 1),
        "YAGO": yago_id(title),
        "YAGO URI": "http://yago-knowledge.org/resource/" + quote(yago_id(title).removeprefix("YAGO:"), safe="\\"),
    }


def is_plain(title: str) -> bool:
    """True for a title that is not also a reference of another kind."""
    return parse(title) == Reference(title=title)


@untimed
@given(anything)
@example("%4\u200e1")
@example("&am%E2%80%8Ep;")
@example("&amp\u037e")
@example("%C3\u200e%A9")
@example("\u0345\u0301")
def test_normalising_twice_is_normalising_once(text: str) -> None:
    once = normalise_title(text)
    assert normalise_title(once) == once


@untimed
@given(anything)
def test_a_normalised_title_has_single_spaces_inside_and_is_nfc(text: str) -> None:
    title = normalise_title(text)
    assert title == " ".join(title.split(" ")) == title.strip(" ")
    assert "_" not in title
    assert "#" not in title
    assert unicodedata.is_normalized("NFC", title)


@untimed
@given(titles)
def test_the_first_letter_may_be_written_small(title: str) -> None:
    small = title[0].lower()
    assume(small.upper() == small.title() == title[0])
    assert normalise_title(small + title[1:]) == title


@untimed
@given(titles)
def test_a_title_survives_percent_encoding_underscores_and_html(title: str) -> None:
    assert normalise_title(quote(title, safe="")) == title
    assert normalise_title(title.replace(" ", "_")) == title
    assert normalise_title("".join(f"&#x{ord(sign):x};" for sign in title)) == title


@untimed
@given(titles)
def test_a_title_survives_decomposition(title: str) -> None:
    # A bare percent sign before `é` would then stand before two hexadecimal digits and an accent.
    assume("%" not in title)
    assert normalise_title(unicodedata.normalize("NFD", title)) == title


@untimed
@given(titles, st.sampled_from(["en", "de", "zh-min-nan", "simple"]))
@example("AC/DC", "en")
@example("A\\u0041", "en")
@example("/dev/null?", "en")
@example("%C3\u00e9", "en")
def test_a_title_survives_each_uri_and_back(title: str, language: str) -> None:
    assert parse(wikipedia_uri(title, language)) == Reference(title=title, language=language)
    assert parse(dbpedia_uri(title, language)) == Reference(title=title, language=language)
    assert parse(yago_id(title)) == Reference(title=title)


@untimed
@given(st.text())
def test_a_yago_identifier_is_ascii_and_nothing_is_lost_in_it(name: str) -> None:
    assume("_" not in name)
    identifier = yago_id(name)
    assert identifier.isascii()
    assert unescape_yago(identifier.removeprefix("YAGO:")).replace("_", " ") == name


@untimed
@given(titles)
@example("%4é")
@example(";\u0307")
def test_every_form_of_a_known_title_means_its_entity(title: str) -> None:
    resolver = Resolver([Entity(title), Entity(f"{title} (film)")])
    for form, reference in written(title).items():
        assert resolver.resolve(reference) == (title, "title", False), form


@untimed
@given(titles)
@example("%4é")
@example(";\u0307")
def test_every_form_of_an_unknown_title_is_the_same_unknown_entity(title: str) -> None:
    resolver = Resolver([Entity(f"{title} (film)")])
    for form, reference in written(title).items():
        assert resolver.resolve(reference) == (title, "unresolved", False), form


@untimed
@given(titles)
def test_a_title_of_another_edition_never_means_the_entity(title: str) -> None:
    resolver = Resolver([Entity(title)])
    for reference in (wikipedia_uri(title, "de"), dbpedia_uri(title, "fr")):
        assert resolver.resolve(reference).rule == "unresolved"


@untimed
@given(qids)
def test_a_qid_survives_each_form(qid: str) -> None:
    assert parse(wikidata_uri(qid)) == Reference(qid=qid)
    assert parse(f"https://www.wikidata.org/wiki/{qid.lower()}").qid == qid
    assert parse(f"wd:{qid}").qid == parse(qid.lower()).qid == qid


@untimed
@given(anything, page_ids | st.none(), (qids | anything) | st.none(), st.lists(titles, max_size=3, unique=True))
@example("http://www.wikidata.org/entity/Q10", None, None, ["Q10"])
@example("curid:" + "9" * 5000, None, None, [])
@example("#x", None, None, [])
def test_any_text_can_be_resolved_and_is_unresolved_exactly_if_the_dataset_does_not_know_it(
    text: str, page_id: int | None, qid: str | None, known: list[str]
) -> None:
    is_nil(text)
    found = Resolver(map(Entity, known)).resolve(text, page_id, qid)
    assert (found.rule == "unresolved") == (found.entity not in known)


@untimed
@given(titles, qids)
def test_a_reference_into_a_knowledge_base_is_never_nil(title: str, qid: str) -> None:
    assert not is_nil(wikidata_uri(qid))
    for form, reference in written(title).items():
        assert not is_nil(reference), form


@untimed
@given(titles)
def test_a_plain_title_is_nil_only_if_it_is_a_word_for_it(title: str) -> None:
    assume(is_plain(title) and not title.lower().startswith("http"))
    assert is_nil(title) == (title.lower() in {"nil", "--nme--"})


@untimed
@given(
    st.lists(titles, min_size=3, max_size=3, unique=True),
    st.lists(page_ids, min_size=4, max_size=4, unique=True),
    st.lists(qids, min_size=4, max_size=4, unique=True),
    st.tuples(*[st.sampled_from(["known", "unknown", "absent"])] * 3),
)
def test_a_page_id_goes_before_a_qid_and_a_qid_before_a_title(
    names: list[str], pages: list[int], items: list[str], given_as: tuple[str, str, str]
) -> None:
    """The page id is that of the first entity, the QID that of the second, the title that of the third."""
    by_page, by_qid, by_title = given_as
    resolver = Resolver(map(Entity, names, pages, items))
    unknown = max(names, key=len) + " (unknown)"
    found = resolver.resolve(
        {"known": wikipedia_uri(names[2]), "unknown": wikipedia_uri(unknown), "absent": None}[by_title],
        {"known": pages[0], "unknown": pages[3], "absent": None}[by_page],
        {"known": items[1], "unknown": items[3], "absent": None}[by_qid],
    )
    contradicted = by_page == "unknown"
    expected = [
        *([(names[0], "page_id", False)] if by_page == "known" else []),
        *([(names[1], "qid", contradicted)] if by_qid == "known" else []),
        *([(names[2], "title", contradicted)] if by_title == "known" else []),
    ]
    assert found == expected[0] if expected else found.rule == "unresolved"


letters = st.sampled_from("ABCDEFGH")


@untimed
@given(st.dictionaries(letters, letters), st.sets(letters, max_size=3), st.dictionaries(letters, letters, max_size=2))
def test_a_redirect_and_its_target_are_the_same_entity_however_the_table_winds(
    table: dict[str, str], known: set[str], of_the_dataset: dict[str, str]
) -> None:
    of_the_dataset = {old: new for old, new in of_the_dataset.items() if new in known and old not in known}
    entities = [
        Entity(title, redirects=tuple(old for old, new in of_the_dataset.items() if new == title))
        for title in sorted(known)
    ]
    resolver = Resolver(entities, redirects=table)
    for title in known:
        assert resolver.resolve(title) == (title, "title", False)
    for old, new in of_the_dataset.items():
        assert resolver.resolve(old) == (new, "redirect", False)
    for old, new in table.items():
        if old not in known and old not in of_the_dataset:
            assert resolver.resolve(old).entity == resolver.resolve(new).entity
    for answer in "ABCDEFGH":
        found = resolver.resolve(answer)
        assert (found.rule == "unresolved") == (found.entity not in known)


@untimed
@given(st.dictionaries(titles, titles, max_size=5))
def test_a_redirect_table_is_the_same_from_either_kind_of_file(table: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines, mapping = Path(folder) / "table.tsv", Path(folder) / "table.json"
        lines.write_text("".join(f"{old}\t{new}\n" for old, new in table.items()), encoding="utf-8")
        mapping.write_text(json.dumps(table), encoding="utf-8")
        assert read_redirects(lines) == read_redirects(mapping) == table
