"""Stage 5: snippets cut from the text of a page around the full name of an entity.

A mention is the article's title as whole words: as it is written, but for white space, the form of an apostrophe, and
the first letter where the title has it for its place only ("The Beatles", "IPod", "Black hole"). "Paul Smith's" is a
mention; "Paul Smith-led" is none, since "Stratford-upon-Avon" is none of "Avon".
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import NamedTuple

from msgspec.structs import replace

from shadowprobe.build.languages import Language
from shadowprobe.build.records import Cut
from shadowprobe.build.text import APOSTROPHES, Prose, composed, exchanged, plain, words
from shadowprobe.formats.spans import Span, whole_words

# Why there is no snippet: of a page or entity ...
NOT_NAMED = "the page does not name the entity"
BRACKETS = "a title with brackets, as no text has it"
FOREIGN = "the page is in another language"
# ... and of a mention.
IN_WORD = "the name is part of a longer word"
IN_SNIPPET = "another mention of the same sentence"
ENOUGH = "more than enough from one page"
GIVEN_UP = "hundreds of mentions of the page made no snippet"
SHORT = "the sentence is too short"
LONG = "the sentence is too long"
NO_SENTENCE = "not a whole sentence"
LIST = "a list of names"
NOT_RUNNING = "no running text"
BOILERPLATE = "boilerplate"
OTHER_NAMED = "another entity of the space is named"
GIVEN_AWAY = "the full name stays in the text"

# Words of a sentence: those besides the name at least, all of them at most.
FEWEST_WORDS, MOST_WORDS = 6, 80
# Above these shares a sentence is a list: words with a capital letter, and separators to a word.
_MOST_CAPITALS, _MOST_SEPARATORS = 0.6, 0.34
# A longer paragraph is no running text, and a page is left after so many mentions that made no snippet.
LONGEST_PARAGRAPH, MOST_FAULTS = 20_000, 300

_IN_BRACKETS = re.compile(r" *\([^()]*\)$")
# What makes one word, address or tag of the name and its neighbour.
_GLUE = frozenset("-‐‑–_@#/\\=&%+~\u00ad\u200c\u200d")
_SPACE = r"(?:[^\S\n]+|[^\S\n]*\n[^\S\n]*)"
_START = attrgetter("start")
_BULLET = re.compile(r"[-–—•*·▪]\s+")
_SEPARATORS = re.compile(r"[,;|•·/>→]")
_LETTERS = re.compile(r"[^\W\d_]+")
_LETTERS_BEFORE = re.compile(r"[^\W\d_]+$")
_ARTICLES = {"en": {"The"}, "de": {"Der", "Die", "Das"}, "fr": {"Le", "La", "Les"}, "es": {"El", "Los", "Las"}}
# Where "l'Avon" is the article and the name, which "O'Brien" is nowhere.
_WITH_ELISION = frozenset({"ca", "fr", "it", "oc"})
# What a page says of itself and not of its subject.
_OF_THE_SITE = tuple(
    f" {phrase} "
    for phrase in (
        *("copyright", "all rights reserved", "cookie", "cookies", "privacy policy", "terms of use"),
        *("terms of service", "javascript", "newsletter", "subscribe", "sign in", "sign up", "log in", "click here"),
        *("read more", "alle rechte vorbehalten", "datenschutz", "datenschutzerklärung", "abonnieren", "weiterlesen"),
        *("hier klicken", "tous droits réservés", "cliquez ici", "todos los derechos reservados", "haga clic"),
    )
)


class _Name(NamedTuple):
    """How a title may be written in a text."""

    pattern: re.Pattern[str]
    # The longest part that is always written the same: texts without it need no closer look.
    part: str

    def matches(self, text: str) -> Iterator[Span]:
        """Every place of the name, in longer words as well."""
        match = self.pattern.search(text) if self.part in text else None
        while match is not None:
            yield Span(*match.span())
            # From the next character on, so that a name in a longer word hides none that overlaps it.
            match = self.pattern.search(text, match.start() + 1)


def _name(title: str, code: str) -> _Name:
    title = composed(title).strip()
    characters = [_character(char) for char in re.sub(r"\s+", " ", title)]
    if title and title[0].isalpha() and _first_is_free(title, code):
        characters[0] = f"[{re.escape(title[0].lower())}{re.escape(title[0].upper())}]"
    part = max(re.split(rf"[\s{APOSTROPHES}]+", title[1:]), key=len)
    return _Name(re.compile("".join(characters) or r"(?!)"), part)


def _character(char: str) -> str:
    if char == " ":
        return _SPACE
    return f"[{APOSTROPHES}]" if char in APOSTROPHES else re.escape(char)


def _first_is_free(title: str, code: str) -> bool:
    """True where the first letter is no part of the name: wikis begin every title with a capital letter."""
    first, *rest = title.split()
    letters = "".join(_LETTERS.findall("".join(rest)))
    return (
        title[0].islower()
        or title[1:2].isupper()
        or (bool(rest) and first in _ARTICLES.get(code, ()))
        # A common noun of several words; of a single word, "queen" would be taken for "Queen".
        or (bool(letters) and letters.islower())
    )


def _stands_alone(text: str, span: Span, code: str) -> bool:
    """True where the name is no part of a longer word, compound or address."""
    start, end = span
    # A mark behind the name changes its last letter; one before it belongs to the neighbour, as in many emoji.
    while start and unicodedata.category(text[start - 1]).startswith("M"):
        start -= 1
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if before.isalnum() or after.isalnum() or before in _GLUE or after in _GLUE:
        return False
    if after and unicodedata.category(after).startswith("M"):
        return False
    if (after == "." and text[end + 1 : end + 2].isalnum()) or (before == "." and text[max(0, start - 2)].isalnum()):
        return False
    if after and after in APOSTROPHES:
        suffix = _LETTERS.match(text, end + 1)
        if suffix is not None and suffix[0] not in {"s", "S"}:
            return False
    if before and before in APOSTROPHES:
        prefix = _LETTERS_BEFORE.search(text[max(0, start - 20) : start - 1])
        return prefix is None or (code in _WITH_ELISION and prefix[0].islower())
    return True


class _Page:
    """A text, and the mentions of one entity in it, in order."""

    def __init__(self, text: str, mentions: list[Span], prose: Prose) -> None:
        self.text, self.mentions, self._prose = text, mentions, prose
        # A line that is broken within a mention goes on.
        self._lines = exchanged(text, [(span, text[span.start : span.end].replace("\n", " ")) for span in mentions])
        self._paragraph, self._sentences = Span(0, 0), list[Span]()

    def sentences(self, mention: Span) -> tuple[list[Span], int]:
        """The sentences of the paragraph in which a mention stands, and which of them has it.

        A paragraph that is too long is not looked into: it is one sentence.
        """
        if not self._paragraph.start <= mention.start < self._paragraph.end:
            start, end = self._lines.rfind("\n", 0, mention.start) + 1, self._lines.find("\n", mention.end)
            self._paragraph = Span(start, end if end >= 0 else len(self.text))
            self._sentences = [self._paragraph]
            if self._paragraph.end - start <= LONGEST_PARAGRAPH:
                found = self._prose.sentences(self._lines[start : self._paragraph.end], self.within(self._paragraph))
                self._sentences = [Span(start + each.start, start + each.end) for each in found]
        return self._sentences, bisect_right(self._sentences, mention.start, key=_START) - 1

    def within(self, span: Span) -> list[Span]:
        """The mentions inside a span, counted from its start."""
        first, behind = (bisect_left(self.mentions, place, key=_START) for place in span)
        # A mention may begin within the span and end behind it, if it is the last.
        behind -= behind > first and self.mentions[behind - 1].end > span.end
        return [Span(start - span.start, end - span.start) for start, end in self.mentions[first:behind]]


class Cutter:
    """Cuts snippets from pages in one language."""

    def __init__(self, language: Language, *, sentences: int = 0, most: int = 10) -> None:
        self._prose = Prose(language.code)
        self._code, self._around, self._most = language.code, sentences, most
        self._told: set[str] = set()
        # The pages of an entity follow one another, as do the entities of a space.
        self._name = lru_cache(maxsize=4096)(partial(_name, code=language.code))

    def cut(
        self, text: str, entity: str, space: str, others: Sequence[str], url: str, dropped: Counter[str]
    ) -> list[Cut]:
        """A snippet for each sentence that names the entity, with the space's name in the place of its own.

        All its mentions are replaced, and the first one in the sentence is asked about. No two share a sentence.
        """
        text = composed(text)
        mentions = self._mentions(text, entity, dropped)
        if mentions and self._prose.is_foreign(text):
            dropped[FOREIGN] += 1
            return []
        page = _Page(text, mentions, self._prose)
        cuts: list[Cut] = []
        taken = ended = faults = 0
        for place, mention in enumerate(mentions):
            if len(cuts) >= self._most or faults >= MOST_FAULTS:
                dropped[ENOUGH if len(cuts) >= self._most else GIVEN_UP] += len(mentions) - place
                break
            if mention.start < taken:
                dropped[IN_SNIPPET] += 1
                continue
            sentences, number = page.sentences(mention)
            fault = self._sentence_fault(page, sentences[number])
            if not fault:
                first = max(number - self._around, bisect_left(sentences, ended, key=_START))
                around = sentences[first : number + self._around + 1]
                window = _without_bullet(text, Span(around[0].start, around[-1].end), mention)
                cut = _replaced(page, window, mention, Cut(entity, space, "", 0, 0, "", "", url, place, len(around)))
                fault = self._name_fault(cut, others)
            if fault:
                dropped[fault] += 1
                faults += 1
                taken = sentences[number].end
            else:
                cuts.append(cut)
                taken = ended = window.end
        return cuts

    def _mentions(self, text: str, entity: str, dropped: Counter[str]) -> list[Span]:
        """Where the entity's full name stands alone; names that overlap count once."""
        found: list[Span] = []
        in_words = 0
        for span in self._name(entity).matches(text):
            if found and span.start < found[-1].end:
                continue
            if _stands_alone(text, span, self._code):
                found.append(span)
            else:
                in_words += 1
        if in_words:
            dropped[IN_WORD] += in_words
        elif not found and not entity.endswith(")"):
            dropped[NOT_NAMED] += 1
        elif not found and entity not in self._told:
            # Once for the entity, since hardly any of its pages will have it.
            dropped[BRACKETS] += 1
            self._told.add(entity)
        return found

    def _sentence_fault(self, page: _Page, span: Span) -> str:
        """Why a sentence tells too little or too much to be a snippet; empty where it does not."""
        if span.end - span.start > LONGEST_PARAGRAPH:
            return NOT_RUNNING
        sentence = page.text[span.start : span.end]
        rest = exchanged(sentence, [(mention, "") for mention in page.within(span)])
        found = words(rest)
        if len(found) < FEWEST_WORDS:
            return SHORT
        if len(words(sentence)) > MOST_WORDS:
            return LONG
        lowered = [word.lower() for word in found]
        line = f" {' '.join(lowered)} "
        if "©" in rest or any(phrase in line for phrase in _OF_THE_SITE):
            return BOILERPLATE
        if not self._prose.ends(sentence):
            return NO_SENTENCE
        if sum(word[0].isupper() for word in found) > _MOST_CAPITALS * len(found):
            return LIST
        if len(_SEPARATORS.findall(rest)) > _MOST_SEPARATORS * len(found):
            return LIST
        return "" if self._prose.runs(lowered) else NOT_RUNNING

    def _name_fault(self, cut: Cut, others: Sequence[str]) -> str:
        """Why the names in a snippet make its answer unclear, or too clear; empty where they do not."""
        own, own_bare = _titles(cut.entity)
        space, text, mentions = plain(cut.space), plain(cut.original), 1 + len(cut.also)
        for other in others:
            full, bare = _titles(other)
            # The bare name of the space is most often short for the entity that was named in full before.
            for name in {full, bare if bare != own_bare else full} - {own, space, ""}:
                # Whatever its case, "who" is hardly ever a title.
                if name not in text or name in self._prose.common_words:
                    continue
                if len(whole_words(text, name)) > mentions * len(whole_words(own, name)):
                    return OTHER_NAMED
        # What is no mention, such as "Paul Smith-led" or "PAUL SMITH", tells the answer all the same.
        return GIVEN_AWAY if own in plain(cut.text) and own not in space else ""


def _without_bullet(text: str, span: Span, mention: Span) -> Span:
    bullet = _BULLET.match(text, span.start, mention.start)
    return Span(bullet.end(), span.end) if bullet else span


def _replaced(page: _Page, window: Span, mention: Span, cut: Cut) -> Cut:
    """The snippet with the space's name in the place of every mention."""
    original = page.text[window.start : window.end]
    written, longer = [], 0
    mentions = page.within(window)
    for start, end in mentions:
        written.append((start + longer, original[start:end], start + window.start == mention.start))
        longer += len(cut.space) - (end - start)
    start, name = next((start, name) for start, name, marked in written if marked)
    return replace(
        cut,
        text=exchanged(original, [(each, cut.space) for each in mentions]),
        start=start,
        end=start + len(cut.space),
        written=name,
        original=original,
        also=tuple((start, name) for start, name, marked in written if not marked),
    )


def restores(cut: Cut) -> bool:
    """True where the entity's name in the place of the space's gives the words of the page."""
    written = [cut.written, *(name for _, name in cut.also)]
    return cut.restored() == cut.original and all(plain(name) == plain(cut.entity) for name in written)


@lru_cache(maxsize=4096)
def _titles(title: str) -> tuple[str, str]:
    """A title, and the same without what stands in brackets at its end."""
    full = plain(title)
    return full, _IN_BRACKETS.sub("", full)
