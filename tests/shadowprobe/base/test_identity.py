"""Titles: every way to write one gives the same one, as MediaWiki has it."""

from __future__ import annotations

import pytest

from shadowprobe.base.identity import normalise_title

LEFT_TO_RIGHT_MARK = "\u200e"
GREEK_QUESTION_MARK = "\u037e"


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Mercury (planet)", "Mercury (planet)"),
        ("Mercury_(planet)", "Mercury (planet)"),
        ("  Mercury _ __ (planet)_\n", "Mercury (planet)"),
        ("Mercury\u00a0(planet)", "Mercury (planet)"),
        ("New\u2009York\u3000City", "New York City"),
        (f"{LEFT_TO_RIGHT_MARK}Haifa\u202c", "Haifa"),
        ("", ""),
        ("_", ""),
        (LEFT_TO_RIGHT_MARK, ""),
    ],
)
def test_underscores_and_all_kinds_of_space_are_one_space_and_none_at_the_ends(written: str, title: str) -> None:
    assert normalise_title(written) == title


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Mercury#Orbit", "Mercury"),
        ("Mercury_#_Orbit", "Mercury"),
        ("Mercury%23Orbit", "Mercury"),
        ("Mercury#Orbit#Tilt", "Mercury"),
        ("#Orbit", ""),
    ],
)
def test_a_section_is_dropped(written: str, title: str) -> None:
    assert normalise_title(written) == title


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Mercury%20%28planet%29", "Mercury (planet)"),
        ("S%C3%A3o_Paulo", "São Paulo"),
        ("S%c3%a3o_Paulo", "São Paulo"),
        ("%F0%9F%98%82", "😂"),
        ("AC%2FDC", "AC/DC"),
        ("AT%26T", "AT&T"),
        ("C%2B%2B", "C++"),
        ("C++", "C++"),
        ("%22Heroes%22_(David_Bowie_album)", '"Heroes" (David Bowie album)'),
        ("Who%27s_Who%3F", "Who's Who?"),
        ("100%25", "100%"),
    ],
)
def test_percent_encoding_is_undone_and_a_plus_sign_stays(written: str, title: str) -> None:
    assert normalise_title(written) == title


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("AT%2526T", "AT&T"),
        ("S%25C3%25A3o", "São"),
        ("S%252525C3%252525A3o", "São"),
        ("AT&amp;amp;T", "AT&T"),
        ("AT%26amp%3BT", "AT&T"),
        ("AT&#37;26T", "AT&T"),
        ("100%2525", "100%"),
    ],
)
def test_what_was_encoded_twice_is_decoded_twice(written: str, title: str) -> None:
    assert normalise_title(written) == title


@pytest.mark.parametrize("title", ["100%", "50% Off", "%", "%%", "100% (film)", "5%G1", "%4", "Snow%Z9"])
def test_a_percent_sign_that_encodes_nothing_is_part_of_the_title(title: str) -> None:
    assert normalise_title(title) == title


@pytest.mark.parametrize(
    ("written", "title"),
    [
        # E9 is é in Latin-1 and the start of three bytes in UTF-8.
        ("Caf%E9", "Caf%E9"),
        ("Caf%e9", "Caf%E9"),
        ("Caf%E9%20de%20Flore", "Caf%E9 de Flore"),
        ("%C3%28", "%C3("),
        # A surrogate, an overlong slash, a code point past the last one, half a character.
        ("A%ED%A0%80", "A%ED%A0%80"),
        ("A%C0%AF", "A%C0%AF"),
        ("A%F4%90%80%80", "A%F4%90%80%80"),
        ("A%F0%9F", "A%F0%9F"),
    ],
)
def test_bytes_that_are_not_utf8_stay_encoded_and_the_rest_is_decoded(written: str, title: str) -> None:
    assert normalise_title(written) == title


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("AT&amp;T", "AT&T"),
        ("Who&#39;s Who", "Who's Who"),
        ("Who&#x27;s Who", "Who's Who"),
        ("Who&#X27;s Who", "Who's Who"),
        ("S&atilde;o Paulo", "São Paulo"),
        ("New&nbsp;York", "New York"),
        ("&quot;Heroes&quot;", '"Heroes"'),
        ("&#128514;", "😂"),
        (f"AT&amp{GREEK_QUESTION_MARK}T", "AT&T"),
        ("AT&amp", "AT&amp"),
        ("AT&amp T", "AT&amp T"),
        ("R&B", "R&B"),
        ("R&B; Soul", "R&B; Soul"),
        # No such name; `&not` at its start is not meant.
        ("&notit;", "&notit;"),
        ("A&nosuchname;B", "A&nosuchname;B"),
        # Half a surrogate pair and a number past the last character mean nothing, and `#` begins a section.
        ("A&#xD800;", "A&"),
        ("A&#9999999;", "A&"),
    ],
)
def test_html_references_are_undone_where_they_are_whole(written: str, title: str) -> None:
    assert normalise_title(written) == title


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Cafe\u0301", "Caf\u00e9"),
        ("A\u030angstro\u0308m", "\u00c5ngstr\u00f6m"),
        ("\u212bngstr\u00f6m", "\u00c5ngstr\u00f6m"),
        ("\u1112\u1161\u11ab", "\ud55c"),
        ("Cafe%CC%81", "Caf\u00e9"),
        (f"Cafe{LEFT_TO_RIGHT_MARK}\u0301", "Caf\u00e9"),
        # NFC and not NFKC: the ligature is another letter.
        ("A\ufb01", "A\ufb01"),
    ],
)
def test_composed_and_decomposed_letters_are_the_same(written: str, title: str) -> None:
    assert normalise_title(written) == title


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("mercury", "Mercury"),
        ("iPod", "IPod"),
        ("eBay", "EBay"),
        ("(planet)", "(planet)"),
        ("élan", "Élan"),
        ("e\u0301lan", "Élan"),
        ("øresund", "Øresund"),
        ("λάμδα", "Λάμδα"),
        ("москва", "Москва"),
        ("ёлка", "Ёлка"),
        ("ısparta", "Isparta"),
        ("istanbul", "Istanbul"),
        ("i\u0307stanbul", "İstanbul"),
        ("\U00010428 \U00010428", "\U00010400 \U00010428"),
        ("東京", "東京"),
        ("😂 emoji", "😂 emoji"),
        ("mERCURY", "MERCURY"),
    ],
)
def test_only_the_first_letter_becomes_upper_case(written: str, title: str) -> None:
    assert normalise_title(written) == title


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("ß (letter)", "ß (letter)"),
        ("ŉ", "ŉ"),
        ("ǰ", "ǰ"),
        ("ﬁ", "ﬁ"),
        ("ΐ", "ΐ"),
        ("ა", "ა"),
        ("ვიკიპედია", "ვიკიპედია"),
        ("ⓐ", "ⓐ"),
        ("ⅷ", "ⅷ"),
        ("ᾳ", "ᾼ"),
        ("ǆ", "Ǆ"),
        ("ǅ", "ǅ"),
    ],
)
def test_letters_without_a_plain_upper_case_follow_wikimedias_table(written: str, title: str) -> None:
    # wmf-config/UcfirstOverrides.php of wikimedia/operations-mediawiki-config
    assert normalise_title(written) == title
