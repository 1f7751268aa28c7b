"""How much CPU time the references of an article take, against bare lxml and against its wikitext.

The pages are synthetic articles in the form that MediaWiki renders. The baseline parses a page with lxml and lists
the external links of its notes by XPath. Ours also pairs links with archived copies, and drops what cannot be read.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from goals import Goal, Measured, parser, show
from lxml.html import document_fromstring

from shadowprobe.base.languages import read_language
from shadowprobe.build.dumps.wikitext_references import list_references, split_references
from shadowprobe.build.references import filter_links, find_references

LIMIT = 2.0
PAGES, NOTES, PARAGRAPHS, REPEATS = 40, 60, 60, 5
XPATH = "//ol[contains(@class, 'references')]/li//a[contains(@class, 'external')]/@href"
WORDS = "The river was seen from the old house north of the water in that year and it was built again. " * 4


def url_of(page: int, note: int) -> str:
    """The address that a note cites."""
    return f"http://host{note % 7}.example/{page}/{note}?x=1"


def render(page: int) -> str:
    """An article as a wiki renders it."""
    body = "".join(
        f'<p id="p{place}">{WORDS}<a href="/wiki/A{place}" title="A{place}">A{place}</a><sup id="cite_ref-{place}"'
        f' class="reference"><a href="#cite_note-{place}">[{place}]</a></sup></p>'
        for place in range(PARAGRAPHS)
    )
    notes = "".join(
        f'<li id="cite_note-{note}"><span class="mw-cite-backlink"><b><a href="#cite_ref-{note}">^</a></b></span>'
        f' <span class="reference-text"><cite class="citation web cs1"><a rel="nofollow" class="external text"'
        f' href="{url_of(page, note)}">A title</a>. <i>A paper</i>.</cite><span class="Z3988"></span></span></li>'
        for note in range(NOTES)
    )
    return f'<div class="mw-parser-output">{body}<h2>References</h2><ol class="references">{notes}</ol></div>'


def write(page: int) -> str:
    """The wikitext of the same article."""
    body = "\n\n".join(
        f"{WORDS}[[A{note}]]<ref>{{{{cite web |url={url_of(page, note)} |title=A title |work=A paper}}}}</ref>"
        for note in range(NOTES)
    )
    return f"{body}\n\n== References ==\n{{{{reflist}}}}"


def fastest(work: Callable[[], object]) -> float:
    """The least CPU time of some repeats, per page and in milliseconds."""
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times) / PAGES * 1e3


def measure() -> Measured:
    """All ways over the same articles."""
    english = read_language("en")
    headings = frozenset(heading.casefold() for heading in english.references)
    pages, texts = [render(page) for page in range(PAGES)], [write(page) for page in range(PAGES)]

    def ours() -> list[list[str]]:
        return [[each.url for each in find_references(page, "E", english, "", Counter())] for page in pages]

    def bare() -> list[list[str]]:
        return [list(document_fromstring(page).xpath(XPATH)) for page in pages]

    def wikitext() -> list[list[str]]:
        items = [split_references(list_references(text, headings)) for text in texts]
        return [[each.url for each in filter_links(item, "E", "", Counter())] for item in items]

    # Little time is of no use unless the addresses are right.
    assert ours() == bare() == wikitext()
    times = {"ours": fastest(ours), "bare": fastest(bare), "text": fastest(wikitext)}
    ratio = times["ours"] / times["bare"]
    return Measured(
        Goal(
            f"CPU time of the references of a page: at most {LIMIT:g} times bare lxml", ratio, "times", ratio <= LIMIT
        ),
        {
            "page, KB": len(pages[0]) / 1e3,
            "ours, from the rendered page, CPU ms": times["ours"],
            "ours, from the wikitext, CPU ms": times["text"],
            "baseline: bare lxml, CPU ms": times["bare"],
            "ours / baseline": ratio,
            "wikitext / baseline": times["text"] / times["bare"],
        },
    )


def main() -> None:
    """Measures and shows."""
    show(measure(), json=parser(__doc__).parse_args().json)


if __name__ == "__main__":
    main()
