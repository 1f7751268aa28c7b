"""A small wiki and the web pages that its articles cite, of which every figure of a build is worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from refusals import contents
from service import Asked, Reply, Service, serving
from web_pages import LOOPBACK, Web, html, web
from wiki_standin import StandIn

from shadowprobe import Dataset
from shadowprobe.build.archive import Archive, key_of
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.pipeline import Build
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.web.politeness import Manners

DISAMBIGUATION = {
    "Harlow (disambiguation)": ["Harlow Bridge", "Mount Harlow", "Harlow Hall", "Old Harlow Fair"],
    "Kestrel": ["Kestrel Railway", "SS Kestrel"],
    # Both are as common.
    "Vesper": ["Vesper Theatre", "Mount Vesper"],
    # No page names the more common one.
    "Orrin": ["Orrin Falls", "Mount Orrin"],
    # No page names the other one.
    "Pell": ["Pell Bridge", "Pell Hall"],
    "Rowan": ["River Rowan"],
    "Cart": ["Cartwright Mill"],
}
# The pages that link to an article; the bridge has one more behind its old name, and one that links to both names.
LINKED_FROM = {
    "Harlow Bridge": [901, 902, 903, 904],
    "Harlow Crossing": [904, 905],
    "Mount Harlow": [901, 902, 903],
    "Harlow Hall": [901],
    "Kestrel Railway": [901, 902, 903, 904],
    "SS Kestrel": [901, 902],
    "Vesper Theatre": [901],
    "Mount Vesper": [902],
    "Orrin Falls": [901, 902],
    "Mount Orrin": [901],
    "Pell Bridge": [901, 902],
    "Pell Hall": [901],
    "River Rowan": [901, 902, 903, 904],
    "Tarn House": [901, 902],
    "Upton Mill": [901, 902, 903],
    "Wren Abbey": [],
}
COMMONNESS = {title: len(pages) for title, pages in LINKED_FROM.items()} | {"Harlow Bridge": 5}
CITED = {
    "Harlow Bridge": ["/bridge", "/gone", "/plan.pdf"],
    "Mount Harlow": ["/mount"],
    "Harlow Hall": ["/hall"],
    "Kestrel Railway": ["/railway"],
    "SS Kestrel": ["/ship", "/railway"],
    "Mount Orrin": ["/orrin"],
    "Pell Bridge": ["/pell"],
    "Tarn House": ["/tarn"],
    "Upton Mill": ["/mill"],
}
# The sentences of each page that name an article.
SAID = {
    "/bridge": [
        "The stones of Harlow Bridge were cut by hand in the winter of that year.",
        "A toll was taken at Harlow Bridge until the last keeper of it died.",
    ],
    "/mount": ["Snow lies on Mount Harlow for most of the year and nobody lives there."],
    "/hall": ["The ceiling of Harlow Hall was painted by a man who could not see."],
    "/railway": ["The engine that ran on Kestrel Railway had no brakes when it came to the sea."],
    "/ship": ["All of the crew were saved when SS Kestrel sank in the fog."],
    "/orrin": ["There is a hut on Mount Orrin where the shepherds slept in the summer."],
    "/pell": ["The floods took Pell Bridge with them, and it was not built again."],
    "/tarn": ["The owner of Tarn House kept bees in the rooms under its roof."],
    "/mill": ["The wheel of Upton Mill still turns when the water is high."],
}
FUNNELS = [
    Funnel("spaces", 7, 5, {"fewer than two articles bear the name": 1, "no linked article bears the name": 1}),
    Funnel("commonness", 11, 11),
    # Four articles cite nothing: both Vespers, the falls and the hall of Pell.
    Funnel("references", 14, 9, {"a document such as PDF": 1, "an article without references": 4}),
    # Nine references to eight pages.
    Funnel("crawl", 8, 7, {"404": 1}),
    # The ship cites the railway's page too.
    Funnel("snippets", 9, 8, {"the page does not name the entity": 1}),
    Funnel(
        "tail",
        23,
        1,
        {
            "a disambiguation page": 7,
            "a redirect": 1,
            "an entity of a space": 11,
            # The mount, the hall and the ship have 3, 1 and 2: the mill has 3, the river 4.
            "more common than the median of Shadow": 2,
            # The abbey cites nothing.
            "no snippet was found": 1,
        },
    ),
    Funnel(
        "assemble",
        5,
        2,
        {
            "no entity is more common than every other": 1,
            "no other entity has a snippet": 1,
            "the most common entity has no snippet": 1,
        },
    ),
]
MANNERS = Manners(user_agent="tests (+nobody)", delay=0.0, timeout=10.0, allow_private=LOOPBACK)
# What a build takes besides its settings.
BUILD_OPTIONS = ("executor", "from_archive", "progress", "retry", "storage")
# Any day, so long as it is the same for two builds that are compared.
DAY = "1500000000"
_FILLER = (
    "This is a page about a place that people have known for a long time, and it tells what they have said of it.",
    "Some of what is told here was found in old books, and some of it was heard from those who were there.",
)


def page(*sentences: str) -> bytes:
    """A web page that says these sentences among others."""
    paragraphs = "".join(f"<p>{sentence}</p>" for sentence in (_FILLER[0], *sentences, _FILLER[1]))
    return html(f"<html><head><title>A page</title></head><body><article>{paragraphs}</article></body></html>")


def citing(urls: Sequence[str]) -> str:
    """An article as a wiki renders it, with these references."""
    items = "".join(f'<li><a class="external" href="{url}">source</a></li>' for url in urls)
    return f'<p>An article.</p><ol class="references">{items}</ol>'


def small_wiki(served: Web) -> StandIn:
    """The wiki, whose articles cite pages of this web."""
    standin = StandIn(extensions=("Disambiguator",))
    standin.lists["pageswithprop"] = [{"ns": 0, "title": title} for title in DISAMBIGUATION]
    for title, links in DISAMBIGUATION.items():
        linked = [{"ns": 0, "title": link} for link in links]
        standin.add(title, len(standin.pages) + 1, links=linked, pageprops={"disambiguation": ""})
    for title, pages in LINKED_FROM.items():
        standin.add(title, len(standin.pages) + 1, linkshere=[{"pageid": number} for number in pages])
        standin.texts[title] = citing([served.url(path) for path in CITED.get(title, ())])
    standin.pages["Harlow Crossing"]["redirect"] = True
    standin.pages["Harlow Bridge"]["redirects"] = [{"title": "Harlow Crossing"}]
    return standin


class Small:
    """The wiki and the web while they run, and builds of them."""

    def __init__(self, standin: StandIn, service: Service, served: Web) -> None:
        self.standin, self.service, self.web = standin, service, served
        self.url = service.url.removesuffix("/api")

    @property
    def asked(self) -> int:
        """How many questions wiki and web have been asked so far."""
        return len(self.service.requests) + len(self.web.asked)

    def questions(self) -> list[str]:
        """Every question so far, by the key under which an archive has its answer."""
        of_wiki = [key_of(asked.method, f"{self.url}{asked.path}", asked.body) for asked in self.service.requests]
        return of_wiki + [key_of("GET", f"http://{each.host}:{self.web.port}{each.path}") for each in self.web.asked]

    def agents(self) -> set[str]:
        """As whom the builder has made itself known."""
        of_wiki = {asked.headers["user-agent"] for asked in self.service.requests}
        return of_wiki | {asked.headers["user-agent"] for asked in self.web.asked}

    def forget(self) -> None:
        """Forgets what was asked."""
        self.service.requests.clear()
        self.web.asked.clear()

    def build(self, out: Path, stage: str | None = None, **options: Any) -> Dataset | None:
        """A build, or one stage of it; options that are no settings go to the build itself."""
        own = {name: options.pop(name) for name in BUILD_OPTIONS if name in options}
        settings = BuildSettings(wiki=self.url, name="small", **options)
        with Build(out, settings, MANNERS, **own) as work:
            return work.run(stage)


@contextmanager
def small(
    wiki_of: Callable[[Web], StandIn] = small_wiki, said: dict[str, list[str]] = SAID, hosts: int = 1
) -> Iterator[Small]:
    """The wiki and the web, which answer while the block runs."""
    pages: dict[str, Any] = {path: page(*sentences) for path, sentences in said.items()}
    with pytest.MonkeyPatch.context() as patch, web(pages, hosts) as served:
        patch.setenv("SOURCE_DATE_EPOCH", DAY)
        standin = wiki_of(served)
        with serving(standin) as service:
            yield Small(standin, service, served)


class Mortal:
    """A wiki that falls silent after so many answers."""

    def __init__(self, standin: StandIn, answers: int = 0) -> None:
        self.standin, self.left = standin, answers
        # The questions that got an answer.
        self.answered: list[bytes] = []

    def __call__(self, number: int, asked: Asked) -> Reply:
        """The answer to a question, as long as it lives."""
        if self.left <= 0:
            raise ConnectionResetError
        self.left -= 1
        self.answered.append(asked.body)
        return self.standin(number, asked)


def made(out: Path) -> dict[str, bytes | None]:
    """What a build makes, without the archive, whose records tell when they were written."""
    return {name: content for name, content in contents(out).items() if not name.startswith("build/archive")}


def stored(out: Path) -> set[str]:
    """The questions whose answers the archives of a build have."""
    found: set[str] = set()
    for name in ("wiki", "web"):
        path = out / "build" / "archive" / f"{name}.warc.gz"
        if path.exists():
            with closing(Archive(path, software="tests", read_only=True)) as archive:
                found.update(archive.keys())
    return found
