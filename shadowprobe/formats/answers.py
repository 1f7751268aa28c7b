"""Predictions in a foreign format: documents with answers, set on the snippets of a dataset."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from shadowprobe.dataset import Dataset
from shadowprobe.errors import InputError
from shadowprobe.formats.documents import Document, Mention
from shadowprobe.identity import wikipedia_uri
from shadowprobe.model import Prediction


class _Place(Struct, frozen=True):
    """Where a snippet's mention stands, in the text and in the text without its white space."""

    span: tuple[int, int]
    squeezed: tuple[int, int]
    snippet_id: str


class Taken(Struct):
    """The predictions that a file holds for a dataset, and what of it could not be used."""

    # That of the dataset's titles.
    language: str = "en"
    predictions: dict[str, Prediction] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def notes(self) -> Iterator[str]:
        """What a reader of the results must know."""
        for why, count in self.left_out.items():
            yield f"{why}: {count}"


def take(path: Path, found: Iterable[tuple[Path, Document]], dataset: Dataset) -> Taken:
    """Gives every snippet of a document what the document says of its span, and nothing where it says nothing.

    A document is found by its id, where the text is the same, or else by its text; one without a text by its id. White
    space does not count, since formats of tokens change it. As in GERBIL, an answer on a span that is no mention of
    the dataset counts for nothing. Where any answer has several candidates, one that stands alone is a candidate too.
    """
    index, taken, total = _Index(dataset), Taken(dataset.card.language), 0
    perhaps_ranked: set[str] = set()
    for file, document in found:
        total += 1
        places = index.places(document, file.stem)
        if places is None:
            taken.left_out["documents of which the dataset has no mention"] += 1
            continue
        _take_document(document, places, taken, perhaps_ranked)
    if not any(len(prediction.candidates) > 1 for prediction in taken.predictions.values()):
        for snippet_id in perhaps_ranked:
            taken.predictions[snippet_id] = replace(taken.predictions[snippet_id], candidates=())
    if not taken.predictions:
        what = f"none of its {total} documents is in" if total else "has no document, and so no answer to"
        raise InputError(path, f"{what} the dataset `{dataset.name}`: the ids and texts must be the dataset's")
    return taken


class _Index:
    """The mentions of a dataset by the id and by the text of their document."""

    def __init__(self, dataset: Dataset) -> None:
        self._by_name: dict[tuple[str, int | None], list[_Place]] = {}
        self._by_text: dict[int, list[_Place]] = {}
        for snippet in dataset.snippets():
            span = snippet.start, snippet.end
            place = _Place(span, _squeezed_span(snippet.text, span), snippet.id)
            name, text = snippet.document or snippet.id, hash(_squeezed(snippet.text))
            self._by_name.setdefault((name, text), []).append(place)
            self._by_name.setdefault((name, None), []).append(place)
            self._by_text.setdefault(text, []).append(place)

    def places(self, document: Document, file: str) -> list[_Place] | None:
        """The mentions that a document is about, or None where the dataset has none of it."""
        # Documents that were imported from several files carry the name of theirs.
        names = [document.id, f"{file}/{document.id}"]
        if not document.text:
            return self._first(names, None)
        text = hash(_squeezed(document.text))
        # Formats of one mention a line number the lines of a document.
        names += [name.rpartition("#")[0] for name in names]
        return self._first(names, text) or self._by_text.get(text)

    def _first(self, names: list[str], text: int | None) -> list[_Place] | None:
        return next((self._by_name[name, text] for name in names if (name, text) in self._by_name), None)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _squeezed_span(text: str, span: tuple[int, int]) -> tuple[int, int]:
    return len(_squeezed(text[: span[0]])), len(_squeezed(text[: span[1]]))


def _take_document(document: Document, places: list[_Place], taken: Taken, perhaps_ranked: set[str]) -> None:
    by_span: dict[tuple[int, int] | None, list[Mention]] = {}
    for mention in document.mentions:
        by_span.setdefault(_span(document.text, mention), []).append(mention)
    spans = {place.squeezed if document.text else place.span for place in places}
    if elsewhere := sum(1 for span, found in by_span.items() if span not in spans for _ in found):
        taken.left_out["answers on spans that are no mention of the dataset"] += elsewhere
    for place in places:
        found = by_span.get(place.squeezed if document.text else place.span, [])
        said = [mention for mention in found if mention.has_entity or mention.nil]
        if len(said) > 1:
            taken.left_out["mentions with several answers, of which the best-scored counts"] += 1
        before = taken.predictions.get(place.snippet_id)
        if before is None or before.status == "skipped":
            best = _best(said)
            taken.predictions[place.snippet_id] = _prediction(place.snippet_id, best, taken.language)
            if best is not None and best.perhaps_ranked:
                perhaps_ranked.add(place.snippet_id)
        elif said:
            taken.left_out["mentions answered in two documents, of which the first counts"] += 1


def _span(text: str, mention: Mention) -> tuple[int, int] | None:
    """Where a mention stands as `_Place` has it; nowhere, if that is outside of the text."""
    span = mention.start, mention.end
    if not text:
        return span
    return _squeezed_span(text, span) if 0 <= mention.start < mention.end <= len(text) else None


def _best(said: list[Mention]) -> Mention | None:
    """The answer with the highest score; the first of equals, and of those without any."""
    return max(said, key=lambda mention: -math.inf if mention.score is None else mention.score, default=None)


def _prediction(snippet_id: str, mention: Mention | None, language: str) -> Prediction:
    if mention is None:
        return Prediction(snippet_id, status="skipped")
    if mention.nil:
        return Prediction(snippet_id, status="nil", score=mention.score)
    title = mention.title
    if title is not None and mention.language not in {None, language}:
        # An article of another Wikipedia is not the one of the same title in the dataset's own.
        title = wikipedia_uri(title, str(mention.language))
    return Prediction(
        snippet_id,
        answer=title,
        page_id=mention.page_id,
        qid=mention.qid,
        score=mention.score,
        candidates=mention.candidates,
    )
