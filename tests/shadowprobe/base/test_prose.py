"""The text of a page and its sentences, on pages and sentences written by hand."""

from __future__ import annotations

import unicodedata
from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowprobe.base.prose import Prose, compose_accents
from shadowprobe.base.spans import Span
from shadowprobe.build.web.main_text import main_text

PARAGRAPHS = (
    "The designer Paul Smith opened his first shop in Nottingham, where he sold shirts on two days of the week.",
    "Ten years later there were shops in four countries, and most of what they sold was made in England.",
    "He has said in many interviews that a good stripe is worth more than a loud slogan on a plain shirt.",
)
MENU = "<nav><ul><li><a href='/'>Home</a></li><li><a href='/shop'>Shop</a></li></ul></nav>"
TABLE = "<table><tr><td>Turnover in the year of the opening</td><td>4,000 pounds</td></tr></table>"
COMMENTS = "<div id='comments' class='comments'><p>What a fine shirt that was, said a reader of this page.</p></div>"


def page(*paragraphs: str, around: str = "") -> str:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<html><head><title>Shirts</title></head><body>{MENU}<article>{body}{around}</article></body></html>"


@pytest.fixture(scope="module")
def english() -> Prose:
    return Prose("en")


@pytest.fixture(scope="module")
def german() -> Prose:
    return Prose("de")


def split(prose: Prose, text: str, *names: Span) -> list[str]:
    return [text[span.start : span.end] for span in prose.sentences(text, names)]


def test_the_main_text_is_the_paragraphs_a_line_each() -> None:
    assert main_text(page(*PARAGRAPHS), "https://example.org/shirts").splitlines() == list(PARAGRAPHS)


def test_tables_and_comments_are_left_out() -> None:
    found = main_text(page(*PARAGRAPHS, around=TABLE + COMMENTS), "https://example.org/shirts")
    assert "Turnover" not in found
    assert "fine shirt" not in found


@pytest.mark.parametrize(
    "html", ["", "   ", "no page", "<p>", "\x00", "<html></html>", "<div>" * 3000, "%PDF-1.4 1 0 obj", "\ud800" * 20]
)
def test_what_is_no_page_has_no_text(html: str) -> None:
    assert main_text(html, "https://example.org/") == ""


def test_the_text_does_not_depend_on_the_pages_before_it() -> None:
    first = main_text(page(*PARAGRAPHS), "https://example.org/1")
    for _ in range(5):
        assert main_text(page(*PARAGRAPHS), "https://example.org/2") == first


def test_a_letter_and_its_accent_become_one_character() -> None:
    apart = [unicodedata.normalize("NFD", f"{paragraph} Köln and Zoë.") for paragraph in PARAGRAPHS]
    found = main_text(page(*apart), "https://example.org/")
    assert found.count("Köln and Zoë.") == 3
    assert unicodedata.is_normalized("NFC", found)


@pytest.mark.parametrize("beside", ["", "—" * 200, "😀" * 99, "漢" * 200])
def test_accents_are_joined_beside_long_rows_of_other_characters(beside: str) -> None:
    assert compose_accents(f"Ko\u0308ln {beside}") == f"Köln {beside}"


def test_a_heap_of_accents_is_left_as_it_is() -> None:
    # Their order is not the one that NFC has: the mark below comes first there.
    heap = "Zoe" + "\u0301\u0323" * 100
    assert compose_accents(heap) == heap
    assert compose_accents("Zoe" + "\u0301\u0323") == "Zo\u1eb9\u0301"


# Sentences are parted by a bar, which no text has.
ENGLISH = [
    "Dr. Paul Smith came with Mrs. Smith.|They left early.",
    "They prayed at St. Paul Smith Church.|It was cold.",
    "He sold clothes, e.g. Paul Smith shirts.|It went well.",
    "It was No. 5 on the list.|No. 6 was a song.",
    "He said no.|Paul asked why.",
    "J. R. R. Tolkien wrote it.|C. S. Lewis read it.",
    "J. Will Smith came.|He was late.",
    "He cited it twice (cf. Jones 1999).|Nobody read it.",
    "It grew by 3.5 per cent.|Version 2.0 came later.",
    "He was 42.|Paul Smith was 43.",
    "It began in 1999.|Paul Smith was there.",
    'He said: "I will go."|Paul Smith stayed.',
    "“Stop!” he said.|“Why?” asked Paul.",
    "(It was late.)|Paul Smith left.",
    "He waited...|Paul Smith came.",
    "He waited ... and Paul Smith came.|Then he left.",
    "He quoted “we ... Paul and I” twice.|Nobody laughed.",
    "What?!|Paul Smith laughed!|Really?|Yes.",
    "He lives in the U.S.|The house is big.",
    "He lives in the U.S. Paul Smith does too.",
    "They met at 5 p.m.|It was dark.",
    "He works for Acme Inc.|In 1999 he left.",
    "Dr. No was a film.|It did well.",
    "Prof. Will Smith teaches.|He is good.",
    "Shirts, ties, etc. were sold.|He bought all.",
    "It opened in 1999.[3]|Paul Smith was there.",
    "1. Paul Smith came first.|2. John came next.",
    "See example.org for more.|Paul Smith wrote it.",
    "Sales of it rose.|iPod sales fell.",
    "No stop at all",
]
GERMAN = [
    "Am 3. Mai kam Dr. Paul Schmidt nach Köln.|Er blieb bis zum 5. Juni.",
    "Ludwig XIV. Bourbon baute viel.|Er war König.",
    "Er mochte vieles, z. B. Schlösser.|Sie waren teuer.",
    "Er mochte vieles, z.B. Schlösser, u.a. in Köln.|Sie waren teuer.",
    "Es war im Jahr 50 v. Chr. Rom war groß.",
    "Er wurde Nr. 5 der Liste.|Die Liste war lang.",
    "Prof. Dr. h.c. Paul Schmidt lehrt.|Er lehrt gern.",
    "Er kam auf Platz 3.|Die Mannschaft feierte.",
    "„Geh!“, sagte er.|„Nein.“|Paul blieb.",
    "Das war 1999.|Paul war da.",
    "Hemden, Hosen usw. waren da.|Er kaufte alles.",
]


@pytest.mark.parametrize("text", ENGLISH)
def test_english_sentences_end_where_a_reader_ends_them(english: Prose, text: str) -> None:
    assert split(english, text.replace("|", " ")) == text.split("|")


@pytest.mark.parametrize("text", GERMAN)
def test_german_sentences_end_where_a_reader_ends_them(german: Prose, text: str) -> None:
    assert split(german, text.replace("|", " ")) == text.split("|")


def test_stops_of_other_scripts_end_a_sentence() -> None:
    assert split(Prose("zh"), "他来了。她走了！") == ["他来了。", "她走了！"]
    assert split(Prose("hi"), "वह आया। वह गया।") == ["वह आया।", "वह गया।"]


def test_a_sentence_does_not_go_beyond_its_line(english: Prose) -> None:
    assert split(english, "A heading\nPaul Smith came in Jan.\n  and left.\n") == [
        "A heading",
        "Paul Smith came in Jan.",
        "and left.",
    ]


def test_a_quotation_mark_at_the_beginning_of_a_line_belongs_to_it(english: Prose) -> None:
    assert split(english, 'A heading\n"Go," he said.\n... and left.') == [
        "A heading",
        '"Go," he said.',
        "... and left.",
    ]


def test_a_stop_within_a_name_ends_nothing(english: Prose) -> None:
    text = "He saw Help! The Film in Rome."
    assert split(english, text) == ["He saw Help!", "The Film in Rome."]
    assert split(english, text, Span(7, 21)) == [text]


def test_a_stop_at_the_end_of_a_name_ends_a_sentence_only_before_a_common_word(english: Prose) -> None:
    name = Span(13, 19)
    assert split(english, "He worked at Yahoo! Then he left.", name) == ["He worked at Yahoo!", "Then he left."]
    assert split(english, "He worked at Yahoo! Japan for long.", name) == ["He worked at Yahoo! Japan for long."]


def test_each_stop_is_held_against_its_own_name(english: Prose) -> None:
    text = "He saw Help! The Film. He saw Help! The Film was good."
    assert split(english, text, Span(7, 21)) == ["He saw Help! The Film.", "He saw Help!", "The Film was good."]
    assert split(english, text, Span(7, 21), Span(30, 44)) == ["He saw Help! The Film.", text[23:]]


class Copied(str):
    """A text that counts the characters that are copied from it."""

    copied = 0

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        found = super().__getitem__(key)
        self.copied += len(found)
        return found


def test_a_stop_takes_the_same_work_however_far_its_sentence_has_gone(english: Prose) -> None:
    def work(times: int) -> int:
        text = Copied("the Mr. Foo of " * times)
        assert len(english.sentences(text)) == 1
        return text.copied

    assert work(400) < 2.1 * work(200)


@given(st.text('ab.!?… \n"()[]1DrKö😀', max_size=60))
def test_sentences_are_in_order_and_hold_all_but_white_space(text: str) -> None:
    spans = Prose("en").sentences(text)
    assert not any("\n" in text[start:end] for start, end in spans)
    covered = [place for start, end in spans for place in range(start, end)]
    assert covered == sorted(set(covered))
    assert all(text[place].isspace() for place in range(len(text)) if place not in covered)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)


FOREIGN = {
    "de": "Das Museum wurde 1987 von der Bürgermeisterin eröffnet und hat seitdem in jedem Jahr mehr Besucher gehabt.",
    "fr": "Le musée a été ouvert par la maire en 1987 et il a depuis reçu chaque année plus de visiteurs.",
    "es": "El museo fue abierto por la alcaldesa en 1987 y desde entonces ha tenido cada año más visitantes que antes.",
    "nl": "Het museum is in 1987 door de burgemeester geopend en heeft sindsdien elk jaar meer bezoekers gehad.",
    "pt": "O museu foi aberto pela prefeita em 1987 e desde então tem sido visitado por mais pessoas a cada ano.",
    "sv": "Museet öppnades 1987 av borgmästaren och har sedan dess fått fler besökare för varje år.",
    "en": "The museum was opened by the mayor in 1987 and since then it has had more visitors in every year.",
}


@pytest.mark.parametrize("code", ["en", "de", "es"])
def test_a_text_is_foreign_in_every_language_but_its_own(code: str) -> None:
    prose = Prose(code)
    assert [other for other in FOREIGN if not prose.is_foreign(FOREIGN[other])] == [code]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("sr", "Muzej je otvorila gradonačelnica 1987. godine i od tada svake godine ima više posetilaca."),
        ("hr", "Muzej je otvorila gradonačelnica 1987. godine i od tada svake godine ima više posjetitelja."),
        ("no", "Museet ble åpnet av ordføreren i 1987 og har siden den gang hatt flere besøkende for hvert år."),
        ("nb", "Museet ble åpnet av ordføreren i 1987 og har siden den gang hatt flere besøkende for hvert år."),
        ("af", "Die museum is in 1987 deur die burgemeester geopen en het sedertdien elke jaar meer besoekers gehad."),
        ("gl", "O museo foi aberto pola alcaldesa en 1987 e desde entón tivo cada ano máis visitantes que antes."),
    ],
)
def test_a_text_is_not_foreign_where_close_languages_could_be_meant(code: str, text: str) -> None:
    assert not Prose(code).is_foreign(text)
    # Of a language that the model does not know, here `nb`, every text is taken.
    assert Prose(code).is_foreign(FOREIGN["en"]) == (code != "nb")


def test_a_language_that_spacy_does_not_know_takes_every_text() -> None:
    prose = Prose("zz")
    assert not any(prose.is_foreign(text) for text in FOREIGN.values())
    assert prose.runs(["ablo", "vetri"])
    assert split(prose, "Ablo vetri J. Smith. Vetri ablo.") == ["Ablo vetri J. Smith.", "Vetri ablo."]


def test_a_list_of_words_is_no_running_text(english: Prose) -> None:
    assert english.runs(["he", "came", "to", "the", "house"])
    assert not english.runs(["home", "shop", "contact", "press", "careers", "imprint"])


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("He left.", True),
        ("“He left.”", True),
        ("He left.[2]", True),
        ("He left", False),
        ("He said:", False),
        ("", False),
    ],
)
def test_a_whole_sentence_ends_in_a_stop(english: Prose, text: str, whole: bool) -> None:
    assert english.ends(text) is whole
