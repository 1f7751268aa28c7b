"""What a correction for the prior changes, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shadowprobe.reporting.tables.table import (
    Column,
    Results,
    Row,
    Table,
    in_percent,
    text_column,
    write_points,
    write_tenth,
)

TITLE = "What a correction would change (%)"
MEASURES = {
    "shadow": "Shadow: right",
    "top": "Top: right",
    "tail": "Tail: right",
    "all": "All: right",
    "both_right": "both contexts right",
    "overshadowed": "same answer in both contexts",
    "prior_bias": "  and it is the prior",
}


def correction_table(found: Mapping[str, Results]) -> Table:
    """Every measure before and after the correction, for the content of one debias.json or of several, by label."""
    columns = (
        text_column("system"),
        text_column("measure", "measured"),
        Column("n", "n"),
        Column("before", "before", write_tenth),
        Column("after", "after", write_tenth, is_bold=True),
        Column("difference", "change, points\n(95% interval)", write_points),
        Column("errors_cut", "errors\ncut, %", write_tenth),
    )
    rows = [
        Row(
            (
                label,
                words,
                change["n"],
                100 * change["before"],
                100 * change["after"],
                in_percent(change["difference"], change["difference_ci95"]),
                100 * change["errors_cut"] if change["errors_cut"] is not None else None,
            ),
            section=label,
        )
        for label, one in found.items()
        for measure, words in MEASURES.items()
        if (change := one["measures"].get(measure)) is not None
    ]
    notes = [sentence for label, one in found.items() for sentence in _sentences(label, one)]
    return Table("correction", TITLE, columns, tuple(rows), tuple(notes))


def _sentences(label: str, found: Results) -> Iterator[str]:
    """How the weight was chosen, whether the correction pays, and where."""
    yield f"{label}: {describe_verdict(found)}"
    if (words := _describe_break_even(found)) is not None:
        yield f"{label}: {words}"
    yield from (f"{label}: {note}." for note in found["notes"])


def describe_verdict(found: Results) -> str:
    """The weight, how it was chosen, and whether the correction is worth it."""
    weight, both = found["weight"], found["measures"].get("both_right")
    gained = f"{found['gained']:g} names gained, {found['lost']:g} lost"
    if both is None:
        return f"weight {weight:g}; no name has both contexts, so that it is unknown whether it is worth it."
    reason = "" if found["verdict"] == "worth it" else f": {_explain_refusal(found)}"
    if found["chosen_by"] == "cross-fit":
        chosen = f"weight {weight:g} for new texts" if not reason else "the weight is 0"
        tested = (
            f"each half of the names was tested with a weight chosen on the other, in {len(found['splits'])} splits"
            f"{_describe_limit(found)}"
        )
        return f"{found['verdict']}{reason}; {chosen}; {tested}; {gained} (means)."
    how = "given" if found["chosen_by"] == "given" else "the default without enough names"
    return f"{found['verdict']}{reason}; weight {weight:g} ({how}); {gained}."


def _describe_limit(found: Results) -> str:
    """What a chosen weight may cost; files of version 0.2.0 have no limit."""
    limit = found.get("top_loss", 1.0)
    return f"; a weight may cost {_write_points(limit)} on Top among the names that choose it" if limit < 1 else ""


def _write_points(share: float) -> str:
    points = f"{100 * share:g}"
    return f"{points} point{'' if points == '1' else 's'}"


def _explain_refusal(found: Results) -> str:
    """Why a correction is not worth it."""
    low, high = found["measures"]["both_right"]["difference_ci95"]
    if high < 0:
        return "it makes fewer names right in both contexts"
    if low <= 0:
        return "no gain in both contexts right was found"
    return f"the gain in both contexts right may be below {_write_points(found['smallest_gain'])}"


def _describe_break_even(found: Results) -> str | None:
    """From which share of Shadow cases on the correction pays."""
    if found["break_even"] is None or not found["weight"]:
        return None
    share, pays = found["break_even"]["share"], found["break_even"]["pays"]
    if pays == "always":
        return "break-even share 0%: right answers are lost neither on Top nor on Shadow."
    if pays == "never":
        return "no break-even share: nothing is gained on Top or on Shadow."
    return f"break-even share {100 * share:.1f}%: it pays where the share of Shadow cases is {pays} that."
