"""What the mention browser shows, with every text in the file only once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from shadowprobe.base.jsonl import read_lines
from shadowprobe.base.model import Prediction
from shadowprobe.base.offsets import to_utf16
from shadowprobe.dataset.dataset import SUBSETS, Dataset
from shadowprobe.errors import PluginError
from shadowprobe.measure.answer_columns import resolve_candidate
from shadowprobe.measure.answers import NO_GOLD
from shadowprobe.measure.outcomes import MEANING, OUTCOMES, classify_answers
from shadowprobe.plugins import PROBES, listings, make_probe
from shadowprobe.running.directory import PREDICTIONS, read_failures
from shadowprobe.running.finished import FinishedRun, check_comparable
from shadowprobe.systems.calling import SEE_DEBUG, name_errors

# How many candidates are shown: some linkers give a hundred, and in a neutral context few matter.
CANDIDATES, NEUTRAL_CANDIDATES = 6, 2
DESCRIPTION = 160
NOTHING = -1


class Strings:
    """Texts by number, each kept once; neutral contexts of different names share the text around the name."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str | None) -> int:
        """The number of a text, or NOTHING for none."""
        return NOTHING if text is None else self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        """The texts in the order of their numbers."""
        return list(self._numbers)


def to_columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows of values as columns with names."""
    cells = list(rows)
    return {name: [row[place] for row in cells] for place, name in enumerate(names)}


def pack_mentions(runs: Sequence[FinishedRun]) -> dict[str, Any]:
    """The dataset and the answers of runs over it, in columns of numbers and one table of texts."""
    check_comparable(runs)
    strings = Strings()
    dataset = runs[0].dataset
    return {
        "subsets": SUBSETS,
        "outcomes": [[outcome, MEANING[outcome]] for outcome in OUTCOMES],
        "snippets": _snippets(dataset, strings),
        "spaces": [
            [strings.number(name), [strings.number(title) for title in space.entities]]
            for name, space in dataset.spaces.items()
        ],
        "systems": [_system(run, strings) for run in runs],
        "entities": _entities(dataset, strings),
        # Last, when every text has its number.
        "strings": strings.all(),
    }


def _snippets(dataset: Dataset, strings: Strings) -> dict[str, list[Any]]:
    """The snippets in columns; a text is split at its mention, so that a browser needs no offsets."""
    spaces = {name: number for number, name in enumerate(dataset.spaces)}
    names = ("id", "subset", "space", "before", "mention", "after", "gold", "source")
    rows = (
        (
            snippet.id,
            SUBSETS.index(snippet.subset),
            spaces[snippet.space] if snippet.space is not None else NOTHING,
            strings.number(snippet.text[: snippet.start]),
            strings.number(snippet.mention),
            strings.number(snippet.text[snippet.end :]),
            strings.number(snippet.gold),
            strings.number(snippet.source),
        )
        for snippet in dataset.snippets()
    )
    columns = to_columns(names, rows)
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

    def titles(codes: np.typing.NDArray[np.int32]) -> list[int]:
        return [strings.number(answers.names[code]) if code >= 0 else code for code in codes.tolist()]

    return {
        "label": run.label,
        "entity": titles(answers.entity),
        "score": [shorten(score) for score in answers.score.tolist()],
        "outcome": classify_answers(answers).tolist(),
        "prior": titles(answers.prior),
        **_candidates(run, strings),
        **_columns(run, strings),
        "errors": {
            answers.row[failure.id]: failure.error for failure in read_failures(run.path) if failure.id in answers.row
        },
    }


def _candidates(run: FinishedRun, strings: Strings) -> dict[str, Any]:
    """The different lists of candidates, each a title and a score in turn, and for every row its list.

    Where not all are listed, `unlisted` says how many more a row has, and `gold_rank` the rank of the gold one.
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
            # A run has stored the entity; a file from elsewhere need not have it.
            entity = candidate.entity or resolve_candidate(answers.resolver, candidate).entity
            one += [strings.number(entity), shorten(candidate.score)]
        column[row] = lists.setdefault(tuple(one), len(lists))
        unlisted[row] = len(prediction.candidates) - len(shown)
    columns: dict[str, Any] = {"lists": list(lists), "candidates": column}
    if any(unlisted):
        columns |= {"unlisted": unlisted, "gold_rank": answers.gold_rank.tolist()}
    return columns


def _columns(run: FinishedRun, strings: Strings) -> dict[str, Any]:
    """The columns that probes of other packages add: each a title, and for every row a text or nothing."""
    answers = run.answers
    columns: dict[str, list[int]] = {}
    # The outcomes are the column of our own probes.
    others = {listing.name for listing in listings(PROBES) if listing.package != "shadowprobe"}
    for probe in (make_probe(name) for name in run.results["probes"] if name in others):
        with name_errors(f"rows() of the probe `{probe.name}` failed", PluginError, SEE_DEBUG):
            for row in probe.rows(answers):
                place = answers.row[row["id"]]
                for name, value in row.items():
                    if name != "id":
                        column = columns.setdefault(f"{probe.name} {name}", [NOTHING] * len(answers))
                        column[place] = strings.number(str(value))
    return {"columns": list(columns.items())} if columns else {}


def shorten(score: float | None) -> float | None:
    """A score with as many digits as a person compares; None where there is none."""
    return float(f"{score:.4g}") if score is not None and math.isfinite(score) else None
