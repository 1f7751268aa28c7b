"""Which answers to doubt, as a table."""

from __future__ import annotations

from shadowprobe.reporting.tables.table import Column, Row, Runs, Table, select_probe, text_column, write_tenth

TITLE = "Which answers to doubt"
SIGNALS = {
    "stated": "its own suspicion",
    "contrast": "contrast",
    "unsupported": "the prior, no higher score",
    "repeats_prior": "the prior",
    "confidence": "low score",
    "margin": "small lead",
}
NOTES = (
    "An answer is suspect if it is the prior and wrong. AUROC: the chance that a suspect answer gets more doubt than"
    " another one; 0.5 is a coin. Being the prior is a part of that, so that the next column compares only answers that"
    " are the prior.",
    "Its own suspicion: what the answers of the system carry. Contrast: how much more than the answer the best other"
    " candidate gains over its score without context.",
    "Kept: the share of the answers that remain when the most doubtful are dropped until 30% of the errors are gone;"
    " dropping at random keeps 70%.",
)


def suspicion_table(runs: Runs) -> Table:
    """Every signal of doubt of every run, the strongest first."""
    found = {label: one for label, one in select_probe(runs, "suspicion").items() if "signals" in one}
    columns = (
        text_column("system"),
        text_column("signal"),
        Column("n", "n"),
        Column("suspect", "suspect"),
        Column("auroc", "AUROC", "{:.3f}".format, is_bold=True),
        Column("auroc_among_prior", "among\nthe prior", "{:.3f}".format),
        Column("coverage_at_30_fewer_errors", "kept, %", write_tenth),
        Column("risk", "wrong,\n% of all", write_tenth),
        Column("risk_at_80", "wrong, % of\nthe best 80%", write_tenth),
    )
    rows = []
    for label, one in found.items():
        for signal, figures in one["signals"].items():
            kept = figures["coverage_at_30_fewer_errors"]
            risk = {point["coverage"]: 100 * point["risk"] for point in figures["curve"]}
            cells = (
                label,
                SIGNALS.get(signal, signal),
                one["n"],
                one["suspect"],
                figures["auroc"],
                figures["auroc_among_prior"],
                100 * kept if kept is not None else None,
                risk[1.0],
                risk[0.8],
            )
            rows.append(Row(cells, section=label))
    return Table("suspicion", TITLE, columns, tuple(rows), NOTES)
