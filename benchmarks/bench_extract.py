"""What cutting snippets from web pages costs, against finding the text of the pages alone.

CPU time of `main_text` and `Cutter.cut` over made-up pages of 5 to 50 kB, with menus, links, lists and a footer. The
baseline is `trafilatura.extract` on the same pages. On most pages of a build the full name stands a few times, on
some it does not: so it is here. Beside that stands what the worst cost: a page of nothing but mentions, and snippets
that all begin alike.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from typing import NamedTuple

from goals import Goal, Measured, parser, show
from synthetic import SEED

from shadowprobe.base.languages import Language
from shadowprobe.build.near_duplicates import NearDuplicates
from shadowprobe.build.snippets import Cutter
from shadowprobe.build.web.main_text import main_text
from shadowprobe.dataset.kept_pages import Cut

try:
    from trafilatura import extract
except ImportError:
    sys.exit("the baseline needs the package trafilatura: pip install trafilatura")

LIMIT = 1.5
PAGES, REPEATS = 240, 5
SMALLEST, LARGEST = 5_000, 50_000
# Of the pages, so many do not name the entity.
SILENT = 0.25
OTHERS = 20
# Of the worst: mentions on one page, and snippets with one opening.
MENTIONS, ALIKE = 8_000, 4_000
COMMON = ("the", "of", "and", "in", "to", "a", "was", "for", "that", "with", "his", "on", "by", "at", "from", "which")
SYLLABLES = (
    "ba",
    "den",
    "for",
    "gri",
    "hol",
    "ka",
    "lem",
    "mi",
    "nor",
    "ost",
    "pra",
    "ren",
    "sil",
    "tur",
    "ven",
    "wes",
)


class Page(NamedTuple):
    """A page, and the entity that is looked for in it."""

    html: str
    entity: str
    space: str
    url: str


class Writer:
    """Writes pages of made-up words; the same seed always writes the same."""

    def __init__(self, seed: int = SEED) -> None:
        self.lot = random.Random(seed)

    def word(self) -> str:
        """A word, every other time a common one."""
        lot = self.lot
        return lot.choice(COMMON) if lot.random() < 0.45 else "".join(lot.choices(SYLLABLES, k=lot.randint(1, 4)))

    def name(self) -> str:
        """A word that begins with a capital letter."""
        return "".join(self.lot.choices(SYLLABLES, k=2)).capitalize()

    def sentence(self, name: str = "") -> str:
        """A sentence, with a name in it where one is given."""
        words = [self.word() for _ in range(self.lot.randint(8, 30))]
        if name:
            words.insert(self.lot.randint(1, len(words) - 1), name)
        words[0] = words[0].capitalize()
        return " ".join(words) + self.lot.choice((".", ".", ".", "?", ", e.g. in 1999."))

    def paragraph(self, name: str = "") -> str:
        """A few sentences, the name in one of them, and a link."""
        sentences = [self.sentence() for _ in range(self.lot.randint(2, 6))]
        if name:
            sentences.append(self.sentence(name))
            self.lot.shuffle(sentences)
        return (
            f'<p class="body">{" ".join(sentences)} <a href="/{self.word()}">{self.name()}</a> {self.sentence()}</p>\n'
        )

    def page(self, number: int) -> Page:
        """A page of some length that names its entity about once in a few paragraphs."""
        space = self.name()
        entity = f"{self.name()} {space}"
        size = self.lot.randint(SMALLEST, LARGEST)
        often = 0.0 if self.lot.random() < SILENT else 0.2
        menu = "".join(f'<li><a href="/{self.word()}/{at}">{self.name()}</a></li>' for at in range(20))
        parts = [
            f"<!DOCTYPE html><html lang='en'><head><title>{self.name()}</title></head>"
            f"<body><nav><ul>{menu}</ul></nav><main><article><h1>{entity if often else self.name()}</h1>\n"
        ]
        length = len(parts[0])
        while length < size:
            name = entity if self.lot.random() < often else ""
            parts.append(self.paragraph(name) if self.lot.random() < 0.9 else f"<h2>{self.name()}</h2>\n")
            length += len(parts[-1])
        parts.append(f"</article></main><footer><ul>{menu}</ul>Copyright {self.name()}</footer></body></html>")
        return Page("".join(parts), entity, space, f"https://example.org/{number}")


def extracted(pages: list[Page]) -> float:
    """CPU seconds of the text alone."""
    started = time.process_time()
    for page in pages:
        extract(page.html, url=page.url, include_comments=False, include_tables=False)
    return time.process_time() - started


def cut(pages: list[Page], others: list[str]) -> tuple[float, int]:
    """CPU seconds of the text and all that is cut from it, and how many snippets that gave."""
    # A new one each time, which has met none of the names.
    cutter = Cutter(Language("en"))
    dropped: Counter[str] = Counter()
    started = time.process_time()
    found = [
        each
        for page in pages
        for each in cutter.cut(main_text(page.html, page.url), page.entity, page.space, others, page.url, dropped)
    ]
    kept = list(NearDuplicates().drop(found, dropped))
    return time.process_time() - started, len(kept)


def crowded() -> float:
    """CPU seconds of a page on which every line is a mention that makes a snippet."""
    cutter, line = Cutter(Language("en"), most=MENTIONS), "On that day all of them saw Paul Smith in the hall.\n"
    started = time.process_time()
    cutter.cut(line * MENTIONS, "Paul Smith", "Smith", (), "https://example.org/", Counter())
    return time.process_time() - started


def alike(writer: Writer) -> float:
    """CPU seconds of the search for near duplicates in snippets that begin alike and differ in their ends."""
    texts = [f"Smith is a village in the north of the county, {writer.sentence()}" for _ in range(ALIKE)]
    cuts = [Cut("Paul Smith", "Smith", text, 0, 5, "Paul Smith", text, "https://example.org/", 0) for text in texts]
    started = time.process_time()
    list(NearDuplicates().drop(cuts, Counter()))
    return time.process_time() - started


def measure(repeats: int = REPEATS) -> Measured:
    """Both in turn, the least of several repeats of each."""
    writer = Writer()
    pages = [writer.page(number) for number in range(PAGES)]
    others = [f"{writer.name()} {writer.name()}" for _ in range(OTHERS)]
    # Once before the clock runs: the first page loads and compiles what all need.
    extracted(pages[:10])
    _, snippets = cut(pages, others)
    bare, whole = [], []
    for _ in range(repeats):
        bare.append(extracted(pages))
        whole.append(cut(pages, others)[0])
    ratio = min(whole) / min(bare)
    return Measured(
        Goal(
            f"text and snippets of a page: at most {LIMIT:g} times the CPU time of `trafilatura.extract`",
            ratio,
            "times",
            ratio <= LIMIT,
        ),
        {
            "pages": len(pages),
            "kB of a page, mean": sum(len(page.html) for page in pages) / len(pages) / 1000,
            "snippets": snippets,
            "text and snippets, CPU s": min(whole),
            "baseline: trafilatura.extract, CPU s": min(bare),
            f"a page with {MENTIONS:,} mentions, CPU s": crowded(),
            f"{ALIKE:,} snippets with one opening, CPU s": alike(writer),
        },
    )


def main() -> None:
    """Measures the pages."""
    given = parser(__doc__).parse_args()
    show(measure(), json=given.json)


if __name__ == "__main__":
    main()
