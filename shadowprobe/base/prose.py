"""The running text of a web page, sentence by sentence."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from shadowprobe.formats.spans import Span, trim


def _set(line: str) -> frozenset[str]:
    return frozenset(line.split())


# spaCy knows these as abbreviations in no language, or in some only.
_ABBREVIATIONS = _set(
    "al approx ave blvd bzw ca cf dept ed eds esp est etc ff fig figs hl inc jr lt ltd max min orig pp rd ser sr"
    " v viz vol vols vs"
)
# A name follows, even one that is also a common word, as in "Dr. No".
_TITLES = _set(
    "adm capt col cpl dr dra fr frl gen gov hon hr hrn lt maj messrs mgr mlle mme mr mrs ms mx pres prof profa rep rev"
    " sen sgt"
)
# Abbreviations before a number, and words like any other elsewhere.
_BEFORE_NUMBERS = _set("abb art bd fig figs no nos nr núm op p para pp s sec vol vols")
# The languages that write "the 3rd" as "3."
_WITH_ORDINALS = _set("bs cs da de et eu fi fo hr hu is lb lv nb nn no pl sk sl sr tr")
# Languages with many pages on the web, whose common words differ from those of a wiki's own language.
_RIVALS = ("de", "en", "es", "it", "nl", "pt")
# French is a rival too, but spaCy takes seconds to load it.
_FRENCH = _set(
    "a à au aux avec ce cette dans de des du elle en est et été il ils je la le les leur mais ne nous on ont ou par pas"
    " plus pour qu que qui sa se ses son sont sur un une vous"
)
# Texts of a language hold two to six of its common words in ten, texts of another hardly any.
_FEWEST_COMMON = 0.1
# A page is taken for one in another language where that one's common words are so many times as frequent.
_MORE_FOREIGN = 1.25
# So many words tell the language of a page.
_SAMPLE = 1_000
# So many characters on each side of a stop tell whether it ends a sentence.
_NEAR = 50

APOSTROPHES = "'’ʼ"
# What may differ in a name that is the same to a reader.
_PLAIN = str.maketrans({**dict.fromkeys(f"{APOSTROPHES}‘`´′", "'"), "_": " ", "\u00ad": None})
OPENING = "\"'“”„‚‘’«»‹›([{¿¡*"
_CLOSING = r"(?:[\"'”“’‘»«›‹)\]}]|\[\d{1,3}\])*"
# No space follows these; it does the others, but in "3.5" and "example.org".
_WITHOUT_SPACE = "。！？｡"
_WORD = re.compile(r"[^\W_]+")
_ROMAN = re.compile(r"[IVXLC]+")
# So many accents in a row are no writing. The range is that of all marks, with some signs among them.
_HEAP = re.compile(r"[^\x00-\u02ff\u2000-\u20cf\u2100-\u2bff\w\s]{100}")
# "U.S", "e.g", "Ph.D": short parts with dots between them, the last dot being the stop itself.
_DOTTED = re.compile(r"[^\W\d_]{1,3}(?:\.[^\W\d_]{1,3})+")


def main_text(html: str, url: str) -> str:
    """What a page says, without menus, comments and tables, a paragraph a line; empty where it says nothing."""
    from trafilatura import extract

    found = extract(html, url=url, include_comments=False, include_tables=False) if html.strip() else None
    return composed(found or "")


def composed(text: str) -> str:
    """The text with each letter and its accents as one character, where there is one (NFC)."""
    # To put accents in order takes a time that grows with the square of their number.
    if not unicodedata.is_normalized("NFC", text) and _HEAP.search(text):
        return text
    return unicodedata.normalize("NFC", text)


def plain(text: str) -> str:
    """The text without what may differ between two ways to write a name: case, white space, kinds of apostrophes."""
    return " ".join(composed(text).translate(_PLAIN).split()).casefold()


def exchanged(text: str, replaced: Sequence[tuple[Span, str]]) -> str:
    """The text with other words in the place of some spans, which are in order."""
    pieces, done = [], 0
    for span, instead in replaced:
        pieces += [text[done : span.start], instead]
        done = span.end
    return "".join([*pieces, text[done:]])


def words(text: str) -> list[str]:
    """The words and numbers of a text."""
    return _WORD.findall(text)


class Prose:
    """What is known of running text in one language: which words are common, and where a sentence ends.

    Where it is unclear whether a stop ends a sentence it does not: a snippet then has a sentence too many, and not
    half of one.
    """

    def __init__(self, code: str) -> None:
        from spacy.pipeline import Sentencizer

        self.code = code
        self.common_words, exceptions = _known(code)
        self._abbreviations = {key[:-1].casefold() for key in exceptions if key.endswith(".") and key[0].isalpha()}
        self._abbreviations |= _ABBREVIATIONS
        stops = "".join(re.escape(char) for char in (*Sentencizer.default_punct_chars, "…"))
        self._stop = re.compile(rf"(?P<stop>[{stops}\n][{stops}]*){_CLOSING}")
        self._end = re.compile(rf"[{stops}]{_CLOSING}$")

    def runs(self, lowered: Sequence[str]) -> bool:
        """True for words, in small letters, of running text in the language, and not of a heading, list or menu."""
        if not self.common_words:
            return True
        return sum(word in self.common_words for word in lowered) >= _FEWEST_COMMON * len(lowered)

    def is_foreign(self, text: str) -> bool:
        """True for a text in another language, by its common words: what a page says of itself is often wrong."""
        lowered = words(text[: _SAMPLE * 10].lower())[:_SAMPLE]
        if not self.runs(lowered):
            return True
        counts = Counter(lowered)
        most = _MORE_FOREIGN * _count(counts, self.common_words)
        return any(_count(counts, rival) > most for rival in self._rivals)

    @cached_property
    def _rivals(self) -> list[frozenset[str]]:
        # Without common words of its own a language cannot be told from another.
        if not self.common_words:
            return []
        return [_known(code)[0] for code in _RIVALS if code != self.code] + [_FRENCH] * (self.code != "fr")

    def ends(self, sentence: str) -> bool:
        """True where the text ends as a sentence does."""
        return bool(self._end.search(sentence))

    def sentences(self, text: str, names: Sequence[Span] = ()) -> list[Span]:
        """The sentences of a text; a line is over with its end, and a stop within one of the names ends nothing.

        Names are in order and do not overlap.
        """
        found, start = [], 0
        for match in self._stop.finditer(text):
            if self._ends_here(text, start, match, names):
                # What closes a sentence at the end of a line would open one at its beginning.
                end = match.start() if match["stop"].startswith("\n") else match.end()
                found.append(trim(text, Span(start, end)))
                start = end
        found.append(trim(text, Span(start, len(text))))
        return [span for span in found if span.start < span.end]

    def _ends_here(self, text: str, start: int, match: re.Match[str], names: Sequence[Span]) -> bool:
        before = bisect_right(names, match.start(), key=lambda each: each.start)
        name = names[before - 1] if before and match.start() < names[before - 1].end else None
        if name is not None and match.end() < name.end:
            return False
        stop, after = match["stop"], text[match.end() : match.end() + _NEAR]
        if stop[0] == "\n" or stop[0] in _WITHOUT_SPACE:
            return name is None
        if after and not after[0].isspace():
            return False
        following = after.partition("\n")[0].lstrip().lstrip(OPENING)
        if not following:
            return True
        if following[0].islower() and not following[1:2].isupper():
            return False
        if name is not None:
            return self._begins(following)
        if stop in {"...", "…"}:
            return not text[match.start() - 1 : match.start()].isspace()
        return stop != "." or self._full_stop(text[max(start, match.start() - _NEAR) : match.start()], following)

    def _full_stop(self, before: str, following: str) -> bool:
        """True where a point ends the sentence, and does not belong to the last word of what is before it."""
        word = "".join(before.rsplit(maxsplit=1)[-1:]).lstrip(OPENING)
        # "J. R. R.", or the number of an item: "2. Paul".
        if (len(word) == 1 and word.isupper()) or (word == before.strip() and word.isdecimal()):
            return False
        folded = word.casefold()
        if folded in _TITLES or (folded in _BEFORE_NUMBERS and following[0].isdecimal()):
            return False
        return not self._is_short(word) or self._begins(following)

    def _is_short(self, word: str) -> bool:
        """True for an abbreviation, and for an ordinal number that is written with a point."""
        if self.code in _WITH_ORDINALS and ((word.isdecimal() and len(word) <= 2) or _ROMAN.fullmatch(word)):
            return True
        return word.casefold() in self._abbreviations or bool(_DOTTED.fullmatch(word))

    def _begins(self, following: str) -> bool:
        """True for a common word with a capital letter, which is how a sentence begins and a name does not."""
        word = _WORD.match(following)
        return word is not None and following[0].isupper() and word[0].lower() in self.common_words


def _count(counts: Counter[str], common: frozenset[str]) -> int:
    return sum(counts[word] for word in common & counts.keys())


def _known(code: str) -> tuple[frozenset[str], list[str]]:
    """The common words of a language, and what spaCy's tokenizer takes for one token; little of an unknown language."""
    from spacy.util import get_lang_class

    # The class alone: to make a tokenizer takes seconds for some languages, and needs other packages for a few.
    try:
        defaults = get_lang_class(code).Defaults
    except ImportError:
        defaults = get_lang_class("xx").Defaults
    return frozenset(defaults.stop_words), list(defaults.tokenizer_exceptions or ())
