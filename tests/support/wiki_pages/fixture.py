"""The world put together: articles, web pages, and what is to be found in them."""

from __future__ import annotations

from typing import NamedTuple

from wiki_pages.material import Row, alone, sentences, spaces, table
from wiki_pages.web import Served, Traps, archived_copies, ordinary_pages, technical_traps, written_traps

CATEGORY = "Disambiguation pages"
SUFFIX = " (disambiguation)"
MADE = ("2008-03-04T05:06:07Z", "2011-06-07T08:09:10Z")
CHRONICLES = [f"Ostland in {year}" for year in range(1951, 1971)]
# One that robots.txt closes, one with a delay, and at least two that are open.
FEWEST_HOSTS = 4


class Article(NamedTuple):
    """A page of the wiki: its title, its wikitext and the moments of its revisions."""

    title: str
    text: str
    dates: tuple[str, ...] = MADE


class Expected(NamedTuple):
    """What the first stages are to find, as the data say it."""

    # The disambiguation page and the titles of each name, without and with the limit of 2016-12-31.
    spaces: dict[str, tuple[str, tuple[str, ...]]]
    old_spaces: dict[str, tuple[str, tuple[str, ...]]]
    # Why a disambiguation page is no space.
    no_spaces: dict[str, str]
    commonness: dict[str, int]
    # The pages that the references of an article name, each with its archived copy.
    references: dict[str, list[tuple[str, str | None]]]


class Fixture(NamedTuple):
    """The articles of the wiki, the pages of the web by host and path, and what is to be found."""

    articles: list[Article]
    pages: dict[tuple[str, str], Served]
    # The host and path of each trap on the web, by its name, and the entity that refers to it.
    traps: Traps
    expected: Expected


def build_fixture(hosts: list[str], wiki: str = "127.0.0.1:80") -> Fixture:
    """The world with its web pages on these hosts (`127.0.0.2:8080`), the first closed and the second slow."""
    if len(hosts) < FEWEST_HOSTS:
        raise ValueError(f"the fixture needs {FEWEST_HOSTS} hosts, not {len(hosts)}")
    open_hosts, known = hosts[2:], _rows()
    pages, cited = ordinary_pages(list(known), open_hosts, table("traps")["without"]["references"])
    written, traps = written_traps(open_hosts)
    technical, more_traps = technical_traps(hosts)
    traps |= more_traps
    for entity, (host, path) in traps.values():
        cited.setdefault(entity, []).append(f"http://{host}{path}")
    for name, entry in table("traps")["web"].items():
        if "also" in entry:
            host, path = traps[name][1]
            cited[entry["also"]].append(f"http://{host}{path}")
    host = open_hosts[0]
    pages |= {**written, **technical, **archived_copies(host)}
    articles = [*_entities(known, cited, host, wiki), *_others(), *_disambiguation()]
    return Fixture(articles, pages, traps, _expected(known, cited, host))


def _rows() -> dict[Row, int]:
    """The entities with their numbers."""
    found = [row for rows in spaces().values() for row in rows] + alone()
    return {row: number for number, row in enumerate(found)}


def _entities(known: dict[Row, int], cited: dict[str, list[str]], host: str, wiki: str) -> list[Article]:
    traps = table("traps")
    found = []
    for row, number in known.items():
        notes = [f"[{url} {row.title} revisited], ''The Kaldport Courier''" for url in cited.get(row.title, ())]
        # Not by `format`: a title or a URL may hold braces.
        notes += [note.replace("{host}", host).replace("{wiki}", wiki) for note in _more_notes(row)]
        body = traps["bodies"].get(row.title, "").replace("{host}", host)
        refs = "".join(f"<ref>{note}.</ref>" for note in notes)
        text = " ".join([*sentences(row, number, "intro"), body]).strip() + refs
        section = "\n\n== References ==\n<references />" if notes else ""
        found.append(Article(row.title, text + section, tuple(traps["dates"].get(row.title, MADE))))
    return found


def _more_notes(row: Row) -> list[str]:
    notes: list[str] = table("traps")["references"].get(row.title, [])
    return notes


def _others() -> list[Article]:
    """The chronicles, which link to entities, and the articles and redirects that are there to mislead."""
    traps, linked = table("traps"), _rows()
    found = []
    for number, title in enumerate(CHRONICLES):
        links = ", ".join(f"[[{row.title}]]" for row in linked if row.chronicles > number)
        found.append(Article(title, f"In that year people in Ostland spoke of many things: {links}."))
    found += [Article(title, text) for title, text in traps["articles"].items()]
    return found + [Article(title, f"#REDIRECT [[{target}]]") for title, target in traps["redirects"].items()]


def _page_of(name: str) -> str:
    return name if name in table("traps")["plain_titles"] else name + SUFFIX


def _disambiguation() -> list[Article]:
    traps = table("traps")
    links = {_page_of(name): [row.title for row in rows] for name, rows in spaces().items()}
    for page, more in traps["more_links"].items():
        links[page] = links[page] + more
    links |= {page: entry["links"] for page, entry in traps["no_spaces"].items()}
    return [Article(page, _listed(page, titles)) for page, titles in links.items()]


def _listed(page: str, titles: list[str]) -> str:
    lines = "\n".join(f"* [[{title}]]" for title in titles)
    return f"'''{page.removesuffix(SUFFIX)}''' may refer to:\n{lines}\n\n[[Category:{CATEGORY}]]"


def _expected(known: dict[Row, int], cited: dict[str, list[str]], host: str) -> Expected:
    traps = table("traps")
    found = {name: (_page_of(name), tuple(row.title for row in rows)) for name, rows in spaces().items()}
    # Worked out from the dates in traps.toml: of Pell one is left, which is no space, and of Orrin two.
    old = {name: entry for name, entry in found.items() if name != "Pell"}
    old["Orrin"] = (old["Orrin"][0], ("Mount Orrin", "Orrin Falls"))
    references: dict[str, list[tuple[str, str | None]]] = {
        row.title: [(url, None) for url in cited.get(row.title, ())] for row in known
    }
    copy = f"http://{host}/web/20150203040506/http://{host}/gone"
    references["Ashby Falls"].append((f"http://{host}/ashby/national-register-of-falls", None))
    references["Halden Falls"].append((f"http://{host}/gone/halden", f"{copy}/halden"))
    references["Mount Halden"].append((f"http://{host}/gone/mount", f"{copy}/mount"))
    return Expected(
        spaces=found,
        old_spaces=old,
        no_spaces={page: entry["why"] for page, entry in traps["no_spaces"].items()},
        commonness={row.title: row.commonness for row in known},
        references=references,
    )
