"""What the mention browser shows, packed so that every text stands in the file once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shadowprobe.answers import NO_GOLD, resolve_candidate
from shadowprobe.dataset import SUBSETS, Dataset
from shadowprobe.errors import UsageError
from shadowprobe.jsonl import read_lines
from shadowprobe.model import Prediction
from shadowprobe.offsets import to_utf16
from shadowprobe.outcomes import MEANING, OUTCOMES, outcomes
from shadowprobe.run_directory import PREDICTIONS, read_failures
from shadowprobe.run_kinds import refuse_one_name
from shadowprobe.runs import FinishedRun

# How many candidates are shown; some linkers give a hundred, and nobody reads them in a neutral context.
CANDIDATES, NEUTRAL_CANDIDATES = 6, 2
DESCRIPTION = 160
NOTHING = -1


class Strings:
    """Texts by number, each kept once; neutral contexts of different names share what stands around the name."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str | None) -> int:
        """The number of a text, or NOTHING for none."""
        return NOTHING if text is None else self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        """The texts in the order of their numbers."""
        return list(self._numbers)


def packed(runs: Sequence[FinishedRun]) -> dict[str, Any]:
    """The dataset and the answers of runs over it, in columns of numbers and one table of texts."""
    refuse_unlike(runs)
    strings = Strings()
    dataset = runs[0].dataset
    snippets = _snippets(dataset, strings)
    found = {
        "subsets": SUBSETS,
        "outcomes": [[outcome, MEANING[outcome]] for outcome in OUTCOMES],
        "snippets": snippets,
        "spaces": [
            [strings.number(name), [strings.number(title) for title in space.entities]]
            for name, space in dataset.spaces.items()
        ],
        "systems": [_system(run, strings) for run in runs],
    }
    return {**found, "entities": _entities(dataset, strings), "strings": strings.all()}


def refuse_unlike(runs: Sequence[FinishedRun]) -> None:
    """Refuses runs that cannot stand side by side: over other snippets, or under one name."""
    first = runs[0]
    for run in runs[1:]:
        for what, one, other in (
            ("digest", first.dataset.digest, run.dataset.digest),
            ("limit", first.dataset.limit, run.dataset.limit),
        ):
            if one != other:
                raise UsageError(
                    f"{run.path} is not over the same snippets as {first.path}: the {what} of its dataset"
                    f" `{run.dataset.name}` is {other}, and that of `{first.dataset.name}` is {one}; write a report for"
                    " each"
                )
    refuse_one_name(runs, "--name")


def _snippets(dataset: Dataset, strings: Strings) -> dict[str, list[Any]]:
    """The snippets in columns; a text is cut around its mention, so that no offset has to be counted in a browser."""
    spaces = {name: number for number, name in enumerate(dataset.spaces)}
    columns: dict[str, list[Any]] = {
        name: [] for name in ("id", "subset", "space", "before", "mention", "after", "gold", "source")
    }
    for snippet in dataset.snippets():
        row = {
            "id": snippet.id,
            "subset": SUBSETS.index(snippet.subset),
            "space": spaces[snippet.space] if snippet.space is not None else NOTHING,
            "before": strings.number(snippet.text[: snippet.start]),
            "mention": strings.number(snippet.mention),
            "after": strings.number(snippet.text[snippet.end :]),
            "gold": strings.number(snippet.gold),
            "source": strings.number(snippet.source),
        }
        for name, value in row.items():
            columns[name].append(value)
    columns["id"] = _front_coded(columns["id"])
    if all(number == NOTHING for number in columns["source"]):
        del columns["source"]
    return columns


def _front_coded(names: Sequence[str]) -> list[Any]:
    """For each name how many characters it shares with the one before, as a browser counts them, and the rest.

    Identifiers are a fifth of the file otherwise, and hardly differ from one to the next.
    """
    coded: list[Any] = []
    before = ""
    for name in names:
        pairs = enumerate(zip(before, name, strict=False))
        shared = next((place for place, (one, other) in pairs if one != other), min(len(before), len(name)))
        coded += [to_utf16(name, shared), name[shared:]]
        before = name
    return coded


def _entities(dataset: Dataset, strings: Strings) -> dict[str, list[Any]]:
    """What is known of the entities of spaces: commonness and the beginning of the description."""
    known = {}
    for space in dataset.spaces.values():
        for title in space.entities:
            entity = dataset.entities[title]
            if entity.commonness is not None or entity.description:
                about = entity.description or ""
                short = about if len(about) <= DESCRIPTION else f"{about[:DESCRIPTION].rstrip()}…"
                known[str(strings.number(title))] = [entity.commonness, short]
    return known


def _system(run: FinishedRun, strings: Strings) -> dict[str, Any]:
    """The answers of one run in columns; NIL, skipped and failed are -1, -2 and -3 instead of a text."""
    answers = run.answers
    numbers = [strings.number(name) for name in answers.names]

    def titles(codes: np.typing.NDArray[np.int32]) -> list[int]:
        return [numbers[code] if code >= 0 else code for code in codes.tolist()]

    return {
        "label": run.label,
        "entity": titles(answers.entity),
        "score": [_short(score) for score in answers.score.tolist()],
        "outcome": outcomes(answers).tolist(),
        "prior": titles(answers.prior),
        **_candidates(run, strings),
        "errors": {
            answers.row[failure.id]: failure.error for failure in read_failures(run.path) if failure.id in answers.row
        },
    }


def _candidates(run: FinishedRun, strings: Strings) -> dict[str, Any]:
    """The different lists of candidates, each a title and a score in turn, and for every row its list.

    Where not all are listed, `unlisted` says how many more a row has, and `gold_rank` where the gold one stands.
    """
    answers = run.answers
    lists: dict[tuple[Any, ...], int] = {}
    column, unlisted = [NOTHING] * len(answers), [0] * len(answers)
    for _, prediction in read_lines(run.path / PREDICTIONS, Prediction):
        row = answers.row.get(prediction.id)
        if row is None or not prediction.candidates:
            continue
        shown = prediction.candidates[: CANDIDATES if answers.gold[row] != NO_GOLD else NEUTRAL_CANDIDATES]
        one: list[Any] = []
        for candidate in shown:
            one += [strings.number(resolve_candidate(answers.resolver, candidate).entity), _short(candidate.score)]
        column[row] = lists.setdefault(tuple(one), len(lists))
        unlisted[row] = len(prediction.candidates) - len(shown)
    found: dict[str, Any] = {"lists": list(lists), "candidates": column}
    more = {"unlisted": unlisted, "gold_rank": answers.gold_rank.tolist()}
    return {**found, **more} if any(unlisted) else found


def _short(score: float | None) -> float | None:
    """A score with as many digits as a person compares; None where there is none."""
    return float(f"{score:.4g}") if score is not None and math.isfinite(score) else None
