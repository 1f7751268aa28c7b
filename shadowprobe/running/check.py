"""Is a wrapper right? Small cases that every linker must pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from shadowprobe.base.identity import Resolver
from shadowprobe.base.model import Failure, Prediction, Snippet
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import ItemError, LinkerError, ShadowprobeError, format_error
from shadowprobe.systems.calling import link_batch
from shadowprobe.systems.linker import Linker, without_gold

UNKNOWN_NAME = "Qwyzzlethorp Vandermuckle"
ASTRAL = "\N{CLAPPER BOARD}\N{MATHEMATICAL BOLD CAPITAL A}"
# Snippets of each subset.
SAMPLE = 4


class Finding(Struct, frozen=True):
    """One thing that was checked: it holds, or it does not and why."""

    what: str
    holds: bool
    detail: str = ""


class BrokenError(ShadowprobeError):
    """What a case found wrong; its text is for the author of the wrapper."""


def check(linker: Linker, dataset: Dataset) -> Iterator[Finding]:
    """Runs all cases; one that fails does not stop the others, unless the system cannot be reached at all."""
    try:
        linker.open(dataset.knowledge)
    except Exception as error:
        yield Finding("it starts", False, format_error(error))
        return
    yield Finding("it starts", True, linker.ready())
    battery = _Battery(linker, dataset)
    try:
        for what, case in battery.cases():
            try:
                yield Finding(what, True, case())
            except Exception as error:
                yield Finding(what, False, format_error(error))
                if isinstance(error, LinkerError) and not isinstance(error, ItemError):
                    # No other case would fare better.
                    return
    finally:
        linker.close()


def describe_request(linker: Linker, dataset: Dataset) -> str:
    """What a linker sends for the first snippet; empty where it cannot say."""
    try:
        return linker.outgoing(without_gold(next(dataset.snippets())))
    except Exception:
        # The findings already say what is wrong.
        return ""


class _Battery:
    """The cases, over a few snippets of the dataset and what can be made of them."""

    def __init__(self, linker: Linker, dataset: Dataset) -> None:
        self.linker = linker
        self.resolver = Resolver(dataset.entities.values(), language=dataset.card.language)
        sample = (one for subset in dataset.subsets for one in islice(dataset.snippets(subset), SAMPLE))
        self.sample = [snippet if linker.sees_gold else without_gold(snippet) for snippet in sample]

    def cases(self) -> list[tuple[str, Callable[[], str]]]:
        """Each thing to be checked, in the words of a table row, and how."""
        return [
            ("it answers", self.check_first),
            ("a prediction for every snippet, none besides", self.check_complete),
            ("no snippets, no predictions", self.check_empty),
            ("the same answers for any batch size", self.check_batches),
            ("the same answers in any order", self.check_order),
            ("the name twice: each of the two can be asked for", self.check_repeated_name),
            ("characters beyond the BMP before the mention", self.check_astral),
            ("mention at the very start and at the very end", self.check_edges),
            ("an unknown name: NIL or skipped, or an answer, but no crash", self.check_unknown),
            ("scores are finite, candidates fall from the best", self.check_scores),
            ("answers are entities that the dataset knows", self.check_known),
        ]

    def check_first(self) -> str:
        snippet = self.sample[0]
        prediction = self._link([snippet])[0]
        shown = prediction.answer or prediction.qid or prediction.page_id or prediction.status
        score = f", score {prediction.score:.4g}" if prediction.score is not None else ""
        known = ""
        if prediction.status == "linked":
            resolved = self.resolver.resolve(prediction.answer, prediction.page_id, prediction.qid)
            known = f", resolved by {resolved.rule}" if resolved.rule != "unresolved" else ", unknown to the dataset"
        return f"{_show(snippet)} -> {shown}{score}{known}"

    def check_complete(self) -> str:
        self._link(self.sample)
        return f"{len(self.sample)} of {len(self.sample)}"

    def check_empty(self) -> str:
        self._link([])
        return ""

    def check_batches(self) -> str:
        whole = self._link(self.sample)
        for size in (1, 2, 5):
            parts = [self.sample[i : i + size] for i in range(0, len(self.sample), size)]
            self._compare(whole, [prediction for part in parts for prediction in self._link(part)], f"size {size}")
        return "sizes 1, 2, 5 and all"

    def check_order(self) -> str:
        backwards = self._link(self.sample[::-1])[::-1]
        self._compare(self._link(self.sample), backwards, "the reverse order")
        return ""

    @cached_property
    def answered(self) -> Snippet | None:
        """The first snippet of the sample that gets an entity, if any does."""
        return next((snippet for snippet in self.sample if self._link([snippet])[0].status == "linked"), None)

    def check_repeated_name(self) -> str:
        snippet = self.answered or self.sample[0]
        text = f"{snippet.text} {snippet.mention}."
        again = replace(
            snippet,
            id="check-second",
            text=text,
            start=len(text) - len(snippet.mention) - 1,
            end=len(text) - 1,
        )
        both = self._link([replace(snippet, id="check-first", text=text), again])
        for place, prediction in zip(("first", "second"), both, strict=True):
            if self.answered is not None and prediction.status == "skipped":
                raise BrokenError(
                    f"{_show(snippet)} is answered, and with the name once more behind it the {place} is skipped:"
                    " is it looked for in the text, and not where its offsets say?"
                )
        return self._describe_unanswered()

    def check_astral(self) -> str:
        snippet = self.answered or self.sample[0]
        shift = len(ASTRAL) + 1
        moved = replace(
            snippet,
            id="check-astral",
            text=f"{ASTRAL} {snippet.text}",
            start=snippet.start + shift,
            end=snippet.end + shift,
        )
        prediction = self._link([moved])[0]
        if self.answered is not None and prediction.status != "linked":
            raise BrokenError(
                f"{_show(snippet)} is answered, and behind such characters it is {prediction.status}:"
                " are its offsets code points, or does the system count otherwise?"
            )
        return self._describe_unanswered() or f"{prediction.answer or prediction.status}"

    def _describe_unanswered(self) -> str:
        return "" if self.answered is not None else "unknown: no snippet of the sample is answered"

    def check_edges(self) -> str:
        snippet = self.sample[0]
        name = snippet.mention
        bare = replace(snippet, id="check-bare", text=name, start=0, end=len(name))
        first = replace(snippet, id="check-start", text=f"{name} was named first.", start=0, end=len(name))
        text = f"Last came {name}"
        last = replace(snippet, id="check-end", text=text, start=text.index(name), end=len(text))
        self._link([bare, first, last])
        return ""

    def check_unknown(self) -> str:
        text = f"Nobody has ever heard of {UNKNOWN_NAME} before."
        start = text.index(UNKNOWN_NAME)
        snippet = Snippet("check-unknown", "all", text, start, start + len(UNKNOWN_NAME))
        prediction = self._link([snippet])[0]
        return prediction.status if prediction.status != "linked" else f"answered with {prediction.answer}"

    def check_scores(self) -> str:
        predictions = self._link(self.sample)
        scores = {prediction.id: prediction.score for prediction in predictions if prediction.score is not None}
        listed = [prediction for prediction in predictions if prediction.candidates]
        for snippet_id, score in scores.items():
            if not math.isfinite(score):
                raise BrokenError(f"{snippet_id}: score {score} is not finite; give None for no score")
        for prediction in listed:
            known = [candidate.score for candidate in prediction.candidates if candidate.score is not None]
            if known != sorted(known, reverse=True):
                raise BrokenError(f"{prediction.id}: the candidates are not ordered from the best score down")
        return f"{len(scores)} of {len(predictions)} with a score, {len(listed)} with candidates"

    def check_known(self) -> str:
        linked = [prediction for prediction in self._link(self.sample) if prediction.status == "linked"]
        rules = [self.resolver.resolve(p.answer, p.page_id, p.qid).rule for p in linked]
        known = len(rules) - rules.count("unresolved")
        if rules and not known:
            shown = linked[0].answer or linked[0].qid or linked[0].page_id
            raise BrokenError(
                f"none of {len(rules)}, such as {shown!r}: titles of another wiki, or ids it does not have?"
            )
        return f"{known} of {len(rules)}"

    def _link(self, snippets: Sequence[Snippet]) -> list[Prediction]:
        """The predictions in the order of the snippets."""
        predictions = []
        for given in link_batch(self.linker, snippets).values():
            if isinstance(given, Failure):
                raise BrokenError(f"{given.id}: {given.error}")
            if problem := given.find_problem():
                raise BrokenError(f"{given.id}: `{problem[0]}` {problem[1]}")
            predictions.append(given)
        return predictions

    def _compare(self, expected: Sequence[Prediction], actual: Sequence[Prediction], when: str) -> None:
        for one, other in zip(expected, actual, strict=True):
            if _key(one) != _key(other):
                raise BrokenError(f"{one.id}: {one.answer or one.status}, but {other.answer or other.status} in {when}")


def _key(prediction: Prediction) -> tuple[object, ...]:
    return prediction.status, prediction.answer, prediction.page_id, prediction.qid


def _show(snippet: Snippet) -> str:
    before, after = snippet.text[: snippet.start][-30:], snippet.text[snippet.end :][:30]
    return f"...{before}[{snippet.mention}]{after}..."
