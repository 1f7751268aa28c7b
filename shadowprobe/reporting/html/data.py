"""What the mention browser shows of the runs of linkers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shadowprobe.base.jsonl import read_lines
from shadowprobe.base.model import Prediction
from shadowprobe.base.offsets import to_utf16
from shadowprobe.dataset.dataset import SUBSETS, Dataset
from shadowprobe.errors import PluginError
from shadowprobe.measure.answer_columns import Ints, resolve_candidate
from shadowprobe.measure.answers import NO_GOLD
from shadowprobe.measure.outcomes import MEANING, OUTCOMES, classify_answers
from shadowprobe.plugins import PROBES, listings, make_probe
from shadowprobe.reporting.html.blocks import Series
from shadowprobe.reporting.html.strings import NOTHING, Passages, Strings
from shadowprobe.running.directory import PREDICTIONS, read_failures
from shadowprobe.running.finished import FinishedRun, check_comparable
from shadowprobe.systems.calling import SEE_DEBUG, name_errors

# How many candidates are shown: some linkers give a hundred, and in a neutral context few matter.
CANDIDATES, NEUTRAL_CANDIDATES = 6, 2
DESCRIPTION = 160


def pack_mentions(runs: Sequence[FinishedRun]) -> dict[str, Any]:
    """The dataset and the answers of runs over it, in columns of numbers and two tables of texts."""
    check_comparable(runs)
    # First, because it needs most memory for a moment.
    outcomes = [classify_answers(run.answers) for run in runs]
    strings, passages = Strings(), Passages()
    dataset = runs[0].dataset
    return {
        "subsets": list(SUBSETS),
        "outcomes": [[outcome, MEANING[outcome]] for outcome in OUTCOMES],
        # Before the snippets, so that the numbers of names and titles grow by the same steps.
        "spaces": _spaces(dataset, strings, passages),
        "snippets": _snippets(dataset, strings, passages),
        "systems": [_system(run, codes, strings) for run, codes in zip(runs, outcomes, strict=True)],
        # Last, when every text has its number.
        "strings": strings.all(),
        "passages": passages,
    }


def _spaces(dataset: Dataset, strings: Strings, passages: Passages) -> dict[str, Series]:
    """The names, how many entities each has, and one after the other what is known of these."""
    columns = {name: Series() for name in ("name", "size", "entity", "description")}
    commonness = Series(is_delta=False)
    for name, space in dataset.spaces.items():
        columns["name"].append(strings.number(name))
        columns["size"].append(len(space.entities))
        for title in space.entities:
            entity = dataset.entities[title]
            about = entity.description or ""
            short = about if len(about) <= DESCRIPTION else f"{about[:DESCRIPTION].rstrip()}…"
            columns["entity"].append(strings.number(title))
            columns["description"].append(passages.number(short or None))
            commonness.append(entity.commonness)
    return _close({**columns, "commonness": commonness})


def _snippets(dataset: Dataset, strings: Strings, passages: Passages) -> dict[str, Series]:
    """The snippets in columns; a text is split at its mention, so that a browser needs no offsets."""
    spaces = {name: number for number, name in enumerate(dataset.spaces)}
    columns = {name: Series() for name in ("subset", "space", "before", "mention", "after", "gold", "source")}
    columns["id"] = Series(is_delta=False)
    before = ""
    for snippet in dataset.snippets():
        columns["subset"].append(SUBSETS.index(snippet.subset))
        columns["space"].append(spaces[snippet.space] if snippet.space is not None else NOTHING)
        columns["before"].append(passages.number(snippet.text[: snippet.start]))
        columns["mention"].append(strings.number(snippet.mention))
        columns["after"].append(passages.number(snippet.text[snippet.end :]))
        columns["gold"].append(strings.number(snippet.gold))
        columns["source"].append(passages.number(snippet.source))
        columns["id"].extend(_front_code(before, snippet.id))
        before = snippet.id
    return _close(columns)


def _close(columns: dict[str, Series]) -> dict[str, Series]:
    """Columns that are complete need no compressor any more."""
    for column in columns.values():
        column.close()
    return columns


def _front_code(before: str, name: str) -> tuple[int, str]:
    """How many characters a name shares with the one before, as a browser counts them, and the rest.

    Identifiers hardly differ from one to the next.
    """
    pairs = enumerate(zip(before, name, strict=False))
    shared = next((place for place, (one, other) in pairs if one != other), min(len(before), len(name)))
    return to_utf16(name, shared), name[shared:]


def _system(run: FinishedRun, outcomes: npt.NDArray[np.int8], strings: Strings) -> dict[str, Any]:
    """The answers of one run in columns; NIL, skipped and failed are -1, -2 and -3 instead of a text."""
    answers = run.answers

    def number_titles(codes: Ints) -> Ints:
        numbers = codes.copy()
        is_title = codes >= 0
        number_of = np.zeros(len(answers.names), dtype=np.int32)
        for code in np.unique(codes[is_title]).tolist():
            number_of[code] = strings.number(answers.names[code])
        numbers[is_title] = number_of[codes[is_title]]
        return numbers

    return {
        "label": run.label,
        "entity": number_titles(answers.entity),
        "score": Series(map(shorten, answers.score), is_delta=False),
        "outcome": outcomes,
        "prior": number_titles(answers.prior),
        **_candidates(run, strings),
        **_columns(run, strings),
        "errors": {
            answers.row[failure.id]: failure.error for failure in read_failures(run.path) if failure.id in answers.row
        },
    }


def _candidates(run: FinishedRun, strings: Strings) -> dict[str, Any]:
    """The titles and the scores of all candidates, and for every row where its own begin and how many they are.

    Where not all are listed, `unlisted` says how many more a row has, and `gold_rank` the rank of the gold one.
    """
    answers = run.answers
    start, unlisted = (np.zeros(len(answers), dtype=np.int32) for _ in range(2))
    size = np.zeros(len(answers), dtype=np.int8)
    titles, scores = Series(), Series(is_delta=False)
    place = 0
    for _, prediction in read_lines(run.path / PREDICTIONS, Prediction):
        row = answers.row.get(prediction.id)
        if row is None or not prediction.candidates:
            continue
        shown = prediction.candidates[: CANDIDATES if answers.gold[row] != NO_GOLD else NEUTRAL_CANDIDATES]
        for candidate in shown:
            # A run has stored the entity; a file from elsewhere need not have it.
            entity = candidate.entity or resolve_candidate(answers.resolver, candidate).entity
            titles.append(strings.number(entity))
            scores.append(shorten(candidate.score))
        start[row], size[row] = place, len(shown)
        unlisted[row] = len(prediction.candidates) - len(shown)
        place += len(shown)
    columns: dict[str, Any] = {"candidates": {"start": start, "size": size, "title": titles, "score": scores}}
    if unlisted.any():
        columns |= {"unlisted": unlisted, "gold_rank": answers.gold_rank}
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
    return {"columns": [list(column) for column in columns.items()]} if columns else {}


def shorten(score: float | None) -> float | None:
    """A score with as many digits as a person compares; None where there is none."""
    return float(f"{score:.4g}") if score is not None and math.isfinite(score) else None
