"""Stage 5: cuts snippets from the text of a page around the full name of an entity.

A mention is the article's title as whole words. White space and the form of an apostrophe may differ. The first letter
may be lower case if it is upper case only because a title begins with it ("The Beatles", "IPod", "Black hole").
"Paul Smith's" is a mention. "Paul Smith-led" is not, in the same way as "Stratford-upon-Avon" is not one of "Avon".
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

from shadowprobe.base.languages import Language
from shadowprobe.base.prose import APOSTROPHES, Prose, compose_accents, plain, replace_spans, words
from shadowprobe.base.spans import Span, find_name
from shadowprobe.dataset.kept_pages import Cut

# The reasons why there is no snippet, for a page or entity ...
NOT_NAMED = "the page does not name the entity"
BRACKETS = "a title with brackets, as no text has it"
FOREIGN = "the page is in another language"
# ... and for a mention.
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

# The lowest number of words besides the name, and the highest number of all words of a sentence.
FEWEST_WORDS, MOST_WORDS = 6, 80
# A sentence with more capitalised words, or more separators per word, is a list.
_MOST_CAPITALS, _MOST_SEPARATORS = 0.6, 0.34
# A longer paragraph is not running text. A page is skipped after this number of mentions without a snippet.
LONGEST_PARAGRAPH, MOST_FAULTS = 20_000, 300

_IN_BRACKETS = re.compile(r" *\([^()]*\)$")
# Characters that join the name and its neighbour to one word, address or tag.
_GLUE = frozenset("-‐‑–_@#/\\=&%+~\u00ad\u200c\u200d")
_SPACE = r"(?:[^\S\n]+|[^\S\n]*\n[^\S\n]*)"
_START = attrgetter("start")
_BULLET = re.compile(r"[-–—•*·▪]\s+")
_SEPARATORS = re.compile(r"[,;|•·/>→]")
_LETTERS = re.compile(r"[^\W\d_]+")
_LETTERS_BEFORE = re.compile(r"[^\W\d_]+$")
_ARTICLES = {"en": {"The"}, "de": {"Der", "Die", "Das"}, "fr": {"Le", "La", "Les"}, "es": {"El", "Los", "Las"}}
# Languages in which "l'Avon" is an article and the name. "O'Brien" is one name in all languages.
_WITH_ELISION = frozenset({"ca", "fr", "it", "oc"})
# Phrases about the web site instead of its subject.
_SITE_PHRASES = tuple(
    f" {phrase} "
    for phrase in (
        *("copyright", "all rights reserved", "cookie", "cookies", "privacy policy", "terms of use"),
        *("terms of service", "javascript", "newsletter", "subscribe", "sign in", "sign up", "log in", "click here"),
        *("read more", "alle rechte vorbehalten", "datenschutz", "datenschutzerklärung", "abonnieren", "weiterlesen"),
        *("hier klicken", "tous droits réservés", "cliquez ici", "todos los derechos reservados", "haga clic"),
    )
)


class _Name(NamedTuple):
    """The forms of a title in a text."""

    pattern: re.Pattern[str]
    # The longest part that is the same in all forms: a text without it has no match.
    part: str

    def find(self, text: str) -> Iterator[Span]:
        """Yields every span of the name, also inside longer words."""
        match = self.pattern.search(text) if self.part in text else None
        while match is not None:
            yield Span(*match.span())
            # The search continues at the next character, so that overlapping matches are found.
            match = self.pattern.search(text, match.start() + 1)


def _make_name(title: str, code: str) -> _Name:
    title = compose_accents(title).strip()
    characters = [_make_pattern(char) for char in re.sub(r"\s+", " ", title)]
    if title and title[0].isalpha() and _may_be_lower_case(title, code):
        characters[0] = f"[{re.escape(title[0].lower())}{re.escape(title[0].upper())}]"
    part = max(re.split(rf"[\s{APOSTROPHES}]+", title[1:]), key=len)
    return _Name(re.compile("".join(characters) or r"(?!)"), part)


def _make_pattern(char: str) -> str:
    if char == " ":
        return _SPACE
    return f"[{APOSTROPHES}]" if char in APOSTROPHES else re.escape(char)


def _may_be_lower_case(title: str, code: str) -> bool:
    """True if the first letter is a capital only because wikis begin every title with a capital letter."""
    first, *rest = title.split()
    letters = "".join(_LETTERS.findall("".join(rest)))
    return (
        title[0].islower()
        or title[1:2].isupper()
        or (bool(rest) and first in _ARTICLES.get(code, ()))
        # A common noun of several words. Single words are excluded, because "queen" is not "Queen".
        or (bool(letters) and letters.islower())
    )


def _stands_alone(text: str, span: Span, code: str) -> bool:
    """True if the name is not part of a longer word, compound or address."""
    start, end = span
    # A combining mark after the name changes its last letter. One before it belongs to the neighbour, as in many emoji.
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
    """A text, and the mentions of one entity in their order."""

    def __init__(self, text: str, mentions: list[Span], prose: Prose) -> None:
        self.text, self.mentions, self._prose = text, mentions, prose
        # A line break inside a mention does not end the line.
        self._lines = replace_spans(text, [(span, text[span.start : span.end].replace("\n", " ")) for span in mentions])
        self._paragraph, self._sentences = Span(0, 0), list[Span]()

    def split_paragraph(self, mention: Span) -> tuple[list[Span], int]:
        """Returns the sentences of the paragraph of a mention, and the number of the sentence with the mention.

        A paragraph that is too long is not split.
        """
        if not self._paragraph.start <= mention.start < self._paragraph.end:
            start, end = self._lines.rfind("\n", 0, mention.start) + 1, self._lines.find("\n", mention.end)
            self._paragraph = Span(start, end if end >= 0 else len(self.text))
            self._sentences = [self._paragraph]
            if self._paragraph.end - start <= LONGEST_PARAGRAPH:
                lines, mentions = self._lines[start : self._paragraph.end], self.find_mentions(self._paragraph)
                sentences = self._prose.sentences(lines, mentions)
                self._sentences = [Span(start + each.start, start + each.end) for each in sentences]
        return self._sentences, bisect_right(self._sentences, mention.start, key=_START) - 1

    def find_mentions(self, span: Span) -> list[Span]:
        """Returns the mentions inside a span, with offsets from its start."""
        first, end_index = (bisect_left(self.mentions, offset, key=_START) for offset in span)
        # The last mention may begin inside the span and end after it.
        end_index -= end_index > first and self.mentions[end_index - 1].end > span.end
        return [Span(start - span.start, end - span.start) for start, end in self.mentions[first:end_index]]


class Cutter:
    """Cuts snippets from pages in one language."""

    def __init__(self, language: Language, *, sentences: int = 0, most: int = 10) -> None:
        self._prose = Prose(language.code)
        self._code, self._around, self._most = language.code, sentences, most
        self._without_mention: set[str] = set()
        # The pages of an entity, and the entities of a space, come directly one after the other.
        self._make_name = lru_cache(maxsize=4096)(partial(_make_name, code=language.code))

    def cut(
        self, text: str, entity: str, space: str, others: Sequence[str], url: str, dropped: Counter[str]
    ) -> list[Cut]:
        """Cuts a snippet for each sentence that names the entity, and replaces the entity's name by the space's name.

        All mentions are replaced, and the first one in the sentence is the snippet's mention. No two snippets share a
        sentence.
        """
        text = compose_accents(text)
        mentions = self._find_mentions(text, entity, dropped)
        if mentions and self._prose.is_foreign(text):
            dropped[FOREIGN] += 1
            return []
        page = _Page(text, mentions, self._prose)
        cuts: list[Cut] = []
        checked = ended = faults = 0
        for number, mention in enumerate(mentions):
            if len(cuts) >= self._most or faults >= MOST_FAULTS:
                dropped[ENOUGH if len(cuts) >= self._most else GIVEN_UP] += len(mentions) - number
                break
            if mention.start < checked:
                dropped[IN_SNIPPET] += 1
                continue
            sentences, position = page.split_paragraph(mention)
            fault = self._find_sentence_fault(page, sentences[position])
            if not fault:
                first = max(position - self._around, bisect_left(sentences, ended, key=_START))
                around = sentences[first : position + self._around + 1]
                window = _drop_bullet(text, Span(around[0].start, around[-1].end), mention)
                cut = Cut(entity, space, "", 0, 0, "", "", url, number, len(around))
                cut = _replace_names(page, window, mention, cut)
                fault = self._find_name_fault(cut, others)
            if fault:
                dropped[fault] += 1
                faults += 1
                checked = sentences[position].end
            else:
                cuts.append(cut)
                checked = ended = window.end
        return cuts

    def _find_mentions(self, text: str, entity: str, dropped: Counter[str]) -> list[Span]:
        """Finds the entity's full name as whole words; overlapping matches count once."""
        mentions: list[Span] = []
        in_words = 0
        for span in self._make_name(entity).find(text):
            if mentions and span.start < mentions[-1].end:
                continue
            if _stands_alone(text, span, self._code):
                mentions.append(span)
            else:
                in_words += 1
        if in_words:
            dropped[IN_WORD] += in_words
        elif not mentions and not entity.endswith(")"):
            dropped[NOT_NAMED] += 1
        elif not mentions and entity not in self._without_mention:
            # This is counted once per entity, because hardly any of its pages will name it in full.
            dropped[BRACKETS] += 1
            self._without_mention.add(entity)
        return mentions

    def _find_sentence_fault(self, page: _Page, span: Span) -> str:
        """Says why a sentence cannot be a snippet; empty if it can."""
        if span.end - span.start > LONGEST_PARAGRAPH:
            return NOT_RUNNING
        sentence = page.text[span.start : span.end]
        rest = replace_spans(sentence, [(mention, "") for mention in page.find_mentions(span)])
        other_words = words(rest)
        if len(other_words) < FEWEST_WORDS:
            return SHORT
        if len(words(sentence)) > MOST_WORDS:
            return LONG
        lowered = [word.lower() for word in other_words]
        line = f" {' '.join(lowered)} "
        if "©" in rest or any(phrase in line for phrase in _SITE_PHRASES):
            return BOILERPLATE
        if not self._prose.ends(sentence):
            return NO_SENTENCE
        if sum(word[0].isupper() for word in other_words) > _MOST_CAPITALS * len(other_words):
            return LIST
        if len(_SEPARATORS.findall(rest)) > _MOST_SEPARATORS * len(other_words):
            return LIST
        return "" if self._prose.runs(lowered) else NOT_RUNNING

    def _find_name_fault(self, cut: Cut, others: Sequence[str]) -> str:
        """Says why the names in a snippet make its answer unclear or reveal it; empty if they do not."""
        own, own_bare = _normalise_title(cut.entity)
        space, text, mentions = plain(cut.space), plain(cut.original), 1 + len(cut.also)
        for other in others:
            full, bare = _normalise_title(other)
            # The bare name of the space usually refers to the entity that was named in full before.
            for name in {full, bare if bare != own_bare else full} - {own, space, ""}:
                # A common word such as "who" is hardly ever a title.
                if name not in text or name in self._prose.common_words:
                    continue
                if len(find_name(text, name)) > mentions * len(find_name(own, name)):
                    return OTHER_NAMED
        # "Paul Smith-led" or "PAUL SMITH" is not a mention, but it reveals the answer.
        return GIVEN_AWAY if own in plain(cut.text) and own not in space else ""


def _drop_bullet(text: str, span: Span, mention: Span) -> Span:
    bullet = _BULLET.match(text, span.start, mention.start)
    return Span(bullet.end(), span.end) if bullet else span


def _replace_names(page: _Page, window: Span, mention: Span, cut: Cut) -> Cut:
    """Returns the snippet with the space's name instead of every mention."""
    original = page.text[window.start : window.end]
    written, growth = [], 0
    mentions = page.find_mentions(window)
    for start, end in mentions:
        written.append((start + growth, original[start:end], start + window.start == mention.start))
        growth += len(cut.space) - (end - start)
    start, name = next((start, name) for start, name, marked in written if marked)
    return replace(
        cut,
        text=replace_spans(original, [(each, cut.space) for each in mentions]),
        start=start,
        end=start + len(cut.space),
        written=name,
        original=original,
        also=tuple((start, name) for start, name, marked in written if not marked),
    )


def is_restorable(cut: Cut) -> bool:
    """True if the text of the page results when the original names are put back."""
    written = [cut.written, *(name for _, name in cut.also)]
    return cut.restored() == cut.original and all(plain(name) == plain(cut.entity) for name in written)


@lru_cache(maxsize=4096)
def _normalise_title(title: str) -> tuple[str, str]:
    """Returns a title in plain form, with and without the brackets at its end."""
    full = plain(title)
    return full, _IN_BRACKETS.sub("", full)
