"""What a linker reads with less or more context, and without the name, as rows that a screen and a report share."""

from __future__ import annotations

from typing import Any

from shadowprobe.results import Results

TITLE = "How much context does it take? (share right; change against the snippet in points)"
WITHOUT_NAME = "the snippet without the name"
LENGTHS = {
    "cut": "{words_cut} words on each side",
    "sentence": "the sentence of the mention",
    "snippet": "the snippet, as in Table 3",
    "page": "{words_page} more words of the page on each side",
}
Rows = dict[str, dict[str, dict[str, Any]]]


def context_rows(results: Results) -> Rows:
    """The findings on each subset by what is read; nothing where neither probe was asked."""
    probes = results["probes"]
    lengths = probes.get("context_length", {})
    rows: Rows = {
        LENGTHS.get(name, name).format(**lengths): found for name, found in lengths.get("lengths", {}).items() if found
    }
    without = {key: row for key, row in probes.get("masked_mention", {}).items() if isinstance(row, dict)}
    if without:
        rows[WITHOUT_NAME] = without
    return rows


def changed(rows: Rows, what: str, subset: str) -> str:
    """The accuracy on a subset, and how far it is from that on the snippets as they are."""
    found = rows[what].get(subset)
    if found is None:
        return ""
    low, high = (100 * bound for bound in found["change_ci95"])
    change = f" ({100 * found['change']:+.1f}, {low:+.1f} to {high:+.1f})" if found["change"] or low or high else ""
    most = max(row[subset]["n"] for row in rows.values() if subset in row)
    # Not every snippet has a page.
    part = f" of {found['n']}" if found["n"] < most else ""
    return f"{found['accuracy']:.3f}{part}{change}"
