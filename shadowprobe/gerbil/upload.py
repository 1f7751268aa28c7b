"""The input of a GERBIL experiment: the annotators, and the gold as NIF."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from shadowprobe.base.model import Subset
from shadowprobe.base.secrets import mask_url
from shadowprobe.dataset.dataset import GOLD_SUBSETS, Dataset
from shadowprobe.errors import UsageError
from shadowprobe.formats import nif_documents as nif
from shadowprobe.formats.documents import export_documents
from shadowprobe.formats.nif import make_nif_document
from shadowprobe.gerbil.gerbil_client import EXAMPLE
from shadowprobe.gerbil.gerbil_page import shown_name
from shadowprobe.net.urls import check_option

# Replaces a character beyond U+FFFF: GERBIL's reader counts it as two, and the mention would move.
STAND_IN = "\ufffd"
# GERBIL treats all other URIs as one entity outside every knowledge base.
KNOWN = ("http://dbpedia.org/resource/", "http://www.wikidata.org/entity/")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class GerbilAnnotator(NamedTuple):
    """An annotator of GERBIL's own list, or a NIF service at an address."""

    name: str
    url: str | None = None

    @property
    def identifier(self) -> str:
        """The annotator in the request for an experiment."""
        return f"NIFWS_{self.name}({self.url})" if self.url is not None else self.name

    @property
    def shown(self) -> str:
        """The annotator's name on the page of an experiment."""
        return shown_name(self.name)


def parse_annotator(text: str) -> GerbilAnnotator:
    """Parses `NAME` as an annotator, and `URL` or `NAME=URL` as a NIF service."""
    match = re.fullmatch(r"(?:([^=:/]*)=)?(https?://.*)", text)
    if match is None:
        if not text.strip():
            raise UsageError("--annotator: the name is empty")
        return GerbilAnnotator(text)
    url = match[2]
    check_option("--annotator", url, EXAMPLE, allow_password=True)
    if "(" in url or ")" in url:
        raise UsageError(f"--annotator {mask_url(url)}: GERBIL does not accept an address with brackets")
    # GERBIL cuts names at `-test`, for example, and uses brackets itself.
    name = _keep_letters(match[1] if match[1] is not None else mask_url(url).partition("//")[2])
    return GerbilAnnotator(name or "service", url)


def choose_subsets(dataset: Dataset, names: Sequence[str] = ()) -> list[Subset]:
    """Returns the named subsets, or all subsets with gold."""
    with_gold: list[Subset] = [subset for subset in dataset.subsets if subset in GOLD_SUBSETS]
    for name in names:
        if name not in with_gold:
            existing = f"`{dataset.name}` has {', '.join(with_gold) or 'none'}"
            raise UsageError(f"--subset {name}: GERBIL needs a subset with gold answers; {existing}")
    if not with_gold:
        raise UsageError(f"`{dataset.name}` has no gold answers, and GERBIL can only score")
    return [subset for subset in with_gold if not names or subset in names]


class Package(NamedTuple):
    """A subset that is ready for the upload."""

    name: str
    turtle: str
    documents: int
    mentions: int
    replaced: int

    @property
    def file(self) -> str:
        """The name of the uploaded file; it contains a digest, because equal names overwrite each other."""
        return f"{self.name}.ttl"


def make_package(dataset: Dataset, subset: Subset) -> Package:
    """Encodes a subset with its gold as NIF."""
    documents = []
    replaced = 0
    for document in export_documents(dataset, subset):
        gold = tuple(mention for mention in document.mentions if mention.has_entity)
        if not gold:
            # An empty document would score a perfect 1.
            continue
        encoded = make_nif_document(msgspec.structs.replace(document, mentions=gold))
        for phrase in encoded.phrases:
            _check_knowledge_base(phrase, dataset)
        text, astral = _ASTRAL.subn(STAND_IN, encoded.text)
        replaced += astral > 0
        documents.append(encoded._replace(text=text))
    turtle = nif.to_turtle(documents)
    digest = hashlib.sha256(turtle.encode()).hexdigest()[:12]
    # The name has no other hyphen or underscore, because GERBIL's page cuts a name at `-train` or `_test`.
    name = f"{_keep_letters(dataset.name) or 'dataset'}_{subset}_{digest}"
    return Package(name, turtle, len(documents), sum(len(d.phrases) for d in documents), replaced)


def _check_knowledge_base(phrase: nif.Phrase, dataset: Dataset) -> None:
    """Refuses a gold entity without a URI of a knowledge base that GERBIL knows."""
    if not any(uri.startswith(KNOWN) for uri in phrase.uris):
        # GERBIL would count any answer from the same unknown knowledge base as correct.
        raise UsageError(
            f"GERBIL does not know the knowledge base of {phrase.uris[0]}: in a dataset in `{dataset.card.language}`"
            " every gold entity needs a QID"
        )


def _keep_letters(name: str) -> str:
    return re.sub("[^A-Za-z0-9]", "", name)
