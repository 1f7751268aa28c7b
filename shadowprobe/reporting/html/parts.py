"""The page that the reports of all kinds of runs have in common."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from html import escape
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import msgspec

from shadowprobe.errors import ShadowprobeError
from shadowprobe.reporting.html.blocks import compress_data, write_blocks
from shadowprobe.reporting.html.first_screen import write_systems
from shadowprobe.reporting.run_summary import RunSummary, summarize, tables_of
from shadowprobe.reporting.tables.table import Table
from shadowprobe.reporting.tables.to_html import isolate, table_html
from shadowprobe.running.directory import RUN, read_card

if TYPE_CHECKING:
    from shadowprobe.running.comparison import Comparison
    from shadowprobe.running.finished import FinishedRun

DATA_TITLES = {"linker": "Dataset", "retriever": "Collection", "reader": "Collection", "model": "Questions"}
COUNTS = ("n", "sets", "answered", "nil", "skipped", "failed")
NO_VERDICT = ": whether it reads the context or repeats its prior was not measured."
# What a data address inside of double quotes may hold as it is.
UNQUOTED = " !$'()*+,-./:;=?@_~"
_PATH = re.compile(r'(?<= d=")[^"]*')
_NUMBER = re.compile(r"-?[0-9]+[.][0-9]+")


class Browser(NamedTuple):
    """The section below the results in which every item can be looked up; its script is the file of its name."""

    name: str
    # The lists of choices: their names with their labels.
    fields: Mapping[str, str]
    # What its search looks in.
    searched: str
    styles: Sequence[str] = ("report.css", "measured.css")


def compose_page(
    runs: Sequence[FinishedRun],
    browser: Browser,
    data: Any,
    captions: Mapping[str, str],
    *,
    comparison: Comparison | None,
    no_browser: str,
    published: bool,
) -> Iterator[str]:
    """The file in pieces; `no_browser` is the reason why there is no browser."""
    summaries = {run.label: summarize(run.results) for run in runs}
    labels = list(summaries)
    name = runs[0].data["name"]
    parts = {
        "title": escape(f"{', '.join(labels)} on {name}"),
        "skip": f'<a class="skip" href="#{browser.name}">To the {browser.name}</a>',
        "heading": f"{', '.join(map(isolate, labels))} on {isolate(name)}",
        "first": write_systems(runs) + _differences(runs, comparison),
        "verdicts": "".join(_verdict(label, summary) for label, summary in summaries.items()),
        "about": _about(runs[0], summaries),
        "systems": "".join(_system(run, summaries[run.label]) for run in runs),
        "tables": _tables(runs, comparison, published=published),
        "figures": "".join(_figures(captions, runs)),
        "sections": "\n".join(_sections(runs)) if runs[0].kind == "linker" else "",
        "browser": _missing_browser(browser, no_browser) if no_browser else _browser(browser),
    }
    return _assemble(
        parts, data, () if no_browser else ("opening.js", "browser.js", f"{browser.name}.js"), browser.styles
    )


def _assemble(parts: Mapping[str, str], data: Any, scripts: Sequence[str], styles: Sequence[str]) -> Iterator[str]:
    """The parts as markup, the data, and the files that become the one script and the one style of the page."""
    style, script = ("".join(map(read_page_file, names)) for names in (styles, scripts))
    skeleton, blocks = compress_data(data)
    yield fill_page(read_page_file("report.html"), script, style, "img-src data:", {**parts, "data": skeleton})
    yield from write_blocks(blocks)
    # Last, so that the results are seen before the data is there.
    yield f"<script>{script}</script>\n</body>\n</html>\n"


def _differences(runs: Sequence[FinishedRun], comparison: Comparison | None) -> str:
    """The sentences on several systems; one alone does not import what they need."""
    if comparison is None:
        return ""
    from shadowprobe.reporting.html.differences import write_differences

    return write_differences(runs, comparison)


def _tables(runs: Sequence[FinishedRun], comparison: Comparison | None, *, published: bool) -> str:
    """The first table, and the others folded; systems that compete are in rows next to each other."""
    tables = [arrange(table) for table in tables_of({run.label: run.results for run in runs}, published=published)]
    if comparison is not None and comparison.pairs:
        from shadowprobe.reporting.tables.pairs_table import pairs_table

        tables.append(pairs_table(comparison))
    if not tables:
        return ""
    first, *others = map(table_html, tables)
    folded = f'<details id="more"><summary>More tables ({len(others)})</summary>{"".join(others)}</details>'
    return first + (folded if others else "")


def arrange(table: Table) -> Table:
    """A table as a page shows it: scores before counts, and of several systems those on one subset together."""
    if table.columns[0].key == "system" and table.columns[1].is_text:
        table = table.with_last(*COUNTS)
        if len({row.cells[0] for row in table.rows}) > 1:
            table = table.grouped_by(table.columns[1].key)
    return table


def _browser(browser: Browser) -> str:
    fields = browser.fields.items()
    choices = "".join(f'<label>{label} <select id="{field}"></select></label>\n' for field, label in fields)
    words = {"name": browser.name, "title": browser.name.capitalize(), "choices": choices}
    return Template(read_page_file("browser.html")).substitute(words, find=browser.searched)


def _missing_browser(browser: Browser, reason: str) -> str:
    name = browser.name
    return (
        f'<section id="{name}" aria-labelledby="{name}-title" tabindex="-1">\n'
        f'<h2 id="{name}-title">{name.capitalize()}</h2>\n'
        f'<p id="left-out">They are not shown: {isolate(reason)}.</p>\n</section>'
    )


def read_page_file(name: str, package: str = __package__) -> str:
    """The content of a file of a package, of this one unless another is named."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def fill_page(body: str, script: str, style: str, sources: str, parts: Mapping[str, Any]) -> str:
    """A page whose policy allows one script, one style and further sources; `data` of its parts becomes JSON."""
    # Nothing inside of a script element is markup but what could end it.
    data = msgspec.json.encode(parts["data"]).decode().replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; script-src '{_hash_content(script)}'; style-src '{_hash_content(style)}'; {sources};"
        " base-uri 'none'; form-action 'none'"
    )
    page = Template(read_page_file("head.html") + body)
    return page.substitute({**parts, "data": data}, policy=policy, style=style)


def _hash_content(content: str) -> str:
    """What the page's policy calls the one script, or the one style, that it allows."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _verdict(label: str, summary: RunSummary) -> str:
    # A label distinguishes two runs of one system, as its name does not.
    rest = f" {summary.verdict}" if summary.verdict else NO_VERDICT
    return f'<p class="verdict">{isolate(label)}{escape(rest)}</p>'


def _about(run: FinishedRun, summaries: Mapping[str, RunSummary]) -> str:
    """The data of the runs: its name and version, and how much there is."""
    version = f" {run.data['version']}" if run.data.get("version") else ""
    sizes = "; ".join(dict.fromkeys(summary.size for summary in summaries.values()))
    rest = f"{version}: {sizes}."
    return f"{DATA_TITLES[run.kind]} {isolate(run.data['name'])}{escape(rest)}"


def _system(run: FinishedRun, summary: RunSummary) -> str:
    """What was run, and what a careful reader must know besides."""
    options = " ".join(f"{key}={value}" for key, value in run.system["options"].items())
    words = " ".join(word for word in (run.system["name"], run.system.get("version", ""), options) if word)
    lines = (words, *_describe_run(run), *_details(run), *summary.warnings, *summary.not_measured, *summary.notes)
    items = "".join(f"<li>{isolate(line)}</li>" for line in lines)
    return f"<section><h3>{isolate(run.label)}</h3><ul>{items}</ul></section>"


def _describe_run(run: FinishedRun) -> Iterator[str]:
    """When it was run, how long it took, and the digest of its data."""
    with suppress(ShadowprobeError):
        card = read_card(run.path / RUN)
        if card.started:
            yield f"began {card.started}, took {card.seconds:,.1f} s, with shadowprobe {card.shadowprobe}"
    yield f"{DATA_TITLES[run.kind].lower()} {run.data['name']}, digest {run.data['digest']}"


def _details(run: FinishedRun) -> Iterator[str]:
    """What a reader of the page must know besides, and a reader of the screen need not."""
    if run.kind == "linker" and run.results["settings"]["redirects"] is not None:
        yield "the results were scored with a table of redirects, which the mentions below do without"
    if run.kind == "retriever":
        yield f"the first {run.results['settings']['depth']} documents of each query were read"


def _figures(captions: Mapping[str, str], runs: Sequence[FinishedRun]) -> Iterator[str]:
    """The figures that can be drawn of these runs; one that cannot be is left out."""
    for name, caption in captions.items():
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


def _sections(runs: Sequence[FinishedRun]) -> Iterator[str]:
    """The sections below the results, each with a table and a figure."""
    from shadowprobe.reporting.html.correction_sections import list_sections

    for name, heading, table, figure in list_sections(runs):
        drawn = "".join(_figures({figure: heading}, runs))
        yield (
            f'<section id="{name}" aria-labelledby="{name}-title">\n<h2 id="{name}-title">{escape(heading)}</h2>\n'
            f'{table_html(table)}\n<div class="figures">{drawn}</div>\n</section>'
        )


def _svg(name: str, runs: Sequence[FinishedRun]) -> str:
    """A figure without the digits that nobody sees: a hatched bar has tens of thousands of them."""
    from shadowprobe.reporting.figures import plot, render

    content = render(plot(name, runs), "svg").decode()
    return _PATH.sub(lambda path: _NUMBER.sub(_round_number, " ".join(path[0].split())), content)


def _round_number(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".rstrip("0").rstrip(".")
