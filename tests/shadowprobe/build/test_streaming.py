"""No stage holds all of its records: memory is measured with records that are far larger than what is kept of them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from msgspec import Struct

from shadowprobe.base.jsonl import encode_lines, read_lines
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

# A stage sees RECORDS records of at least LONG characters, and may hold HELD times LONG: a part has eight pages, and
# fifty entities are asked for at a time; each of them is there in several forms.
RECORDS, LONG, HELD = 600, 20_000, 300
PAD = "x" * LONG

A = TypeVar("A")
B = TypeVar("B")


def title_of(number: int) -> str:
    return f"{'AB'[number % 2]}nn Name{number // 2}"


def cut_of(title: str, space: str, url: str) -> Cut:
    """A snippet with a long word; its few words are its own."""
    tail = f"on day {title} {PAD}{title}.".replace(" ", "_")
    original = f"they saw {title} {tail}"
    text = f"they saw {space} {tail}"
    return Cut(title, space, text, 9, 9 + len(space), title, original, url, 0)


class Wiki:
    """A wiki without longer names, whose articles have a reference with a long address."""

    url, name, generator = "http://wiki.example", "Made", "none"

    def follow_titles(self, titles: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        return ((title, {"missing": True}) for title in titles)

    def pages(self, titles: Sequence[str], **_: str) -> Iterator[dict[str, Any]]:
        # The redirects of an entity are in its record.
        return ({"title": title, "redirects": [{"title": PAD}], "linkshere": [{"pageid": -1}]} for title in titles)

    def html(self, title: str, _: object) -> str:
        url = f"http://one.example/{title.replace(' ', '_')}/{PAD}"
        return f'<ol class="references"><li><a class="external" href="{url}">source</a></li></ol>'


class Pages:
    """An archive that has all pages."""

    def locate(self, key: str) -> RecordPlace:
        return RecordPlace("web.warc.gz", 0, 0, key)


class Parts(Executor):
    """Cuts one snippet from each page."""

    def map(self, function: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
        return (cast(B, self._cut(cast(list[PageWork], part))) for part in parts)

    def _cut(self, works: list[PageWork]) -> CutPart:
        cuts = [cut_of(work.wanted[0].title, work.wanted[0].space, work.url) for work in works]
        return CutPart(len(works), cuts, [PageText(cut.url, cut.original) for cut in cuts])

    def close(self) -> None: ...


class StandInBuild(Build):
    """A build whose wiki, web and workers answer at once."""

    def __init__(self, out: Path) -> None:
        settings = BuildSettings(wiki="http://wiki.example", name="made", tail=RECORDS)
        super().__init__(out, settings, Manners(user_agent="tests"), executor=Parts())
        vars(self).update(wiki=Wiki(), language=Language("en", neutral=("{name} again.",)))
        vars(self).update(articles=StandInArticles(self.wiki, self.language, settings, ignore_progress))
        vars(self._gatherer).update(web=Pages(), fetch=lambda references, *_: map(store, references))


class StandInArticles(WikiArticles):
    """Articles of which only the references are those of the wiki."""

    def find_spaces(self, funnel: Funnel) -> Iterator[NamedSpace]:
        return select_spaces(list_pages(), self.language, funnel, self.settings, ignore_progress)

    def draw_articles(self, *_: object) -> Iterator[list[FoundEntity]]:
        tail = (FoundEntity(f"Tail{number}", 10_000 + number, 0, redirects=(PAD,)) for number in range(RECORDS))
        return ([entity] for entity in tail)

    def find_references(self, entities: Any, funnel: Funnel, within: str = "") -> Iterator[WebReference]:
        if not within:
            return super().find_references(entities, funnel)
        return (WebReference(entity.title, f"http://tail.example/{entity.title}") for entity in entities)


def store(reference: WebReference) -> Crawled:
    return Crawled(reference.url, f"GET {reference.url}")


def list_pages() -> Iterator[DisambiguationPage]:
    for number in range(0, RECORDS, 2):
        linked = [FoundEntity(title_of(number + each), number + each + 1, qid=PAD) for each in range(2)]
        yield DisambiguationPage(f"Name{number // 2}", linked, str)


def entity(number: int) -> FoundEntity:
    return FoundEntity(title_of(number), number + 1, 9 - number % 2)


def write(out: Path, name: str, records: Iterable[Struct]) -> None:
    (out / "build").mkdir(parents=True, exist_ok=True)
    with (out / "build" / f"{name}.jsonl").open("wb") as file:
        file.writelines(encode_lines([record]) for record in records)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A directory with the records of every stage."""
    numbers = range(RECORDS)
    spaces = (
        FoundSpace(f"Name{number // 2}", PAD, (title_of(number), title_of(number + 1))) for number in numbers[::2]
    )
    write(tmp_path, "spaces", spaces)
    write(tmp_path, "candidates", (FoundEntity(title_of(each), each + 1, qid=PAD) for each in numbers))
    write(tmp_path, "entities", map(entity, numbers))
    write(tmp_path, "references", (WebReference(title_of(each), f"http://{each}.example/{PAD}") for each in numbers))
    write(tmp_path, "crawled", (Crawled(f"http://{each}.example/{PAD}", f"GET {each}{PAD}") for each in numbers))
    cuts = [(title_of(each), f"Name{each // 2}", f"http://{each}.example") for each in numbers]
    write(tmp_path, "cuts", (cut_of(*each) for each in cuts))
    write(tmp_path, "snippets-texts", (PageText(each[2], cut_of(*each).original) for each in cuts))
    tail = [(f"Tail{each}", f"Tail{each}", f"http://tail{each}.example") for each in numbers]
    write(tmp_path, "tail", (FoundEntity(each[0], 10_000 + number) for number, each in enumerate(tail)))
    write(tmp_path, "tail-cuts", (cut_of(*each) for each in tail))
    write(tmp_path, "tail-texts", (PageText(each[2], cut_of(*each).original) for each in tail))
    return tmp_path


MADE: dict[str, tuple[str, type[Struct]]] = {
    "spaces": ("candidates", FoundEntity),
    "commonness": ("entities", FoundEntity),
    "references": ("references", WebReference),
    "snippets": ("cuts", Cut),
    "tail": ("tail-cuts", Cut),
}


@pytest.mark.parametrize("stage", [*MADE, "assemble"])
def test_a_stage_holds_only_a_few_records_at_a_time(stage: str, out: Path) -> None:
    # What is imported at the first use does not count.
    import_module("lxml.html")
    with StandInBuild(out) as build:
        tracemalloc.start()
        getattr(build, f"_{stage}")(Funnel(stage))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < HELD * LONG
    if stage == "assemble":
        lines = [(out / f"{name}.jsonl").read_bytes().count(b"\n") for name in ("top", "shadow", "tail")]
        # One snippet of each name, and one of each tail entity.
        assert lines == [RECORDS // 2, RECORDS // 2, RECORDS]
    else:
        name, kind = MADE[stage]
        assert sum(1 for _ in read_lines(out / "build" / f"{name}.jsonl", kind)) == RECORDS
