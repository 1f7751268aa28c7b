"""Predictions in a foreign format: assigns the answers in documents to the snippets of a dataset."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from shadowprobe.base.identity import Resolver, wikipedia_uri
from shadowprobe.base.model import Prediction
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import InputError
from shadowprobe.formats.documents import AnnotatedDocument, Mention


class _MentionSpan(Struct, frozen=True):
    """The span of a snippet's mention, in the text and in the text without white space."""

    span: tuple[int, int]
    compact: tuple[int, int]
    snippet_id: str


class MatchedPredictions(Struct):
    """The predictions for a dataset from a file, and a count of what could not be used."""

    predictions: dict[str, Prediction] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def notes(self) -> Iterator[str]:
        """One line for each reason why answers were not used."""
        for why, count in self.left_out.items():
            yield f"{why}: {count}"


def match_predictions(
    path: Path, documents: Iterable[tuple[Path, AnnotatedDocument]], dataset: Dataset, *, gerbil_nil: bool = False
) -> MatchedPredictions:
    """Gives every snippet of a document the document's answer for its span, or skips it if there is none.

    A document is identified by its id and its text, or else by its text, or by its id if it has no text. White space is
    ignored, because formats with tokens change it. As in GERBIL, an answer for a span that is not a mention of the
    dataset is ignored. If any answer has several candidates, an answer that is listed alone is a candidate too. With
    `gerbil_nil`, a marked span without an entity is NIL, as in GERBIL; without it, the span is skipped.
    """
    index, matched, total = _Index(dataset, gerbil_nil=gerbil_nil), MatchedPredictions(), 0
    perhaps_ranked: set[str] = set()
    for file, document in documents:
        total += 1
        mentions = index.find(document, file.stem)
        if mentions is None:
            matched.left_out["documents of which the dataset has no mention"] += 1
            continue
        _match_document(document, mentions, index, matched, perhaps_ranked)
    if not any(len(prediction.candidates) > 1 for prediction in matched.predictions.values()):
        for snippet_id in perhaps_ranked:
            matched.predictions[snippet_id] = replace(matched.predictions[snippet_id], candidates=())
    if not matched.predictions:
        problem = f"none of its {total} documents is in" if total else "has no document, and so no answer to"
        raise InputError(path, f"{problem} the dataset `{dataset.name}`: the ids and texts must be the dataset's")
    return matched


class _Index:
    """The mentions of a dataset by the id and by the text of their document."""

    def __init__(self, dataset: Dataset, *, gerbil_nil: bool) -> None:
        self._language, self._gerbil_nil = dataset.card.language, gerbil_nil
        self._resolver = Resolver(dataset.entities.values(), language=self._language)
        self._by_name: dict[tuple[str, int | None], list[_MentionSpan]] = {}
        self._by_text: dict[int, list[_MentionSpan]] = {}
        for snippet in dataset.snippets():
            span = snippet.start, snippet.end
            mention = _MentionSpan(span, _compact_span(snippet.text, span), snippet.id)
            name, text = snippet.document or snippet.id, hash(_drop_white_space(snippet.text))
            self._by_name.setdefault((name, text), []).append(mention)
            self._by_name.setdefault((name, None), []).append(mention)
            self._by_text.setdefault(text, []).append(mention)

    def find(self, document: AnnotatedDocument, file: str) -> list[_MentionSpan] | None:
        """Returns the dataset's mentions in a document, or None if it has none."""
        # The names of documents that were imported from several files begin with the name of their file.
        names = [document.id, f"{file}/{document.id}"]
        if not document.text:
            return self._find_name(names, None)
        text = hash(_drop_white_space(document.text))
        # Formats with one mention per line number the lines of a document.
        names += [name.rpartition("#")[0] for name in names]
        return self._find_name(names, text) or self._by_text.get(text)

    def _find_name(self, names: list[str], text: int | None) -> list[_MentionSpan] | None:
        return next((self._by_name[name, text] for name in names if (name, text) in self._by_name), None)

    def list_answers(self, mentions: list[Mention]) -> list[Mention]:
        """Returns the mentions with an answer; in GERBIL's counting, a mention without an entity is an answer too."""
        answers = [mention for mention in mentions if mention.is_answered]
        return answers or (mentions[:1] if self._gerbil_nil else [])

    def make_prediction(self, snippet_id: str, mention: Mention | None) -> Prediction:
        """Makes the prediction of a mention; None is a skipped one."""
        if mention is None:
            return Prediction(snippet_id, status="skipped")
        if not mention.has_entity:
            return Prediction(snippet_id, status="nil", score=mention.score)
        return Prediction(
            snippet_id,
            answer=self._choose_reference(mention),
            page_id=mention.page_id,
            qid=mention.qid,
            score=mention.score,
            candidates=mention.candidates,
        )

    def _choose_reference(self, mention: Mention) -> str | None:
        """Returns the title of an answer; if it has several references, the first that the dataset knows."""
        title = mention.title
        if title is None:
            return None
        if mention.language not in {None, self._language}:
            # An article of another language edition is not the article with the same title in the dataset's language.
            title = wikipedia_uri(title, str(mention.language))
        references = (title, *mention.others)
        return next((one for one in references if self._resolver.resolve(one).rule != "unresolved"), title)


def _drop_white_space(text: str) -> str:
    return "".join(text.split())


def _compact_span(text: str, span: tuple[int, int]) -> tuple[int, int]:
    return len(_drop_white_space(text[: span[0]])), len(_drop_white_space(text[: span[1]]))


def _match_document(
    document: AnnotatedDocument,
    expected: list[_MentionSpan],
    index: _Index,
    matched: MatchedPredictions,
    perhaps_ranked: set[str],
) -> None:
    by_span: dict[tuple[int, int] | None, list[Mention]] = {}
    for mention in document.mentions:
        by_span.setdefault(_locate_mention(document.text, mention), []).append(mention)
    spans = [mention.compact if document.text else mention.span for mention in expected]
    if elsewhere := sum(len(mentions) for span, mentions in by_span.items() if span not in spans):
        matched.left_out["answers on spans that are no mention of the dataset"] += elsewhere
    for span, snippet_id in zip(spans, (mention.snippet_id for mention in expected), strict=True):
        answers = index.list_answers(by_span.get(span, []))
        if len(answers) > 1:
            matched.left_out["mentions with several answers, of which the best-scored counts"] += 1
        before = matched.predictions.get(snippet_id)
        if before is None or before.status == "skipped":
            best = _choose_best(answers)
            matched.predictions[snippet_id] = index.make_prediction(snippet_id, best)
            if best is not None and best.perhaps_ranked:
                perhaps_ranked.add(snippet_id)
        elif answers:
            matched.left_out["mentions answered in two documents, of which the first counts"] += 1


def _locate_mention(text: str, mention: Mention) -> tuple[int, int] | None:
    """Returns the span of a mention, without white space if there is a text; None if it is outside of the text."""
    span = mention.start, mention.end
    if not text:
        return span
    return _compact_span(text, span) if 0 <= mention.start < mention.end <= len(text) else None


def _choose_best(answers: list[Mention]) -> Mention | None:
    """Returns the answer with the highest score, or the first one if scores are equal or missing."""
    return max(answers, key=lambda mention: -math.inf if mention.score is None else mention.score, default=None)
