"""The web pages of the world, as a server is to give them out."""

from __future__ import annotations

import gzip
import html
import re
import unicodedata
from functools import cache
from typing import NamedTuple

from wiki_pages.material import Row, filler, sentences, table

HTML = {"Content-Type": "text/html; charset=utf-8"}
BOMB_BYTES = 32_000_000
# Not for the public, and of multicast, so that nothing leaves the machine even where private addresses are allowed.
INNER = "http://224.0.0.1/inner"


class Served(NamedTuple):
    """What a server answers; `then` from the second time on, and `endless` again and again without an end."""

    status: int
    headers: dict[str, str]
    body: bytes
    then: Served | None = None
    endless: bool = False


Place = tuple[str, str]
Pages = dict[Place, Served]
# By the name of a trap: the entity that refers to it, and where it is.
Traps = dict[str, tuple[str, Place]]


def slug(title: str) -> str:
    """A title as a part of a path."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9]+", "-", plain).strip("-")


def document(heading: str, paragraphs: list[str], *, language: str = "en") -> str:
    """A page as newspapers have them, with a menu above and a note below."""
    body = "\n".join(f"<p>{html.escape(paragraph, quote=False)}</p>" for paragraph in paragraphs)
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8"><title>{html.escape(heading)}</title>'
        '</head>\n<body><nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li></ul></nav>\n'
        f"<main><article><h1>{html.escape(heading)}</h1>\n{body}\n</article></main>\n"
        "<footer><p>All rights reserved.</p></footer></body></html>\n"
    )


def page(heading: str, paragraphs: list[str], *, language: str = "en") -> Served:
    """A page that is given out as it should be."""
    return Served(200, dict(HTML), document(heading, paragraphs, language=language).encode())


def ordinary_pages(rows: list[Row], hosts: list[str], without: list[str]) -> tuple[Pages, dict[str, list[str]]]:
    """Three pages for each entity: two name it in full, the second of them twice, and the third does not."""
    pages: Pages = {}
    cited: dict[str, list[str]] = {}
    for number, row in enumerate(rows):
        if row.title in without:
            continue
        first, second, third = sentences(row, number, "mentions")
        around = [filler(number * 3 + which, 10) for which in range(3)]
        texts = [
            [*_parts(around[0], 3), " ".join([around[0][6], first, around[0][7]]), around[0][8]],
            [" ".join([*around[1][:2], second, around[1][2]]), *_parts(around[1][3:], 3), f"{around[1][9]} {third}"],
            _parts(around[2], 4),
        ]
        for which, paragraphs in enumerate(texts):
            host, path = hosts[(number + which) % len(hosts)], f"/{slug(row.title)}/{which + 1}"
            pages[host, path] = page(f"Notes from the valley, no. {number * 3 + which}", paragraphs)
            cited.setdefault(row.title, []).append(f"http://{host}{path}")
    return pages, cited


def _parts(known: list[str], size: int) -> list[str]:
    """Two paragraphs of so many sentences each."""
    return [" ".join(known[:size]), " ".join(known[size : 2 * size])]


def written_traps(hosts: list[str]) -> tuple[Pages, Traps]:
    """The pages whose text is the trap."""
    pages: Pages = {}
    traps: Traps = {}
    for number, (name, entry) in enumerate(table("traps")["web"].items()):
        place = (hosts[number % len(hosts)], f"/traps/{slug(name)}")
        around = table("words")["german"] if entry.get("language") == "german" else filler(200 + number, 8)
        paragraphs = entry["text"].split("\n")
        if entry.get("bare"):
            # Nothing stands before its first word and after its last.
            paragraphs[1:1] = [" ".join(around[:4])]
        else:
            paragraphs = [" ".join(around[:4]), *paragraphs, " ".join(around[4:] or around[:2])]
        heading = "" if entry.get("bare") else "A page of the valley"
        pages[place] = page(heading, paragraphs, language="de" if entry.get("language") == "german" else "en")
        traps[name] = (entry["entity"], place)
    return pages, traps


def technical_traps(hosts: list[str]) -> tuple[Pages, Traps]:
    """The pages whose server is the trap; the first host forbids robots, the second wants a second between two."""
    closed, slow, *rest = hosts
    host = rest[-1]

    def telling(title: str, number: int) -> list[str]:
        """Paragraphs in which a sentence of our own names an entity."""
        around = filler(400 + number, 7)
        told = f"People here still talk about {title} when the evenings grow long and the stove is lit."
        return [" ".join(around[:3]), f"{around[3]} {told} {around[4]}", around[5]]

    def to(path: str) -> Served:
        return Served(302, {"Location": path}, b"")

    wrong = document("Ein Blick zurück", telling("Piet Zürn", 1)).replace('<meta charset="utf-8">', "")
    late = page("At the second try", telling("Thorne Bridge", 2))
    busy = Served(429, {"Retry-After": "1", **HTML}, b"<p>Too many requests.</p>", then=late)
    packed = {**HTML, "Content-Encoding": "gzip"}
    entries: dict[str, tuple[str, Place, Served]] = {
        "robots.txt forbids": ("Corbin Castle", (closed, "/private/corbin"), page("No", telling("Corbin Castle", 3))),
        "a crawl delay": ("Corbin Rovers", (slow, "/slow/1"), page("Slowly", telling("Corbin Rovers", 4))),
        "a crawl delay again": ("Corbin Rovers", (slow, "/slow/2"), page("Slowly", telling("Corbin Rovers", 5))),
        "429 once": ("Thorne Bridge", (host, "/busy"), busy),
        "a redirect": ("Emil Thorne", (host, "/moved"), to("/here")),
        "a redirect loop": ("Mount Umber", (host, "/loop/1"), to("/loop/2")),
        "a redirect to an inner address": ("The Umber House", (host, "/inwards"), to(INNER)),
        "a gzip bomb": ("River Garnet", (host, "/bomb"), Served(200, packed, _bomb())),
        "an endless answer": (
            "Garnet Bridge",
            (host, "/endless"),
            Served(200, dict(HTML), b"<p>on and on</p>\n", endless=True),
        ),
        "not HTML": (
            "Hollis Falls",
            (host, "/data"),
            Served(200, {"Content-Type": "application/json"}, b'{"text": "Nobody left Hollis Falls that day."}'),
        ),
        # The header says UTF-8, and the bytes are of another kind.
        "a wrong charset": ("Piet Zürn", (host, "/charset"), Served(200, dict(HTML), wrong.encode("cp1252"))),
        "dead": ("Linden Theatre", (host, "/dead"), Served(404, dict(HTML), b"<p>Not found.</p>")),
        "broken": ("Oskar Linden", (host, "/broken"), Served(500, dict(HTML), b"<p>Something broke.</p>")),
        "empty": ("SS Marlow", (host, "/empty"), Served(200, dict(HTML), b"")),
    }
    pages: Pages = {place: served for _, place, served in entries.values()}
    pages[host, "/here"] = page("Here", telling("Emil Thorne", 6))
    pages[host, "/loop/2"] = to("/loop/1")
    pages[closed, "/robots.txt"] = Served(200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /private/\n")
    pages[slow, "/robots.txt"] = Served(200, {"Content-Type": "text/plain"}, b"User-agent: *\nCrawl-delay: 1\n")
    return pages, {name: (entity, place) for name, (entity, place, _) in entries.items()}


def archived_copies(host: str) -> Pages:
    """What the references of traps.toml name: dead pages, their copies, and a page whose name looks bad."""
    gone = Served(404, dict(HTML), b"<p>Not found.</p>")
    copies = {"halden": "Halden Falls", "mount": "Mount Halden"}
    pages: Pages = {
        (host, "/in-the-body"): page("Opening hours", ["Harlow Castle is open from ten to four.", *filler(1, 4)])
    }
    for number, (name, title) in enumerate(copies.items()):
        pages[host, f"/gone/{name}"] = gone
        around = filler(500 + number, 6)
        told = f"The oldest house of {title} has no door, and nobody can say how its owner used to come in."
        kept = [" ".join(around[:3]), f"{around[3]} {told} {around[4]}", around[5]]
        pages[host, f"/web/20150203040506/http://{host}/gone/{name}"] = page("A copy", kept)
    register = ["The register of Ashby Falls names every mill and every miller since the flood.", *filler(3, 5)]
    pages[host, "/ashby/national-register-of-falls"] = page("The register", register)
    return pages


@cache
def _bomb() -> bytes:
    """Few bytes that are many when they are unpacked."""
    return gzip.compress(b" " * BOMB_BYTES, compresslevel=9)
