"""The running text of a web page, sentence by sentence."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from shadowprobe.base.spans import Span, trim
from shadowprobe.errors import missing_packages


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
# Texts of a language hold two to six of its common words in ten, texts of another hardly any.
_FEWEST_COMMON = 0.1
# So many characters show the language of a page, where the log likelihood of another one is so much higher: a sentence
# in another language has more than 120, a row of names or a close language less than 80.
_SAMPLE, _MORE_LIKELY = 1_000, 100.0
# So many characters on each side of a stop show whether it ends a sentence.
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


def compose_accents(text: str) -> str:
    """The text with each letter and its accents as one character, where there is one (NFC)."""
    # To put accents in order takes a time that grows with the square of their number.
    if not unicodedata.is_normalized("NFC", text) and _HEAP.search(text):
        return text
    return unicodedata.normalize("NFC", text)


def plain(text: str) -> str:
    """The text without what may differ between two ways to write a name: case, white space, kinds of apostrophes."""
    return " ".join(compose_accents(text).translate(_PLAIN).split()).casefold()


def replace_spans(text: str, replaced: Sequence[tuple[Span, str]]) -> str:
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
        try:
            from spacy.pipeline import Sentencizer
        except ModuleNotFoundError as error:
            # A probe cuts sentences too, and its errors are shown as they are.
            raise missing_packages(error) or error from None

        self.code = code
        self.common_words, exceptions = _load_words(code)
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
        """True for a text in another language: what a page says of itself is often wrong."""
        identifier = _identifier()
        if self.code not in identifier.nb_classes:
            return False
        likelihoods = dict(identifier.rank(text[:_SAMPLE]))
        return bool(max(likelihoods.values()) - likelihoods[self.code] > _MORE_LIKELY)

    def ends(self, sentence: str) -> bool:
        """True where the text ends as a sentence does."""
        return bool(self._end.search(sentence))

    def sentences(self, text: str, names: Sequence[Span] = ()) -> list[Span]:
        """The sentences of a text; a line is over with its end, and a stop within one of the names ends nothing.

        Names are in order and do not overlap.
        """
        spans, start = [], 0
        for match in self._stop.finditer(text):
            if self._ends_here(text, start, match, names):
                # What closes a sentence at the end of a line would open one at its beginning.
                end = match.start() if match["stop"].startswith("\n") else match.end()
                spans.append(trim(text, Span(start, end)))
                start = end
        spans.append(trim(text, Span(start, len(text))))
        return [span for span in spans if span.start < span.end]

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


@lru_cache
def _identifier() -> Any:
    """The model that knows languages by their letters; it takes half a second to load."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def _load_words(code: str) -> tuple[frozenset[str], list[str]]:
    """The common words of a language, and what spaCy's tokenizer takes for one token; little of an unknown language."""
    from spacy.util import get_lang_class

    # The class alone: to make a tokenizer takes seconds for some languages, and needs other packages for a few.
    try:
        defaults = get_lang_class(code).Defaults
    except ImportError:
        defaults = get_lang_class("xx").Defaults
    return frozenset(defaults.stop_words), list(defaults.tokenizer_exceptions or ())
