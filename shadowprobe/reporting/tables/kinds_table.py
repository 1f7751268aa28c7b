"""Which kinds of entities are overshadowed, and by which, as a table."""

from __future__ import annotations

from shadowprobe.reporting.tables.table import (
    Column,
    Row,
    Runs,
    Table,
    in_percent,
    select_probe,
    text_column,
    write_short,
)

RATES = {"overshadowed": "same answer", "prior_bias": "the prior", "consistent": "both right"}


def kinds_table(runs: Runs) -> Table:
    """A row for each pair of kinds, the most frequent first, with the rates in percent and their intervals."""
    rows = [
        Row(
            (
                label,
                pair["shadow"],
                pair["top"],
                pair["n"],
                *(in_percent(pair[key], pair[f"{key}_ci95"]) for key in RATES),
            ),
            section=label,
        )
        for label, found in select_probe(runs, "kinds").items()
        for pair in sorted(found.get("pairs", ()), key=lambda pair: -pair["n"])
    ]
    columns = (
        text_column("system"),
        text_column("shadow", "Shadow is a"),
        text_column("top", "Top is a"),
        Column("n", "names"),
        *(Column(key, f"{name}, %", write_short) for key, name in RATES.items()),
    )
    return Table("kinds", "Which kinds are overshadowed, and by which? (95% intervals)", columns, tuple(rows))
