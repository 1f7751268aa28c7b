"""The words of a text that carry its content, by AmbigDocs' rules."""

from __future__ import annotations

import re
import string

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation))

# The English stop words that the released evaluation takes from NLTK, by what they are. NLTK also has forms with an
# apostrophe; punctuation is gone before words are looked up, so that no word can be one of these.
_PRONOUNS = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
    it its itself they them their theirs themselves this that these those what which who whom
"""
_VERBS = "am is are was were be been being have has had having do does did doing can will should"
_PREPOSITIONS = """
    of at by for with about against between into through during before after above below to from up down in out on off
    over under
"""
_CONJUNCTIONS = "and but if or because as until while nor than"
_ADVERBS = "again further then once here there when where why how not only so too very just now"
_QUANTITIES = "a an the all any both each few more most other some such no own same"
# What is left of a contraction that is written in two, as in `don t`.
_PIECES = """
    s t d m o y ll re ve ma don ain aren couldn didn doesn hadn hasn haven isn mightn mustn needn shan shouldn wasn
    weren won wouldn
"""
STOP_WORDS = frozenset(
    word
    for words in (_PRONOUNS, _VERBS, _PREPOSITIONS, _CONJUNCTIONS, _ADVERBS, _QUANTITIES, _PIECES)
    for word in words.split()
)


def content_words(text: str) -> list[str]:
    """The words of a text in small letters, without punctuation, articles and stop words."""
    bare = _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION))
    return [word for word in bare.split() if word not in STOP_WORDS]
