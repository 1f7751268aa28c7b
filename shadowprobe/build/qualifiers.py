"""The names of an entity with and without the qualifier of its title, and the words that tell entities apart.

Hardly any text has the qualifier of a title such as "Mercury (planet)". Its mention is therefore also the title without
the qualifier, which may mean another entity too. So the page and the words around it must not point to another one.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache

import numpy as np

from shadowprobe.base.prose import plain
from shadowprobe.base.spans import find_name
from shadowprobe.build.record_index import digest
from shadowprobe.dataset.kept_pages import Cut
from shadowprobe.dataset.knowledge import base_name

SHARED_SENTENCE = "a page of another entity of the space has the same sentence"
# What follows a comma is not a qualifier if the title is a list, as "Emerson, Lake & Palmer" is.
_LIST = re.compile(r", .*(?:[,&]|\b(?:and|und|et|y)\b)")
# A word with the dots of "U.S." and without the ending of "Canada's".
_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*")


@lru_cache(maxsize=4096)
def list_names(title: str, space: str) -> tuple[str, ...]:
    """Lists the names that can mention an entity of a space: its title, and the title without its qualifier.

    A name must contain the name of the space, because that replaces it.
    """
    name = base_name(title)
    if title in {name, space} or not find_name(name, space) or _LIST.match(title, len(name)):
        return (title,)
    return (title, name)


def is_full_title(name: str, title: str) -> bool:
    """True if a name, as a page writes it, is the whole title of an entity."""
    return plain(name) == plain(title)


def list_namesakes(name: str, title: str, space: str, others: Iterable[str]) -> list[str]:
    """Lists the other entities of a space that a name can mean.

    A full title can mean only entities that have the same name without a qualifier. A name without its qualifier can
    mean every entity whose title contains it.
    """
    written = plain(name)
    if is_full_title(name, title):
        return [other for other in others if written in map(plain, list_names(other, space))]
    return [other for other in others if find_name(plain(other), written)]


def points_elsewhere(text: str, name: str, title: str, namesakes: Iterable[str], common_words: Collection[str]) -> bool:
    """True if the words of a snippet fit a namesake, and not the entity.

    Each of the two has words in its title that the other title and the name do not have: they distinguish it. The
    snippet points elsewhere if it has such a word of the namesake and none of the entity. A namesake without such a
    word is what the name means if nothing else is said.
    """
    present = _list_words(text)
    own = _list_words(title)
    ignored = _list_words(name).union(common_words)
    for namesake in namesakes:
        theirs = _list_words(namesake)
        is_meant = not theirs - own - ignored or present & theirs - own - ignored
        if is_meant and not present & own - theirs - ignored:
            return True
    return False


class SharedSentences:
    """The sentences that the pages of two entities of a space have, as copies of one report do.

    All snippets are added before the first question. A snippet takes 16 bytes until then.
    """

    def __init__(self) -> None:
        self._sentences, self._entities = array("Q"), array("Q")

    def add(self, cut: Cut) -> None:
        """Adds the sentence of a snippet."""
        self._sentences.append(_digest_sentence(cut))
        self._entities.append(digest(cut.entity))

    def __contains__(self, cut: Cut) -> bool:
        return _digest_sentence(cut) in self._shared

    @cached_property
    def _shared(self) -> frozenset[int]:
        sentences, entities = (np.array(column, np.uint64) for column in (self._sentences, self._entities))
        self._sentences, self._entities = array("Q"), array("Q")
        order = np.lexsort((entities, sentences))
        sentences, entities = sentences[order], entities[order]
        is_shared = (sentences[1:] == sentences[:-1]) & (entities[1:] != entities[:-1])
        return frozenset(sentences[1:][is_shared].tolist())


def _digest_sentence(cut: Cut) -> int:
    return digest(cut.space, plain(cut.original))


def _list_words(text: str) -> set[str]:
    return set(_WORD.findall(plain(text)))
