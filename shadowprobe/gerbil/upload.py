"""What an experiment asks of GERBIL: which annotators, on which gold."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from shadowprobe import nif
from shadowprobe.dataset import GOLD_SUBSETS, Dataset
from shadowprobe.errors import UsageError
from shadowprobe.formats.documents import documents_of
from shadowprobe.formats.nif import as_nif
from shadowprobe.gerbil.client import checked_url, public
from shadowprobe.gerbil.page import shown_name
from shadowprobe.model import Subset

# Stands in for a character beyond U+FFFF: GERBIL's reader counts such a one as two, and the mention would move.
STAND_IN = "\ufffd"
# What GERBIL takes all other entities for is one entity outside every knowledge base.
KNOWN = ("http://dbpedia.org/resource/", "http://www.wikidata.org/entity/")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Annotator(NamedTuple):
    """An annotator of GERBIL's own list, or a NIF service at an address."""

    name: str
    url: str | None = None

    @property
    def asked(self) -> str:
        """The annotator as an experiment asks for it."""
        return f"NIFWS_{self.name}({self.url})" if self.url is not None else self.name

    @property
    def shown(self) -> str:
        """The annotator as the page of an experiment names it."""
        return shown_name(self.name)


def annotator(said: str) -> Annotator:
    """An annotator from `NAME`, a NIF service from its `URL` or from `NAME=URL`."""
    match = re.fullmatch(r"(?:([^=:/]*)=)?(https?://.*)", said)
    if match is None:
        if not said.strip():
            raise UsageError("--annotator: the name is empty")
        return Annotator(said)
    url = match[2]
    checked_url(url, "--annotator")
    if "(" in url or ")" in url:
        raise UsageError(f"--annotator {public(url)}: GERBIL takes no address with brackets in it")
    # GERBIL cuts names at `-test` and the like, and reads brackets as its own.
    name = _letters(match[1] if match[1] is not None else public(url).partition("//")[2])
    return Annotator(name or "service", url)


def gold_subsets(dataset: Dataset, names: Sequence[str] = ()) -> list[Subset]:
    """The subsets to upload: those named, or all that have gold."""
    having: list[Subset] = [subset for subset in dataset.subsets if subset in GOLD_SUBSETS]
    for name in names:
        if name not in having:
            has = f"`{dataset.name}` has {', '.join(having) or 'none'}"
            raise UsageError(f"--subset {name}: GERBIL needs a subset with gold answers; {has}")
    if not having:
        raise UsageError(f"`{dataset.name}` has no gold answers, and GERBIL can only score")
    return [subset for subset in having if not names or subset in names]


class Package(NamedTuple):
    """A subset made ready to go up."""

    name: str
    turtle: str
    documents: int
    mentions: int
    replaced: int

    @property
    def file(self) -> str:
        """The file's name there; equal names overwrite each other, so it holds a digest."""
        return f"{self.name}.ttl"


def package(dataset: Dataset, subset: Subset) -> Package:
    """A subset with its gold as NIF."""
    documents = []
    replaced = 0
    for document in documents_of(dataset, subset):
        found = as_nif(msgspec.structs.replace(document, mentions=tuple(m for m in document.mentions if m.has_entity)))
        if not found.phrases:
            # Mentions without an entity are no gold, and an empty document would score a perfect 1.
            continue
        text, astral = _ASTRAL.subn(STAND_IN, found.text)
        replaced += astral > 0
        phrases = [phrase._replace(uris=_known(phrase, dataset)) for phrase in found.phrases]
        documents.append(found._replace(text=text, phrases=tuple(phrases)))
    turtle = nif.to_turtle(documents)
    digest = hashlib.sha256(turtle.encode()).hexdigest()[:12]
    # No other hyphen or underscore: GERBIL's page cuts a name at `-train` or `_test`.
    name = f"{_letters(dataset.name) or 'dataset'}_{subset}_{digest}"
    return Package(name, turtle, len(documents), sum(len(d.phrases) for d in documents), replaced)


def _known(phrase: nif.Phrase, dataset: Dataset) -> tuple[str, ...]:
    """The URIs of a gold entity, of which GERBIL must know the knowledge base of at least one."""
    if not any(uri.startswith(KNOWN) for uri in phrase.uris):
        # Any answer from the same place would then be right.
        raise UsageError(
            f"GERBIL does not know the knowledge base of {phrase.uris[0]}: in a dataset in `{dataset.card.language}`"
            " every gold entity needs a QID"
        )
    return phrase.uris


def _letters(name: str) -> str:
    return re.sub("[^A-Za-z0-9]", "", name)
