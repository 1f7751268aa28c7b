"""Tables 3 and 4 in the paper's columns, with the paper's own rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from shadowprobe.errors import InputError
from shadowprobe.reporting.linker_summary import SCORES, SUBSETS
from shadowprobe.reporting.published import linking as published
from shadowprobe.reporting.tables.table import Column, Row, Table, text_column, write_tenth
from shadowprobe.running.directory import RESULTS
from shadowprobe.running.finished import FinishedRun

SHARES = {
    "prior_correct": "pred =\nprior\ncorrect",
    "prior_wrong": "pred =\nprior\nwrong",
    "context_correct": "pred ≠\nprior\ncorrect",
    "context_wrong": "pred ≠\nprior\nwrong",
    "nil": "NIL",
}
write_rate = "{:.2f}".format


def table_3(runs: Sequence[FinishedRun], *, with_published: bool = False) -> Table:
    """Precision, recall and F1 of every run on every subset, and of the paper's systems below them."""
    systems: list[tuple[str, published.Figures, bool]] = []
    for run in runs:
        scores = _findings(run.path, run.results, "subsets", "Table 3")
        figures = {subset: tuple(row[key] for key in SCORES) for subset, row in scores.items()}
        systems.append((run.label, figures, False))
    if with_published:
        systems += [(name, figures, True) for name, figures in published.TABLE_3.items()]
    groups = [subset for subset in SUBSETS if any(subset in figures for _, figures, _ in systems)]
    rows = []
    for name, figures, is_published in systems:
        cells = (figure for group in groups for figure in figures.get(group, (None,) * len(SCORES)))
        rows.append(Row((name, *cells), is_published, section="published" if is_published else ""))
    notes = _published_notes(3, runs) if with_published else ()
    title = f"Table 3: precision, recall and F1{_dataset_of(runs)}"
    return Table("table_3", title, _columns(groups, SCORES, write_rate), tuple(rows), notes)


def table_4(runs: Sequence[FinishedRun]) -> Table:
    """The share of answers that repeat the prior or differ from it, right and wrong, in percent."""
    groups = ("top", "shadow")
    rows, notes = [], ["NIL: NIL or skipped."]
    for run in runs:
        shares = _findings(run.path, run.results["probes"], "prior", "Table 4")
        if "not_measured" in shares:
            notes.append(f"{run.label}: not measured, {shares['not_measured']}.")
        cells = (100 * shares[group][key] if group in shares else None for group in groups for key in SHARES)
        rows.append(Row((run.label, *cells)))
    title = f"Table 4: answers that repeat the prior or differ from it{_dataset_of(runs)} (%)"
    return Table("table_4", title, _columns(groups, SHARES, write_tenth), tuple(rows), tuple(notes))


def published_table_4(runs: Sequence[FinishedRun] = ()) -> Table:
    """The paper's Table 4 under the headings that it prints."""
    keys = ("published_pred_is_prior_correct", "published_pred_is_not_prior_wrong", "published_nil")
    # In three lines, as the headings of runs.
    headings = [heading.replace(" prior ", "\nprior\n") for heading in published.TABLE_4_HEADINGS]
    columns = _columns(("top", "shadow"), dict(zip(keys, headings, strict=True)), write_tenth)
    rows = tuple(
        Row((name, *figures["top"], *figures["shadow"]), published=True) for name, figures in published.TABLE_4.items()
    )
    notes = (
        *_published_notes(4, runs),
        "The headings are those that the paper prints: three columns, where a run has five.",
    )
    return Table("table_4_published", "Table 4 as published (%)", columns, rows, notes)


def _columns(groups: Iterable[str], names: dict[str, str], write: Callable[..., str]) -> tuple[Column, ...]:
    """A column for the system, then those of each subset."""
    figures = (
        Column(f"{group}_{key}", name, write, group.capitalize()) for group in groups for key, name in names.items()
    )
    return text_column("system"), *figures


def _findings(path: Path, findings: dict[str, Any], probe: str, table: str) -> dict[str, Any]:
    if probe not in findings:
        again = f"`shadowprobe score --predictions {path} --out {path}` measures all of them"
        raise InputError(path / RESULTS, f"has no {table}: the probe `{probe}` was left out; {again}")
    found: dict[str, Any] = findings[probe]
    return found


def _dataset_of(runs: Sequence[FinishedRun]) -> str:
    """The dataset of the runs, if there are any."""
    if not runs:
        return ""
    dataset = runs[0].results["dataset"]
    part = f", its first {dataset['limit']} names" if dataset["limit"] is not None else ""
    return f" on {dataset['name']}{part}"


def _published_notes(number: int, runs: Sequence[FinishedRun]) -> tuple[str, ...]:
    dataset = runs[0].results["dataset"] if runs else None
    ours = f"; the runs are over {dataset['name']} ({dataset['digest'][:12]}...)" if dataset else ""
    return (f"†: as published, over the ShadowLink of the paper{ours}. Source: {published.SOURCE}, Table {number}.",)
