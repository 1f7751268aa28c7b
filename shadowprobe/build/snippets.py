"""Stage 5: cuts snippets from the text of a page around the name of an entity.

The name is the title of the article, or the title without its qualifier if nothing points to another entity.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from operator import attrgetter

from msgspec.structs import replace

from shadowprobe.base.languages import Language
from shadowprobe.base.prose import Prose, compose_accents, plain, replace_spans, words
from shadowprobe.base.spans import Span, find_name
from shadowprobe.build.mentions import MentionFinder
from shadowprobe.build.qualifiers import is_full_title, list_names, list_namesakes, points_elsewhere
from shadowprobe.dataset.kept_pages import Cut

# The reasons why there is no snippet, for a page or entity ...
NOT_NAMED = "the page does not name the entity"
CITED_BY_ANOTHER = "the page is also cited by another entity of the space"
COMMON_WORD = "the title without its qualifier is a common word"
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
ELSEWHERE = "the words around the name point to another entity of the space"
FIRST_WORD = "the first word of a sentence, and the page has it as a common word too"

# The lowest number of words besides the name, and the highest number of all words of a sentence.
FEWEST_WORDS, MOST_WORDS = 6, 80
# A sentence with more capitalised words, or more separators per word, is a list. Some languages capitalise all nouns.
_MOST_CAPITALS, _MOST_CAPITALS_WITH_NOUNS, _MOST_SEPARATORS = 0.6, 0.75, 0.34
_WITH_CAPITAL_NOUNS = frozenset({"bar", "de", "gsw", "lb", "nds"})
# A longer paragraph is not running text. A page is skipped after this number of mentions without a snippet.
LONGEST_PARAGRAPH, MOST_FAULTS = 20_000, 300

_START = attrgetter("start")
_BULLET = re.compile(r"[-–—•*·▪]\s+")
_SEPARATORS = re.compile(r"[,;|•·/>→]")
# Phrases about the web site instead of its subject.
_SITE_PHRASES = tuple(
    f" {phrase} "
    for phrase in (
        *("all rights reserved", "privacy policy", "terms of use", "terms of service", "sign in", "sign up", "log in"),
        *("click here", "read more", "alle rechte vorbehalten", "datenschutzerklärung", "weiterlesen"),
        *("hier klicken", "tous droits réservés", "cliquez ici", "todos los derechos reservados", "haga clic"),
    )
)
# Words that are about the web site only in a sentence that speaks to the reader: a cookie can also be eaten.
_SITE_WORDS = frozenset(words("cookie cookies copyright javascript newsletter subscribe datenschutz abonnieren"))
_READER_WORDS = frozenset(
    words(
        "we us our you your please wir uns unser unsere unseren unserem unserer bitte nous notre"
        " nos vous votre vos nosotros nuestro nuestra nuestros nuestras usted ustedes"
    )
)


class _Page:
    """A text, and the mentions of one entity in their order."""

    def __init__(self, text: str, mentions: list[Span], prose: Prose) -> None:
        self.text, self.mentions, self._prose = text, mentions, prose
        # A line break inside a mention does not end the line.
        self._lines = replace_spans(text, [(span, text[span.start : span.end].replace("\n", " ")) for span in mentions])
        self._paragraph, self._sentences = Span(0, 0), list[Span]()
        self._has_word: dict[str, bool] = {}

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

    def has_word(self, word: str) -> bool:
        """True if the text has a word in exactly this form; a text is searched once for each word."""
        if word not in self._has_word:
            self._has_word[word] = bool(find_name(self.text, word))
        return self._has_word[word]


class Cutter:
    """Cuts snippets from pages in one language."""

    def __init__(self, language: Language, *, sentences: int = 0, most: int = 10) -> None:
        self._prose = Prose(language.code)
        self._finder = MentionFinder(language.code)
        self._around, self._most = sentences, most
        has_capital_nouns = language.code in _WITH_CAPITAL_NOUNS
        self._most_capitals = _MOST_CAPITALS_WITH_NOUNS if has_capital_nouns else _MOST_CAPITALS

    def cut(
        self,
        text: str,
        entity: str,
        space: str,
        others: Sequence[str],
        url: str,
        dropped: Counter[str],
        *,
        citing: Collection[str] = (),
    ) -> list[Cut]:
        """Cuts a snippet for each sentence that names the entity, and replaces the entity's name by the space's name.

        All mentions are replaced, and the first one in the sentence is the snippet's mention. No two snippets share a
        sentence. `citing` are the others that cite the page as well.
        """
        text = compose_accents(text)
        mentions = self._find_mentions(text, entity, space, citing, dropped)
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
            fault = fault or _find_start_fault(page, sentences[position], mention, entity)
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

    def _find_mentions(
        self, text: str, entity: str, space: str, citing: Collection[str], dropped: Counter[str]
    ) -> list[Span]:
        """Finds the names of the entity that can mean no other entity that cites the page."""
        names: list[str] = []
        faults: dict[str, str] = {}
        for name in list_names(entity, space):
            is_full = is_full_title(name, entity)
            if not is_full and name.lower() in self._prose.common_words:
                faults[name] = COMMON_WORD
            elif list_namesakes(name, entity, space, citing) if is_full else citing:
                faults[name] = CITED_BY_ANOTHER
            else:
                names.append(name)
        mentions, in_words = self._finder.find(text, names)
        if in_words:
            dropped[IN_WORD] += in_words
        elif not mentions:
            whys = [why for name, why in faults.items() if self._finder.find(text, [name]).spans]
            dropped[whys[0] if whys else NOT_NAMED] += 1
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
        if not _SITE_WORDS.isdisjoint(lowered) and not _READER_WORDS.isdisjoint(lowered):
            return BOILERPLATE
        # A colon at the end of a paragraph introduces what follows.
        if not self._prose.ends(sentence) and not sentence.endswith(":"):
            return NO_SENTENCE
        if sum(word[0].isupper() for word in other_words) > self._most_capitals * len(other_words):
            return LIST
        if len(_SEPARATORS.findall(rest)) > _MOST_SEPARATORS * len(other_words):
            return LIST
        return "" if self._prose.runs(lowered) else NOT_RUNNING

    def _find_name_fault(self, cut: Cut, others: Sequence[str]) -> str:
        """Says why the names in a snippet make its answer unclear or reveal it; empty if they do not."""
        own, *own_short = map(plain, list_names(cut.entity, cut.space))
        space, text, mentions = plain(cut.space), plain(cut.original), 1 + len(cut.also)
        for other in others:
            # The bare name of the space usually refers to the entity that was named in full before.
            for name in {*map(plain, list_names(other, cut.space))} - {own, *own_short, space}:
                # A common word such as "who" is hardly ever a title.
                if name not in text or name in self._prose.common_words:
                    continue
                if len(find_name(text, name)) > mentions * len(find_name(own, name)):
                    return OTHER_NAMED
        namesakes = list_namesakes(cut.written, cut.entity, cut.space, others)
        if points_elsewhere(cut.original, cut.written, cut.entity, namesakes, self._prose.common_words):
            return ELSEWHERE
        # "Paul Smith-led" or "PAUL SMITH" is not a mention, but it reveals the answer.
        left = plain(cut.text)
        return GIVEN_AWAY if any(name in left and name not in space for name in (own, *own_short)) else ""


def _find_start_fault(page: _Page, sentence: Span, mention: Span, entity: str) -> str:
    """Says whether a name is only the first word of a sentence, as in "Heat is..."; empty if it is a name."""
    name = page.text[mention.start : mention.end]
    if is_full_title(name, entity) or words(page.text[sentence.start : mention.start]):
        return ""
    return FIRST_WORD if name.istitle() and page.has_word(name.lower()) else ""


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
    """True if the text of the page results when the original names are put back, with and without qualifiers."""
    names = set(map(plain, list_names(cut.entity, cut.space)))
    written = [cut.written, *(name for _, name in cut.also)]
    return cut.restored() == cut.original and all(plain(name) in names for name in written)
