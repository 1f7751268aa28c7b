"""What a screen and a page say of a linker: does it read the context, or does it repeat its prior?"""

from __future__ import annotations

from collections.abc import Iterator

from shadowprobe.reporting.tables.table import (
    Column,
    Results,
    Row,
    Runs,
    Table,
    in_percent,
    percent,
    select_probe,
    text_column,
    write_bounds,
    write_p_value,
    write_points,
    write_tenth,
)

SUBSETS = {
    "shadow": "Shadow: a less common entity of the name is meant",
    "top": "Top: the most common one",
    "tail": "Tail: a rare entity, alone with its name",
    "all": "All: every gold mention",
}
COUNTS = {"n": "n", "answered": "answered", "nil": "NIL", "skipped": "skipped", "failed": "no answer"}
SCORES = {"precision": "P", "recall": "R", "f1": "F"}
SHARES = {
    "prior_correct": "prior,\ncorrect",
    "prior_wrong": "prior,\nwrong",
    "context_correct": "not prior,\ncorrect",
    "context_wrong": "not prior,\nwrong",
    "nil": "NIL or\nskipped",
}
WITHOUT_NAME = "the snippet without the name"
CONTEXTS = {
    "cut": "{words_cut} words on each side",
    "sentence": "the sentence of the mention",
    "snippet": "the snippet, as in Table 3",
    "page": "{words_page} more words of the page on each side",
}
# The probes that these tables show, or that have a table of their own.
SHOWN = {
    *("overshadowing", "prior", "candidates", "confidence", "calibration", "templates", "popularity"),
    *("context_length", "masked_mention", "kinds", "suspicion"),
}
VERDICTS = {
    "reads": "reads the context more often than it repeats its prior",
    "repeats": "repeats its prior more often than it reads the context",
    "undecided": "reads the context about as often as it repeats its prior",
    "at_chance": "does not read, no usable prior",
    "silent": "names an entity in both contexts of too few names to tell whether it reads or repeats",
    "unknown": "names an entity in the neutral contexts of too few names: its prior is not known, and so neither"
    " whether it is repeated",
}
CONFLICTS = "page_id_conflicts"


def describe_size(results: Results) -> str:
    """How many names and snippets a run is over."""
    dataset = results["dataset"]
    limited = f", limited to the first {dataset['spaces']} names" if dataset["limit"] is not None else ""
    return f"{dataset['spaces']} names, {dataset['snippets']} snippets{limited}"


def describe_verdict(results: Results) -> str | None:
    """Reads or repeats, with both rates and their 95% intervals; None where the probe could not tell."""
    found = results["probes"].get("overshadowing", {})
    if found.get("verdict") is None:
        return None
    words = VERDICTS["at_chance" if found.get("at_chance") else found["verdict"]]
    if found["verdict"] in {"silent", "unknown"}:
        return f"{words}."
    return (
        f"{words}: of {found['spaces']} names, {percent(found['prior_bias'], found['prior_bias_ci95'])} get its prior"
        f" in both contexts, and {percent(found['consistent'], found['consistent_ci95'])} get both right"
        " (95% intervals)."
    )


def list_warnings(results: Results) -> Iterator[str]:
    """What changes the meaning of a figure."""
    identity = results["identity"]
    resolved = sum(count for rule, count in identity.items() if rule != CONFLICTS)
    if identity["unresolved"]:
        yield (
            f"{identity['unresolved']} of {resolved} answers name an entity that the dataset does not know; they count"
            " as wrong (--redirects FILE gives a table of old and new titles)"
        )
    if identity[CONFLICTS]:
        yield f"{identity[CONFLICTS]} answers match by title although their page id is another"
    prior, over = (results["probes"].get(name, {}) for name in ("prior", "overshadowing"))
    if prior.get("without_prior"):
        yield (
            f"{prior['without_prior']} of {prior['spaces']} names have no prior: no entity is named in their neutral"
            " contexts; every answer to them counts as not the prior"
        )
    if over.get("snippets_left_out"):
        yield (
            "same answer, both right and the difference are paired by the first Top and Shadow snippet of each name;"
            f" {over['snippets_left_out']} further snippets are in Table 3 only"
        )
    if results["missing"]:
        yield f"{results['missing']} snippets have no answer (failed or not in the file); they count as skipped"


def make_tables(runs: Runs) -> Iterator[Table]:
    """Every table that the runs have figures for."""
    for make in (scores_table, priors_table, contexts_table, names_table):
        table = make(runs)
        if table.rows:
            yield table


def scores_table(runs: Runs) -> Table:
    """Counts, precision, recall and F1 on each subset."""
    found = [
        (label, subset, results["subsets"][subset])
        for label, results in runs.items()
        for subset in SUBSETS
        if subset in results.get("subsets", {})
    ]
    columns = (
        text_column("system"),
        text_column("subset"),
        *(Column(key, name) for key, name in COUNTS.items()),
        *(Column(key, name, "{:.3f}".format, is_bold=True) for key, name in SCORES.items()),
        Column("f1_interval", "F, 95% interval", write_bounds),
        Column("gerbil_threshold", "at GERBIL's\nbest cut", _describe_cut),
    )
    rows = tuple(
        Row(
            (
                label,
                subset.capitalize(),
                *(row[key] for key in (*COUNTS, *SCORES)),
                tuple(row["f1_ci95"]),
                row.get("gerbil_threshold"),
            ),
            section=label,
        )
        for label, subset, row in found
    )
    subsets = [SUBSETS[subset] for subset in SUBSETS if any(subset == other for _, other, _ in found)]
    title = "How often is it right? (Table 3 of the paper)"
    table = Table("scores", title, columns, rows, (f"{'. '.join(subsets)}.",))
    # A column of zeros says nothing that its absence does not.
    optional = ("nil", "skipped", "failed", "gerbil_threshold")
    return table.without(*(key for key in optional if not any(row.get(key) for _, _, row in found)))


def _describe_cut(best: dict[str, float]) -> str:
    return f"P {best['precision']:.3f} R {best['recall']:.3f} F {best['f1']:.3f} above {best['cut']:.3g}"


def priors_table(runs: Runs) -> Table:
    """The share of answers that repeat the prior or differ from it."""
    rows = [
        Row((label, subset.capitalize(), *(100 * found[subset][key] for key in SHARES)), section=label)
        for label, found in select_probe(runs, "prior").items()
        for subset in ("top", "shadow")
        if subset in found
    ]
    figures = (Column(key, name, write_tenth) for key, name in SHARES.items())
    title = "Is the answer the one it gives without any context, its prior? (Table 4, %)"
    return Table("priors", title, (text_column("system"), text_column("subset"), *figures), tuple(rows))


def contexts_table(runs: Runs) -> Table:
    """The accuracy with less or more context, and without the name."""
    found = [(label, _context_rows(results["probes"])) for label, results in runs.items()]
    subsets = [subset for subset in SUBSETS if any(subset in row for _, rows in found for row in rows.values())]
    table_rows, notes = [], []
    for label, rows in found:
        for context, row in rows.items():
            cells = (_write_change(row.get(subset), rows, subset) for subset in subsets)
            table_rows.append(Row((label, context, *cells), section=label))
        without = rows.get(WITHOUT_NAME, {})
        silent = [
            f"{percent(without[subset]['nil'])} of {subset.capitalize()}"
            for subset in subsets
            if without.get(subset, {}).get("nil")
        ]
        if silent:
            # A system that looks its candidates up by the name finds none, and then the context was not read at all.
            whose = f"{label}: " if len(runs) > 1 else ""
            notes.append(f"{whose}Without the name no entity is named in {', '.join(silent)}.")
    columns = (
        text_column("system"),
        text_column("context", "what it reads"),
        *(Column(subset, subset.capitalize()) for subset in subsets),
    )
    title = "How much context does it take? (share right; change against the snippet in points)"
    return Table("contexts", title, columns, tuple(table_rows), tuple(notes))


def _context_rows(probes: dict[str, Results]) -> dict[str, Results]:
    """The findings on each subset by what is read; nothing where neither probe was run."""
    lengths = probes.get("context_length", {})
    rows: dict[str, Results] = {
        CONTEXTS.get(name, name).format(**lengths): row for name, row in lengths.get("lengths", {}).items() if row
    }
    without = {key: row for key, row in probes.get("masked_mention", {}).items() if isinstance(row, dict)}
    return {**rows, WITHOUT_NAME: without} if without else rows


def _write_change(row: Results | None, rows: dict[str, Results], subset: str) -> str:
    """The accuracy on a subset, and how far it is from that on the snippets as they are."""
    if row is None:
        return ""
    low, high = (100 * bound for bound in row["change_ci95"])
    change = f" ({100 * row['change']:+.1f}, {low:+.1f} to {high:+.1f})" if row["change"] or low or high else ""
    most = max(other[subset]["n"] for other in rows.values() if subset in other)
    # Not every snippet has a page.
    part = f" of {row['n']}" if row["n"] < most else ""
    return f"{row['accuracy']:.3f}{part}{change}"


def names_table(runs: Runs) -> Table:
    """Whether the name alone decides, and the other single figures: a row for each, a column for each run."""
    found = [_single_figures(results["probes"]) for results in runs.values()]
    several = len(runs) > 1
    columns = (
        text_column("figure"),
        *(Column(label, label if several else "value (95% interval)") for label in runs),
        text_column("term", "called"),
    )
    terms = {words: term for figures in found for words, (term, _) in figures.items()}
    rows = [
        Row((words, *(figures[words][1] if words in figures else None for figures in found), term))
        for words, term in terms.items()
    ]
    notes = []
    for label, over in select_probe(runs, "overshadowing").items():
        if over.get("prior_bias", 0) is None:
            reason = runs[label]["probes"].get("prior", {}).get("not_measured", "no prior is known")
            notes.append(f"{f'{label}: ' if several else ''}prior bias not measured: {reason}.")
    return Table("names", "Does the name alone decide? (Fig. 4 of the paper)", columns, tuple(rows), tuple(notes))


def _single_figures(probes: dict[str, Results]) -> dict[str, tuple[str, str | None]]:
    """The single figures of a run by what they say, each with the term for it."""
    figures: dict[str, tuple[str, str | None]] = {}
    over, prior = probes.get("overshadowing", {}), probes.get("prior", {})
    if "overshadowed" in over:
        figures["same answer in both contexts"] = "overshadowed", _share(over, "overshadowed")
        figures["  and it is the prior"] = "prior bias", _share(over, "prior_bias")
        figures["both contexts right"] = "consistent", _share(over, "consistent")
        figures["Shadow answered with the Top entity"] = "answered with top", _share(over, "answered_with_top")
        gap = in_percent(over["top_minus_shadow"], over["top_minus_shadow_ci95"])
        figures["right on Top minus right on Shadow"] = "points", write_points(gap)
        figures["  p of that difference"] = "McNemar's test", write_p_value(over["mcnemar_p"])
    if prior.get("stability") is not None:
        figures["neutral contexts agree on the prior"] = "stability", percent(prior["stability"])
    candidates = probes.get("candidates", {}).get("shadow", {})
    if candidates.get("recall"):
        figures["Shadow gold was a candidate"] = "candidate recall", percent(candidates["recall"])
        figures["  and then it is right"] = "", _share(candidates, "accuracy_given_candidate")
    auroc = probes.get("confidence", {}).get("auroc_real_against_neutral")
    if auroc is not None:
        figures["score tells real from neutral"] = "AUROC (0.5: coin)", f"{auroc:.3f}"
    spread = probes.get("templates", {}).get("spread")
    if spread is not None:
        figures["neutral templates differ by"] = "points", f"{100 * spread:.1f}"
    return figures


def _share(found: Results, key: str) -> str | None:
    return percent(found[key], found[f"{key}_ci95"]) if found[key] is not None else None
