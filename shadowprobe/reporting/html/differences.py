"""Which of two systems is better, in sentences: the paired differences with their tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from shadowprobe.measure.power import LEVEL
from shadowprobe.reporting.tables.pairs_table import name_measure
from shadowprobe.reporting.tables.table import write_p_value
from shadowprobe.reporting.tables.to_html import isolate
from shadowprobe.running.comparison import Comparison, Pair
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.headlines import list_headlines
from shadowprobe.running.item_measures import OVERSHADOWED, PRIOR_BIAS

# How a system is better by a measure that counts faults.
FAULTS = {OVERSHADOWED: "with fewer names overshadowed", PRIOR_BIAS: "with less prior bias"}
# More sentences than these are folded.
MOST_SENTENCES = 6


def write_differences(runs: Sequence[FinishedRun], comparison: Comparison) -> str:
    """Sentences on the headline measures of every two systems: which one is better, or that no difference was found."""
    measures = {one.measure for run in runs for one in list_headlines(run.results)}
    pairs = [pair for pair in comparison.pairs if pair.measure in measures]
    pairs.sort(key=lambda pair: (_place(comparison, pair.first), _place(comparison, pair.second)))
    items = [
        f"<li>{sentence}</li>"
        for _, group in groupby(pairs, key=lambda pair: (pair.first, pair.second))
        for sentence in _sentences(list(group))
    ]
    if not items:
        return ""
    corrected = ", corrected by Holm over all pairs of systems" if len(comparison.systems) > 2 else ""
    note = f"Paired over the same items; 95% intervals in brackets; p by McNemar's exact test{corrected}."
    content = f'<ul class="differences">{"".join(items)}</ul><p class="quiet">{note}</p>'
    if len(items) > MOST_SENTENCES:
        return f"<details><summary>The differences between the systems</summary>{content}</details>"
    return content


def _place(comparison: Comparison, label: str) -> int:
    return next(place for place, system in enumerate(comparison.systems) if system["label"] == label)


def _sentences(pairs: Sequence[Pair]) -> Iterator[str]:
    """The sentences on two systems: what each is better at, and where no difference was found."""
    first, second = pairs[0].first, pairs[0].second
    clear = [pair for pair in pairs if pair.holm_p < LEVEL]
    for better, worse in ((first, second), (second, first)):
        phrases = [_gain(pair) for pair in clear if (pair.win > pair.loss) == (better == first)]
        if phrases:
            yield f"{isolate(better)} is better than {isolate(worse)} {_join(phrases)}."
    unclear = [f"on {escape(name_measure(pair))} ({_p(pair)})" for pair in pairs if pair not in clear]
    if unclear:
        yield f"Between {isolate(first)} and {isolate(second)} no difference was found {_join(unclear)}."


def _gain(pair: Pair) -> str:
    sign = 1 if pair.difference > 0 else -1
    low, high = sorted(100 * sign * bound for bound in pair.difference_ci95)
    words = FAULTS.get(pair.measure) or f"on {escape(name_measure(pair))}"
    return f"{words} by {100 * abs(pair.difference):.1f} points ({low:.1f} to {high:.1f}, {_p(pair)})"


def _p(pair: Pair) -> str:
    p = write_p_value(pair.holm_p)
    return escape(f"p {p[0]} {p[1:]}" if p.startswith("<") else f"p = {p}")


def _join(phrases: Sequence[str]) -> str:
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"
