"""The page that a report is: the verdicts, the tables, the figures and the mention browser in one file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import msgspec

from shadowprobe.dataset import make_directory
from shadowprobe.errors import ShadowprobeError, UsageError
from shadowprobe.jsonl import write_atomically
from shadowprobe.report.html.data import packed
from shadowprobe.report.terminal import EXPLAINED, ORDER
from shadowprobe.report.verdict import percent, said
from shadowprobe.results import Results
from shadowprobe.runs import FinishedRun

REPORT = "report.html"
FIGURES = {
    "overshadowing": "How often the name alone decides (Fig. 4)",
    "outcomes": "Is the answer the prior? (Table 4)",
    "confidence": "Scores in each subset (Fig. 5)",
}
SHARES = {
    "prior_correct": "prior, correct",
    "prior_wrong": "prior, wrong",
    "context_correct": "not prior, correct",
    "context_wrong": "not prior, wrong",
    "nil": "NIL or skipped",
}
COUNTS = {"n": "n", "answered": "answered", "nil": "NIL", "skipped": "skipped", "failed": "no answer"}
RATES = {"precision": "P", "recall": "R", "f1": "F"}
FACTS = {
    "overshadowed": "same answer in both contexts (overshadowed)",
    "prior_bias": "and it is the prior (prior bias)",
    "consistent": "both contexts right (consistent)",
    "answered_with_top": "Shadow answered with the Top entity",
}
Rows = list[tuple[str, list[str]]]
# A caption, the headings and the rows of a table.
Table = tuple[str, list[str], Rows]
# What a data address inside of double quotes may hold as it is.
UNQUOTED = " !$'()*+,-./:;=?@_~"
_PATH = re.compile(r'(?<= d=")[^"]*')
_NUMBER = re.compile(r"-?[0-9]+[.][0-9]+")


def write_report(runs: Sequence[FinishedRun], out: Path | None = None, *, force: bool = False) -> Path:
    """Writes the report of runs over one dataset, and returns where: in the run, or here where there are several."""
    path = out or (runs[0].path / REPORT if len(runs) == 1 else Path(REPORT))
    if path.is_dir():
        raise UsageError(f"{path} is a directory; --out names a file")
    if path.exists() and not force:
        raise UsageError(f"{path} exists; give another --out, or --force to write over it")
    content = page(runs).encode()
    make_directory(path.parent)
    write_atomically(path, content)
    return path


def page(runs: Sequence[FinishedRun]) -> str:
    """The whole file."""
    style, script = _file("report.css"), _file("report.js")
    data = msgspec.json.encode(packed(runs)).decode()
    dataset = runs[0].dataset
    parts = {
        "policy": f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "title": escape(f"{', '.join(run.label for run in runs)} on {dataset.name}"),
        "verdicts": "".join(_verdict(run) for run in runs),
        "heading": f"{', '.join(_isolated(run.label) for run in runs)} on {_isolated(dataset.name)}",
        "about": _about(runs[0].results),
        "systems": "".join(_system(run) for run in runs),
        "tables": "".join(_tables(runs)),
        "figures": "".join(_figures(runs)),
        # Nothing inside of a script element is markup but what could end it.
        "data": data.replace("<", "\\u003c"),
    }
    return Template(_file("report.html")).substitute(parts)


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """What the page's policy calls the one script, or the one style, that it allows."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _isolated(name: str) -> str:
    """A name whose marks of direction turn nothing but itself: numbers after it would read backwards."""
    return f"<bdi>{escape(name)}</bdi>"


def _verdict(run: FinishedRun) -> str:
    words = said(run.results)
    rest = f" {words}" if words else ": whether it reads the context or repeats its prior was not measured."
    # A label tells two runs of one linker apart, as its name does not.
    return f'<p class="verdict">{_isolated(run.label)}{escape(rest)}</p>'


def _about(results: Results) -> str:
    dataset = results["dataset"]
    limited = ", only the first of them" if dataset["limit"] is not None else ""
    rest = (
        f" {dataset['version']} ({dataset['digest'][:12]}): {dataset['spaces']} names, "
        f"{dataset['snippets']} snippets{limited}."
    )
    return f"Dataset {_isolated(dataset['name'])}{escape(rest)}"


def _system(run: FinishedRun) -> str:
    """What was run, and what a careful reader must know besides."""
    results = run.results
    linker, identity = results["linker"], results["identity"]
    options = " ".join(f"{key}={value}" for key, value in linker["options"].items())
    words = [" ".join(word for word in (linker["name"], linker["version"], options) if word)]
    if identity["unresolved"]:
        words.append(f"{identity['unresolved']} answers name an entity that the dataset does not know; they are wrong")
    if results["missing"]:
        words.append(f"{results['missing']} snippets have no answer (failed or not in the file)")
    if results["settings"]["redirects"] is not None:
        words.append("the results were scored with a table of redirects, which the mentions below do without")
    words += results["notes"]
    items = "".join(f"<li>{_isolated(word)}</li>" for word in words)
    return f"<section><h3>{_isolated(run.label)}</h3><ul>{items}</ul></section>"


def _tables(runs: Sequence[FinishedRun]) -> Iterator[str]:
    for name, table in (("scores", _scores(runs)), ("priors", _priors(runs)), ("names", _names(runs))):
        caption, heads, rows = table
        if rows:
            yield _table(name, caption, heads, rows)


def _scores(runs: Sequence[FinishedRun]) -> Table:
    rows = [
        (run.label, subset, run.results["subsets"][subset])
        for run in runs
        for subset in ORDER
        if subset in run.results.get("subsets", {})
    ]
    # A column of zeros says nothing that its absence does not.
    counts = [key for key in COUNTS if key in {"n", "answered"} or any(row[key] for _, _, row in rows)]
    caption = "How often is it right? (Table 3 of the paper.) " + "".join(
        f"{EXPLAINED[subset]}. " for subset in ORDER if any(subset == row[1] for row in rows)
    )
    heads = ["subset", *(COUNTS[key] for key in counts), *RATES.values(), "95% interval of F"]
    return caption, heads, [(label, [subset.capitalize(), *_subset(row, counts)]) for label, subset, row in rows]


def _subset(row: dict[str, Any], counts: Sequence[str]) -> list[str]:
    low, high = row["f1_ci95"]
    return [*(str(row[key]) for key in counts), *(f"{row[key]:.3f}" for key in RATES), f"{low:.3f} to {high:.3f}"]


def _priors(runs: Sequence[FinishedRun]) -> Table:
    rows = [
        (run.label, [subset.capitalize(), *(f"{100 * found[subset][key]:.1f}" for key in SHARES)])
        for run in runs
        for found in [run.results["probes"].get("prior", {})]
        for subset in ("top", "shadow")
        if subset in found
    ]
    caption = "Is the answer the one that it gives without any context, its prior? (Table 4 of the paper, %.)"
    return caption, ["subset", *SHARES.values()], rows


def _names(runs: Sequence[FinishedRun]) -> Table:
    rows = [
        (run.label, [percent(found[key], found[f"{key}_ci95"]) for key in FACTS])
        for run in runs
        for found in [run.results["probes"].get("overshadowing", {})]
        if "overshadowed" in found
    ]
    caption = "Does the name alone decide? (Fig. 4 of the paper; shares of names, with 95% intervals.)"
    return caption, list(FACTS.values()), rows


def _table(name: str, caption: str, heads: Sequence[str], rows: Rows) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in ("system", *heads))
    body = "".join(
        f'<tr><th scope="row">{_isolated(label)}</th><td>{"</td><td>".join(map(escape, cells))}</td></tr>'
        for label, cells in rows
    )
    # A wide table scrolls by itself, by keyboard too, and not the page; what it is about stays where it is.
    return (
        f'<p class="quiet" id="about-{name}">{escape(caption.strip())}</p>'
        f'<div class="wide" tabindex="0" role="region" aria-labelledby="about-{name}">'
        f'<table id="table-{name}" aria-labelledby="about-{name}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _figures(runs: Sequence[FinishedRun]) -> Iterator[str]:
    """The figures that can be drawn of these runs; one that cannot be is left out."""
    for name, caption in FIGURES.items():
        try:
            drawn = _svg(name, runs)
        except (ImportError, ShadowprobeError):
            continue
        # As an image and not as markup: its names cannot meet those of the page, and no script in it would run.
        source = f"data:image/svg+xml,{quote(drawn, safe=UNQUOTED)}"
        yield (
            f'<figure><img id="figure-{name}" alt="{escape(caption)}; the tables have the numbers" src="{source}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )


def _svg(name: str, runs: Sequence[FinishedRun]) -> str:
    """A figure without the digits that nobody sees: a hatched bar has tens of thousands of them."""
    from shadowprobe.figures import plot, save

    with TemporaryDirectory() as directory:
        path = Path(directory) / f"{name}.svg"
        save(plot(name, runs), path)
        content = path.read_text(encoding="utf-8")
    return _PATH.sub(lambda path: _NUMBER.sub(_rounded, " ".join(path[0].split())), content)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".rstrip("0").rstrip(".")
