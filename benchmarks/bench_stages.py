"""How much memory the stages of a build take beside their documented indexes, at 10 thousand and at many pages.

Each stage runs in a process of its own, over the files that the stage before would have written. The wiki, the crawl
and the cutting of a page are replaced by functions that return a short result at once: their costs have benchmarks of
their own, and what is measured here is what a stage keeps. A page has one reference and one snippet; two pages belong
to one entity, and two entities to one name. The goal is set for `--pages 1M`, which takes some minutes.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from goals import Goal, Measured, parser, peak, show

from shadowprobe.base.jsonl import encode_lines
from shadowprobe.base.languages import Language
from shadowprobe.build.funnel import Funnel, ignore_progress
from shadowprobe.build.page_cutting import CutPart, PageWork
from shadowprobe.build.pipeline import Build
from shadowprobe.build.records import Crawled, FoundEntity, FoundSpace, WebReference
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.spaces import DisambiguationPage, NamedSpace, select_spaces
from shadowprobe.build.warc_record import RecordPlace
from shadowprobe.build.web.politeness import Manners
from shadowprobe.build.wiki_articles import WikiArticles
from shadowprobe.compute.executor import Executor
from shadowprobe.dataset.kept_pages import Cut, PageText

SMALL, MANY = 10_000, 40_000
PAGES_PER_ENTITY, ENTITIES_PER_NAME = 2, 2
WORDS = 14
# One tail entity for so many pages.
TAIL = 100
STAGES = ("spaces", "commonness", "references", "snippets", "tail", "assemble")
# What each stage keeps, in bytes per page here; docs/scale.md has the bytes per entry. An index takes 50 bytes per
# entry while it is made, and a page has half an entity and a quarter of a name.
KEPT = {
    # Digests of names and of entities, 100 bytes each.
    "spaces": 75,
    "commonness": 0,
    "references": 0,
    # The pages, and twice the references; half a title; the sentences; near duplicates of short texts.
    "snippets": 50 + 32 + 8 + 40 + 250,
    # Entities, snippets, and near duplicates.
    "tail": 50 + 16 + 8 + 250,
    # Entities, snippets and texts; then the entities, names and snippets of the dataset that is read back.
    "assemble": 50 + 32 + 8 + 600,
}
# What a stage may take beside its indexes: arrays and dictionaries grow in steps.
SLACK = 10e6

A = TypeVar("A")
B = TypeVar("B")


def make_title(entity: int) -> str:
    """The title of an entity: it contains the name of its space."""
    return f"{'ABCDEFGH'[entity % ENTITIES_PER_NAME]}nn {make_name(entity // ENTITIES_PER_NAME)}"


def find_number(title: str) -> int:
    """The number of the entity of a title."""
    return int(title.rpartition("Name")[2]) * ENTITIES_PER_NAME + "ABCDEFGH".index(title[0])


def make_name(space: int) -> str:
    """The name of a space."""
    return f"Name{space}"


def make_url(page: int) -> str:
    """The address of a page."""
    return f"http://host{page % 1000}.example/page/{page}"


def make_cut(page: int) -> Cut:
    """The snippet of a page: words that no other page has in this order."""
    entity = page // PAGES_PER_ENTITY
    title, name = make_title(entity), make_name(entity // ENTITIES_PER_NAME)
    return cut_words(title, name, make_url(page), page)


def cut_words(title: str, name: str, url: str, seed: int) -> Cut:
    """A snippet of random words."""
    words = " ".join(f"w{number}" for number in random.Random(seed).choices(range(5_000), k=WORDS))
    original = f"they saw {title} {words}."
    return Cut(title, name, original.replace(title, name), 9, 9 + len(name), title, original, url, 0)


class Shape:
    """The records of a build of so many pages."""

    def __init__(self, pages: int) -> None:
        self.pages, self.entities = pages, pages // PAGES_PER_ENTITY
        self.spaces = self.entities // ENTITIES_PER_NAME

    def list_titles(self, space: int) -> tuple[str, ...]:
        """The titles of a space."""
        return tuple(make_title(space * ENTITIES_PER_NAME + number) for number in range(ENTITIES_PER_NAME))

    def list_spaces(self) -> Iterator[FoundSpace]:
        """All spaces."""
        return (FoundSpace(make_name(space), "", self.list_titles(space)) for space in range(self.spaces))

    def list_entities(self) -> Iterator[FoundEntity]:
        """All entities; of two the first is more common."""
        for number in range(self.entities):
            yield FoundEntity(make_title(number), number + 1, 9 - number % ENTITIES_PER_NAME, f"Q{number + 1}")

    def list_pages(self) -> Iterator[DisambiguationPage]:
        """The disambiguation pages of all spaces."""
        linked = list[FoundEntity | str]()
        for entity in self.list_entities():
            linked.append(entity)
            if len(linked) == ENTITIES_PER_NAME:
                yield DisambiguationPage(make_name((entity.page_id - 1) // ENTITIES_PER_NAME), linked, str)
                linked = []

    def list_references(self) -> Iterator[WebReference]:
        """All references."""
        return (WebReference(make_title(page // PAGES_PER_ENTITY), make_url(page)) for page in range(self.pages))

    def list_crawled(self) -> Iterator[Crawled]:
        """All stored pages."""
        return (Crawled(make_url(page), f"GET {make_url(page)}") for page in range(self.pages))

    def list_cuts(self) -> Iterator[Cut]:
        """The snippets of all pages."""
        return map(make_cut, range(self.pages))

    def list_texts(self) -> Iterator[PageText]:
        """The texts of all pages."""
        return (PageText(cut.url, cut.original) for cut in self.list_cuts())

    def list_tail(self) -> Iterator[FoundEntity]:
        """The tail entities."""
        return (FoundEntity(f"Tail{number}", self.entities + number + 1) for number in range(self.pages // TAIL))

    def write(self, out: Path) -> None:
        """Writes what the stages read."""
        directory = out / "build"
        directory.mkdir(parents=True)
        records: dict[str, Iterable[Any]] = {
            "spaces": self.list_spaces(),
            "candidates": self.list_entities(),
            "entities": self.list_entities(),
            "references": self.list_references(),
            "crawled": self.list_crawled(),
            "cuts": self.list_cuts(),
            "snippets-texts": self.list_texts(),
            "tail": self.list_tail(),
            "tail-cuts": map(cut_tail, self.list_tail()),
            "tail-texts": (PageText(cut.url, cut.original) for cut in map(cut_tail, self.list_tail())),
        }
        for name, items in records.items():
            with (directory / f"{name}.jsonl").open("wb") as file:
                file.writelines(encode_lines([item]) for item in items)


def cut_tail(entity: FoundEntity) -> Cut:
    """The snippet of a tail entity."""
    return cut_words(entity.title, entity.title, f"http://tail.example/{entity.page_id}", -entity.page_id)


class StandInWiki:
    """A wiki that knows no longer name, and whose articles have a reference each."""

    url, name, generator = "http://wiki.example", "Synthetic", "none"

    def follow_titles(self, titles: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """No title has a page."""
        return ((title, {"missing": True}) for title in titles)

    def pages(self, titles: Sequence[str], **_: str) -> Iterator[dict[str, Any]]:
        """The first entity of a name has two links, the others have one."""
        links = [{"pageid": -1}, {"pageid": -2}]
        for title in titles:
            is_first = find_number(title) % ENTITIES_PER_NAME == 0
            yield {"title": title, "redirects": [], "linkshere": links[: 2 if is_first else 1]}

    def html(self, title: str, _: object) -> str:
        """An article with its references."""
        first = find_number(title) * PAGES_PER_ENTITY
        urls = [make_url(page) for page in range(first, first + PAGES_PER_ENTITY)]
        items = "".join(f'<li><a class="external" href="{url}">source</a></li>' for url in urls)
        return f'<ol class="references">{items}</ol>'


class StandInPages:
    """An archive that has all pages."""

    def locate(self, key: str) -> RecordPlace:
        """Where a page would be."""
        return RecordPlace("web.warc.gz", 0, 0, key)


class FinishedParts(Executor):
    """Returns the snippets of parts at once."""

    def map(self, function: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
        """Yields the finished parts."""
        return (cast(B, make_part(cast(Sequence[PageWork], part))) for part in parts)

    def close(self) -> None:
        """There are no workers."""


def make_part(works: Sequence[PageWork]) -> CutPart:
    """The snippets of some pages."""
    cuts = [cut_page(work) for work in works]
    return CutPart(len(works), cuts, [PageText(cut.url, cut.original) for cut in cuts])


def cut_page(work: PageWork) -> Cut:
    """The snippet of a page."""
    title, number = work.wanted[0].title, int(work.url.rpartition("/")[2])
    return make_cut(number) if not title.startswith("Tail") else cut_tail(FoundEntity(title, number))


class StagedBuild(Build):
    """A build whose wiki, web and workers are replaced."""

    def __init__(self, out: Path, shape: Shape) -> None:
        settings = BuildSettings(wiki="http://wiki.example", name="staged", tail=shape.pages // TAIL)
        super().__init__(out, settings, Manners(user_agent="benchmark"), executor=FinishedParts())
        # These are properties that are computed once.
        vars(self).update(wiki=StandInWiki(), language=Language("en", neutral=("{name} again.",)))
        vars(self).update(articles=StandInArticles(self.wiki, self.language, settings, shape))
        vars(self._gatherer).update(web=StandInPages(), fetch=self.fetch)

    def fetch(self, references: Iterable[WebReference], *_: object) -> Iterator[Crawled]:
        """All pages are there."""
        return (Crawled(each.url, f"GET {each.url}") for each in references)

    def run_stage(self, stage: str) -> None:
        """Runs one stage, and reads the result of the last one."""
        getattr(self, f"_{stage}")(Funnel(stage))


class StandInArticles(WikiArticles):
    """Articles of which only the references of the spaces are those of the wiki."""

    def __init__(self, wiki: Any, language: Language, settings: BuildSettings, shape: Shape) -> None:
        super().__init__(wiki, language, settings, ignore_progress)
        self.shape = shape

    def find_spaces(self, funnel: Funnel) -> Iterator[NamedSpace]:
        """The names of the pages."""
        return select_spaces(self.shape.list_pages(), self.language, funnel, self.settings, ignore_progress)

    def draw_articles(self, *_: object) -> Iterator[list[FoundEntity]]:
        """The tail, fifty at a time."""
        tail = list(self.shape.list_tail())
        return (tail[first : first + 50] for first in range(0, len(tail), 50))

    def find_references(self, entities: Any, funnel: Funnel, within: str = "") -> Iterator[WebReference]:
        """A page for each entity of the tail."""
        if not within:
            return super().find_references(entities, funnel)
        return (WebReference(each.title, f"http://tail.example/{each.page_id}") for each in entities)


def child(stage: str, out: Path, pages: int) -> None:
    """Runs a stage and prints its peak."""
    build = StagedBuild(out, Shape(pages))
    with build:
        build.run_stage(stage)
    print(peak())


def footprints(pages: int, scratch: Path) -> dict[str, int]:
    """The peak of each stage in a process of its own."""
    out = scratch / str(pages)
    Shape(pages).write(out)
    found = {}
    for stage in STAGES:
        command = [sys.executable, __file__, "--child", stage, str(out), str(pages)]
        found[stage] = int(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        print(f"{stage} of {pages:,} pages: {found[stage] / 1e6:.0f} MB", file=sys.stderr, flush=True)
    return found


def measure(scratch: Path, pages: int) -> Measured:
    """Both sizes, and the growth of each stage beyond its indexes."""
    small, large = footprints(SMALL, scratch), footprints(pages, scratch)
    details: dict[str, float] = {}
    beyond = {}
    for stage in STAGES:
        growth = large[stage] - small[stage]
        beyond[stage] = growth - KEPT[stage] * (pages - SMALL)
        details |= {
            f"{stage}: peak at {SMALL:,} pages, MB": small[stage] / 1e6,
            f"{stage}: peak at {pages:,} pages, MB": large[stage] / 1e6,
            f"{stage}: growth, bytes per page": growth / (pages - SMALL),
            f"{stage}: documented indexes, bytes per page": KEPT[stage],
        }
    worst = max(beyond.values())
    return Measured(
        Goal(
            f"a stage of a build takes at most {SLACK / 1e6:g} MB more at {pages:,} pages than at {SMALL:,}, beside"
            " its documented indexes",
            max(0.0, worst / 1e6),
            "MB",
            worst <= SLACK,
        ),
        details,
    )


def parse_count(text: str) -> int:
    """A number such as 40000, 40k or 1M."""
    units = {"k": 10**3, "m": 10**6}
    unit = units.get(text[-1:].lower(), 1)
    return int(float(text[: -1 if unit > 1 else None]) * unit)


def main() -> None:
    """Measures two sizes."""
    options = parser(__doc__)
    options.add_argument(
        "--pages", type=parse_count, default=MANY, help=f"of the larger build, {MANY:,} by default; 1M takes long"
    )
    options.add_argument("--child", nargs=3, metavar=("STAGE", "OUT", "PAGES"), help="run a stage and print its peak")
    given = options.parse_args()
    if given.child:
        stage, out, pages = given.child
        child(stage, Path(out), int(pages))
        return
    with tempfile.TemporaryDirectory() as directory:
        show(measure(Path(directory), given.pages), json=given.json)


if __name__ == "__main__":
    main()
