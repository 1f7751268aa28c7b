"""Predictions in a foreign format: assigns the answers in documents to the snippets of a dataset."""

from __future__ import annotations

import math
import re
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
from shadowprobe.formats.imported import find_trimmed_spans
from shadowprobe.formats.places import Place, drop_white_space, find_difference, locate

UNKNOWN_DOCUMENTS = "documents of which the dataset has no mention"
OTHER_TEXTS = "documents with another text than the dataset has under the same id"
TRIMMED = "answers with white space at the edges of their span, ignored because the two texts differ there"
# The number of characters that a message shows of a text.
SHOWN = 20
# Some public benchmarks mask most words. A text may have a few asterisks of its own.
_MASKED_WORDS = re.compile(r"(?<!\S)\*+(?!\S)(?:[^*]*(?<!\S)\*+(?!\S)){4}")


class _ExpectedMention(Struct, frozen=True):
    """The mention of a snippet: where answers for it may be, in its text and in a file without texts."""

    snippet_id: str
    places: tuple[Place, ...]
    places_without_text: tuple[Place, ...]


class MatchedPredictions(Struct):
    """The predictions for a dataset from a file, and a count of what was not used, or not as it stood."""

    predictions: dict[str, Prediction] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def notes(self) -> Iterator[str]:
        """One line for each reason why answers were not used, or not as they stood."""
        for why, count in self.left_out.items():
            yield f"{why}: {count}"


def match_predictions(
    path: Path, documents: Iterable[tuple[Path, AnnotatedDocument]], dataset: Dataset, *, gerbil_nil: bool = False
) -> MatchedPredictions:
    """Gives every snippet of a document the document's answer for its span, or skips it if there is none.

    A document is identified by its id and its text, or else by its text, or by its id if it has no text. Texts may
    differ in white space, because formats with tokens change it. White space at the edges of a span is ignored only
    where the two texts differ in it. As in GERBIL, an answer for a span that is not a mention of the
    dataset is ignored. If any answer has several candidates, an answer that is listed alone is a candidate too. With
    `gerbil_nil`, a marked span without an entity is NIL, as in GERBIL; without it, the span is skipped.
    """
    index, matched, total = _Index(dataset, gerbil_nil=gerbil_nil), MatchedPredictions(), 0
    other_text: tuple[AnnotatedDocument, str] | None = None
    perhaps_ranked: set[str] = set()
    for file, document in documents:
        total += 1
        mentions = index.find(document, file.stem)
        if mentions is None:
            snippet_id = index.find_other_text(document, file.stem)
            matched.left_out[UNKNOWN_DOCUMENTS if snippet_id is None else OTHER_TEXTS] += 1
            other_text = other_text or (document, snippet_id) if snippet_id is not None else other_text
            continue
        _match_document(document, mentions, index, matched, perhaps_ranked)
    if not any(len(prediction.candidates) > 1 for prediction in matched.predictions.values()):
        for snippet_id in perhaps_ranked:
            matched.predictions[snippet_id] = replace(matched.predictions[snippet_id], candidates=())
    if not matched.predictions:
        problem = f"none of its {total} documents is in" if total else "has no document, and so no answer to"
        if other_text is not None:
            reason = _describe_other_text(*other_text, dataset)
        else:
            reason = f"the ids and texts must be the dataset's{_describe_masks(dataset)}"
        raise InputError(path, f"{problem} the dataset `{dataset.name}`: {reason}")
    return matched


class _Index:
    """The mentions of a dataset by the id and by the text of their document."""

    def __init__(self, dataset: Dataset, *, gerbil_nil: bool) -> None:
        self._language, self._gerbil_nil = dataset.card.language, gerbil_nil
        self._resolver = Resolver(dataset.entities.values(), language=self._language)
        self._by_name: dict[tuple[str, int | None], list[_ExpectedMention]] = {}
        self._by_text: dict[int, list[_ExpectedMention]] = {}
        trimmed = find_trimmed_spans(dataset.card)
        for snippet in dataset.snippets():
            # A system may have got the span as the foreign file has it.
            spans = dict.fromkeys([(snippet.start, snippet.end), trimmed.get(snippet.id, (snippet.start, snippet.end))])
            places, without_text = (tuple(locate(text, *span) for span in spans) for text in (snippet.text, ""))
            mention = _ExpectedMention(snippet.id, places, without_text)
            name, text = snippet.document or snippet.id, hash(drop_white_space(snippet.text))
            self._by_name.setdefault((name, text), []).append(mention)
            self._by_name.setdefault((name, None), []).append(mention)
            self._by_text.setdefault(text, []).append(mention)

    def find(self, document: AnnotatedDocument, file: str) -> list[_ExpectedMention] | None:
        """Returns the dataset's mentions in a document, or None if it has none."""
        names = _list_names(document, file)
        if not document.text:
            return self._find_name(names, None)
        text = hash(drop_white_space(document.text))
        return self._find_name(names, text) or self._by_text.get(text)

    def find_other_text(self, document: AnnotatedDocument, file: str) -> str | None:
        """Returns a snippet of the document with the same id and another text; None if there is none."""
        mentions = self._find_name(_list_names(document, file), None)
        return mentions[0].snippet_id if mentions else None

    def _find_name(self, names: list[str], text: int | None) -> list[_ExpectedMention] | None:
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
            return Prediction(snippet_id, status="nil", score=mention.score, suspicion=mention.suspicion)
        return Prediction(
            snippet_id,
            answer=self._choose_reference(mention),
            page_id=mention.page_id,
            qid=mention.qid,
            score=mention.score,
            suspicion=mention.suspicion,
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


def _list_names(document: AnnotatedDocument, file: str) -> list[str]:
    """Lists the ids that a document may have in a dataset."""
    # The names of documents that were imported from several files begin with the name of their file.
    names = [document.id, f"{file}/{document.id}"]
    if document.text:
        # Formats with one mention per line number the lines of a document.
        names += [name.rpartition("#")[0] for name in names]
    return names


def _describe_other_text(document: AnnotatedDocument, snippet_id: str, dataset: Dataset) -> str:
    """Says where the text of a document differs from that of the dataset."""
    text = next(snippet.text for snippet in dataset.snippets() if snippet.id == snippet_id)
    ours, theirs = find_difference(document.text, text)
    parts = [repr(one[place : place + SHOWN]) for one, place in ((document.text, ours), (text, theirs))]
    name = repr(document.id[:80])
    where = f"the text of {name} differs from the dataset's at character {ours}: {parts[0]} against {parts[1]}"
    if text[theirs : theirs + 1] == "*":
        return f"{where}. The dataset's text is masked with `*`: import the full text"
    if document.text[ours : ours + 1] == "*":
        return f"{where}. The file's text is masked with `*`: make it from the full text"
    return where


def _describe_masks(dataset: Dataset) -> str:
    """Says which text of a dataset is masked, and where; empty if none is."""
    for snippet in dataset.snippets():
        if mask := _MASKED_WORDS.search(snippet.text):
            name = repr((snippet.document or snippet.id)[:80])
            return f". Its text of {name} is masked with `*` from character {mask.start()}: import the full text"
    return ""


def _match_document(
    document: AnnotatedDocument,
    expected: list[_ExpectedMention],
    index: _Index,
    matched: MatchedPredictions,
    perhaps_ranked: set[str],
) -> None:
    given = _GivenMentions(document)
    fitting = [given.find(mention.places if document.text else mention.places_without_text) for mention in expected]
    if elsewhere := len(document.mentions) - len(given.used):
        matched.left_out["answers on spans that are no mention of the dataset"] += elsewhere
    if given.trimmed:
        matched.left_out[TRIMMED] += len(given.trimmed)
    for snippet_id, mentions in zip((mention.snippet_id for mention in expected), fitting, strict=True):
        answers = index.list_answers(mentions)
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


class _GivenMentions:
    """The mentions of a document by their places; counts those that were found, and those found without white space."""

    def __init__(self, document: AnnotatedDocument) -> None:
        self.used: set[int] = set()
        self.trimmed: set[int] = set()
        self._mentions = document.mentions
        self._places: dict[tuple[int, int], list[tuple[int, Place]]] = {}
        for number, mention in enumerate(document.mentions):
            if not document.text or 0 <= mention.start < mention.end <= len(document.text):
                place = locate(document.text, mention.start, mention.end)
                self._places.setdefault(place.positions, []).append((number, place))

    def find(self, expected: tuple[Place, ...]) -> list[Mention]:
        """Returns the mentions at any of the expected places."""
        found = {}
        for positions in dict.fromkeys(place.positions for place in expected):
            for number, place in self._places.get(positions, ()):
                if any(place.fits(other) for other in expected):
                    found[number] = self._mentions[number]
                    if place.has_white_space and place not in expected:
                        self.trimmed.add(number)
        self.used.update(found)
        return list(found.values())


def _choose_best(answers: list[Mention]) -> Mention | None:
    """Returns the answer with the highest score, or the first one if scores are equal or missing."""
    return max(answers, key=lambda mention: -math.inf if mention.score is None else mention.score, default=None)
