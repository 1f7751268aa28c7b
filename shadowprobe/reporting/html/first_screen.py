"""What a reader sees first: the verdict on each system with its headline figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from shadowprobe.reporting.tables.table import percent
from shadowprobe.reporting.tables.to_html import isolate
from shadowprobe.running.directory import Kind
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.headlines import Headline, list_headlines, name_verdict

# The figures that answer the question of each kind of runs; of other kinds the first few are shown.
ANSWERING: dict[Kind, tuple[str, ...]] = {"linker": ("consistent", "prior_bias")}
MOST_FIGURES = 4
# How a verdict is coloured.
TONES = {"reads": "good", "repeats": "bad"}


def write_systems(runs: Sequence[FinishedRun]) -> str:
    """A row for each system: its verdict, and its headline figures as bars with their intervals."""
    found = {run.label: _select(run) for run in runs}
    figures = {key: one for of_run in found.values() for key, one in of_run.items()}
    if not figures:
        return ""
    heads = "".join(f'<th scope="col" class="text">{escape(_name(one))}</th>' for one in figures.values())
    rows = "".join(_row(run, found[run.label], figures) for run in runs)
    return (
        '<table id="table-systems" class="systems" aria-label="The verdict on each system">'
        f'<thead><tr><th scope="col">system</th><th scope="col" class="text">verdict</th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _select(run: FinishedRun) -> dict[str, Headline]:
    known = {one.key: one for one in list_headlines(run.results)}
    wanted = [key for key in ANSWERING.get(run.kind, ()) if key in known] or list(known)[:MOST_FIGURES]
    return {key: known[key] for key in wanted}


def _name(figure: Headline) -> str:
    words = " ".join(figure.name.replace("-\n", "").split())
    return f"{words} (less is better)" if figure.is_fault else words


def _row(run: FinishedRun, found: Mapping[str, Headline], figures: Mapping[str, Headline]) -> str:
    verdict = name_verdict(run.results)
    tone = TONES.get(verdict, "none")
    cells = "".join(
        f'<td class="text" data-name="{escape(_name(figure))}">{_bar(found[key]) if key in found else "–"}</td>'
        for key, figure in figures.items()
    )
    # A word of its own is enough for a row; the sentence below has the rest.
    word = f'<span class="outcome" data-kind="{tone}">{escape(verdict.replace("_", " ") or "–")}</span>'
    return f'<tr><th scope="row">{isolate(run.label)}</th><td class="text">{word}</td>{cells}</tr>'


def _bar(figure: Headline) -> str:
    """A bar from 0 to 100% with a line for its interval, and the same in figures."""
    low, high = (f"{100 * bound:.1f}" for bound in figure.interval)
    kind = "fault" if figure.is_fault else "good"
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="whole" width="100" height="10"/>'
        f'<rect class="{kind}" width="{100 * figure.value:.1f}" height="10"/>'
        f'<path class="interval" d="M{low} 5H{high}"/></svg>'
        f'<span class="figure">{escape(percent(figure.value, figure.interval))}</span>'
    )
