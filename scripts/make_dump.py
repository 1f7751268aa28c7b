"""Makes a synthetic dump of a wiki, of any size, in the files and the form in which Wikipedia publishes its own."""

from __future__ import annotations

import argparse
import gzip
import random
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, NamedTuple, cast
from urllib.parse import quote
from xml.sax.saxutils import escape

PREFIX = "syntheticwiki-20260101"
# A line of a real dump is about so long.
LINE = 1_000_000
# What a page takes in all files together, at the number of links below.
PAGE_BYTES = 1_290
LINKS = 15
# Pages come in families of a name: a disambiguation page, articles that bear the name, a redirect to the first of
# them, one to that redirect, a list, and articles of other names.
FAMILY = 16
KINDS = ("river", "band", "O'Neill novel", "Zürich", "1990s\\film")
REDIRECT, DOUBLE, LIST = 1 + len(KINDS), 2 + len(KINDS), 3 + len(KINDS)
# Of so many families one links to a page that is not there.
RED = 100
SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "né", "ro", "si", "tu", "vö", "za", "ki", "po", "ra", "ny")
WORDS = ("and", "the", "of", "was", "old", "river", "built", "from", "seen", "there", "water", "north", "house", "year")
STAMP = "2026-01-01T00:00:00Z"
# Running text is taken from a supply of so many characters, at random places.
SUPPLY = 4_000_000
# The hosts of the web pages: 127.77.0.1 and on. An article of a name cites so many pages, any other article one.
HOSTS, CITED = 500, 2

TABLES = {
    "page": {
        "page_id": "int(8) unsigned NOT NULL AUTO_INCREMENT",
        "page_namespace": "int(11) NOT NULL DEFAULT 0",
        "page_title": "varbinary(255) NOT NULL DEFAULT ''",
        "page_is_redirect": "tinyint(1) unsigned NOT NULL DEFAULT 0",
        "page_is_new": "tinyint(1) unsigned NOT NULL DEFAULT 0",
        "page_random": "double unsigned NOT NULL DEFAULT 0",
        "page_touched": "binary(14) NOT NULL",
        "page_links_updated": "varbinary(14) DEFAULT NULL",
        "page_latest": "int(8) unsigned NOT NULL DEFAULT 0",
        "page_len": "int(8) unsigned NOT NULL DEFAULT 0",
        "page_content_model": "varbinary(32) DEFAULT NULL",
        "page_lang": "varbinary(35) DEFAULT NULL",
    },
    "redirect": {
        "rd_from": "int(8) unsigned NOT NULL DEFAULT 0",
        "rd_namespace": "int(11) NOT NULL DEFAULT 0",
        "rd_title": "varbinary(255) NOT NULL DEFAULT ''",
        "rd_interwiki": "varbinary(32) DEFAULT NULL",
        "rd_fragment": "varbinary(255) DEFAULT NULL",
    },
    "page_props": {
        "pp_page": "int(8) unsigned NOT NULL",
        "pp_propname": "varbinary(60) NOT NULL DEFAULT ''",
        "pp_value": "blob NOT NULL",
        "pp_sortkey": "float DEFAULT NULL",
    },
    "linktarget": {
        "lt_id": "bigint(20) unsigned NOT NULL AUTO_INCREMENT",
        "lt_namespace": "int(11) NOT NULL",
        "lt_title": "varbinary(255) NOT NULL",
    },
    "pagelinks": {
        "pl_from": "int(8) unsigned NOT NULL DEFAULT 0",
        "pl_from_namespace": "int(11) NOT NULL DEFAULT 0",
        "pl_target_id": "bigint(20) unsigned NOT NULL",
    },
}
SITE = f"""<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Synthetic</sitename>
    <dbname>{PREFIX.partition("-")[0]}</dbname>
    <case>first-letter</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
      <namespace key="10" case="first-letter">Template</namespace>
      <namespace key="14" case="first-letter">Category</namespace>
    </namespaces>
  </siteinfo>
"""


class Contents(NamedTuple):
    """What articles have: characters of running text, links, and references to pages of a web on loopback."""

    text: int = 0
    links: int = LINKS
    # The port of the web, and how many of its pages the articles of names cite; no article cites any without a port.
    port: int = 0
    pages: int = 0

    @property
    def page_bytes(self) -> int:
        """About what a page takes in all files together."""
        articles = (FAMILY - 3) / FAMILY
        return PAGE_BYTES + round(articles * (self.text + 17 * (self.links - LINKS) + (200 if self.port else 0)))


PLAIN = Contents()


class TableWriter:
    """Writes the dump of a table in lines as long as mysqldump's."""

    def __init__(self, file: IO[bytes], table: str) -> None:
        self._file, self._table = file, table
        self._rows: list[str] = []
        self._length = 0
        columns = "".join(f"  `{name}` {kind},\n" for name, kind in TABLES[table].items())
        first = next(iter(TABLES[table]))
        self._write(
            f"-- MySQL dump 10.19  Distrib 10.5.23-MariaDB\n--\n-- Table structure for table `{table}`\n--\n\n"
            f"DROP TABLE IF EXISTS `{table}`;\nCREATE TABLE `{table}` (\n{columns}  PRIMARY KEY (`{first}`)\n"
            f") ENGINE=InnoDB DEFAULT CHARSET=binary;\n\n/*!40000 ALTER TABLE `{table}` DISABLE KEYS */;\n"
        )

    def add(self, row: str) -> None:
        """Adds a row, already in brackets."""
        self._rows.append(row)
        self._length += len(row) + 1
        if self._length >= LINE:
            self._flush()

    def close(self) -> None:
        """Writes the last rows and the end of the dump."""
        self._flush()
        self._write(f"/*!40000 ALTER TABLE `{self._table}` ENABLE KEYS */;\n\n-- Dump completed on 2026-01-01\n")

    def _flush(self) -> None:
        if self._rows:
            self._write(f"INSERT INTO `{self._table}` VALUES {','.join(self._rows)};\n")
        self._rows, self._length = [], 0

    def _write(self, text: str) -> None:
        self._file.write(text.encode())


def name_of(family: int) -> str:
    """The name of a family: its number in syllables."""
    digits = ""
    while family or len(digits) < 6:
        family, digit = divmod(family, len(SYLLABLES))
        digits += SYLLABLES[digit]
    return digits.capitalize()


def title_of(page: int) -> str:
    """The title of a page, as the tables have it."""
    family, member = divmod(page, FAMILY)
    name = name_of(family)
    if member == 0:
        return f"{name}_(disambiguation)"
    if member <= len(KINDS):
        return f"{name}_({KINDS[member - 1]})".replace(" ", "_")
    return {REDIRECT: f"{name}_old", DOUBLE: f"{name}_older", LIST: f"List_of_{name}"}.get(member, f"{name}{member}")


def redirect_of(page: int) -> int | None:
    """The page to which a redirect leads."""
    return {REDIRECT: page - REDIRECT + 1, DOUBLE: page - 1}.get(page % FAMILY)


def links_of(page: int, count: int, generator: random.Random, average: int = LINKS) -> list[int]:
    """The pages to which a page links: a few get most of the links, as in a real wiki."""
    target = redirect_of(page)
    if target is not None:
        return [target]
    if page % FAMILY == 0:
        # Above the last page there is none.
        red = [count + page] if page // FAMILY % RED == 0 else []
        return [page + member for member in range(1, LIST + 1)] + red
    return sorted({int(count * generator.random() ** 3) for _ in range(generator.randrange(2 * average))} - {page})


def cited_by(page: int, contents: Contents) -> list[str]:
    """The addresses of the web pages that an article cites."""
    family, member = divmod(page, FAMILY)
    of_name = 0 < member <= len(KINDS)
    if not contents.port or (not of_name and member <= LIST):
        return []
    if of_name and (family * len(KINDS) + member - 1) * CITED >= contents.pages:
        return []
    name = quote(title_of(page), safe="")
    hosts = [(page * CITED + number) % HOSTS + 1 for number in range(CITED if of_name else 1)]
    return [
        f"http://127.77.{host // 250}.{host % 250 + 1}:{contents.port}/page/{name}/{number}"
        for number, host in enumerate(hosts)
    ]


def quoted(text: str) -> str:
    """A text as a literal of MySQL."""
    return "'" + re.sub(r"(['\"\\])", r"\\\1", text) + "'"


def page_text(page: int, links: Sequence[int], generator: random.Random) -> str:
    """The wikitext of a page."""
    target = redirect_of(page)
    if target is not None:
        return f"#REDIRECT [[{title_of(target)}]]"
    names = [title_of(link).replace("_", " ") for link in links]
    if page % FAMILY == 0:
        return "\n".join(f"* [[{name}]]" for name in names) + "\n__DISAMBIG__"
    return " ".join(f"{' '.join(generator.choices(WORDS, k=6))} [[{name}|{generator.choice(WORDS)}]]" for name in names)


def running_text(page: int, links: Sequence[int], contents: Contents, supply: str, generator: random.Random) -> str:
    """The wikitext of a long article: running text, a few of its links, and its references."""
    start = generator.randrange(SUPPLY - 2 * contents.text)
    text = supply[start : start + generator.randrange(2 * contents.text)]
    shown = " ".join(f"[[{title_of(link).replace('_', ' ')}]]" for link in links[:LINKS])
    notes = "".join(f"<ref>{{{{cite web|url={url}|title=A page}}}}</ref>" for url in cited_by(page, contents))
    return f"{text} {shown}{notes}\n== References ==\n{{{{reflist}}}}"


def make_supply(generator: random.Random) -> str:
    """Running text with templates and links."""
    words = [*WORDS, *(name_of(number).lower() for number in range(2_000)), "{{convert|5|km}}", "[[Bababa|house]]"]
    text = " ".join(generator.choices(words, k=SUPPLY // 6))
    return text[:SUPPLY]


def write_dump(
    directory: Path, size: int, *, seed: int = 7, packed: bool = False, contents: Contents = PLAIN, files: int = 1
) -> int:
    """Writes all files, of about this many bytes together before they are packed, and says how many pages there are.

    The texts are divided into several files, as those of a large wiki are.
    """
    directory.mkdir(parents=True, exist_ok=True)
    generator = random.Random(seed)
    count = max(1, size // contents.page_bytes // FAMILY) * FAMILY
    supply = make_supply(generator) if contents.text else ""
    part = -(-count // files)
    with ExitStack() as stack:

        def new(name: str) -> IO[bytes]:
            path = directory / f"{PREFIX}-{name}{'.gz' if packed else ''}"
            file = stack.enter_context(path.open("wb"))
            # Without name and time, so that the same seed gives the same bytes.
            return cast(IO[bytes], stack.enter_context(gzip.GzipFile("", "wb", 1, file, 0))) if packed else file

        tables = {table: TableWriter(new(f"{table}.sql"), table) for table in TABLES}
        for number, first in enumerate(range(0, count, part), start=1):
            pages = range(first, min(first + part, count))
            name = "pages-articles.xml"
            if files > 1:
                name = f"pages-articles{number}.xml-p{first + 1}p{pages[-1] + 1}"
            articles = new(name)
            articles.write(SITE.encode())
            for page in pages:
                links = links_of(page, count, generator, contents.links)
                is_long = supply and redirect_of(page) is None and page % FAMILY
                text = (
                    running_text(page, links, contents, supply, generator)
                    if is_long
                    else page_text(page, links, generator)
                )
                _write_page(page, count, links, text, generator, tables, articles)
            articles.write(b"</mediawiki>\n")
        for table in tables.values():
            table.close()
    return count


def _write_page(
    page: int,
    count: int,
    links: Sequence[int],
    text: str,
    generator: random.Random,
    tables: dict[str, TableWriter],
    articles: IO[bytes],
) -> None:
    target, title, number = redirect_of(page), title_of(page), page + 1
    redirect = 0 if target is None else 1
    tables["page"].add(
        f"({number},0,{quoted(title)},{redirect},0,{generator.random():.12f},'20260101000000','20260101000000',"
        f"{number + 1000},{len(text)},'wikitext',NULL)"
    )
    tables["linktarget"].add(f"({number},0,{quoted(title)})")
    for link in links:
        tables["pagelinks"].add(f"({number},0,{link + 1})")
        if link >= count:
            tables["linktarget"].add(f"({link + 1},0,{quoted(title_of(link))})")
    if target is not None:
        tables["redirect"].add(f"({number},0,{quoted(title_of(target))},'','')")
    elif page % FAMILY == 0:
        tables["page_props"].add(f"({number},'disambiguation','',NULL)")
    else:
        tables["page_props"].add(f"({number},'wikibase_item','Q{number}',NULL)")
    shown = "" if target is None else f'    <redirect title="{_attribute(title_of(target))}" />\n'
    articles.write(
        f"  <page>\n    <title>{escape(title.replace('_', ' '))}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n"
        f"{shown}"
        f"    <revision>\n      <id>{number + 1000}</id>\n      <timestamp>{STAMP}</timestamp>\n"
        f"      <model>wikitext</model>\n      <format>text/x-wiki</format>\n"
        f'      <text bytes="{len(text.encode())}" xml:space="preserve">{escape(text)}</text>\n    </revision>\n'
        f"  </page>\n".encode()
    )


def _attribute(title: str) -> str:
    return escape(title.replace("_", " "), {'"': "&quot;"})


def bytes_of(text: str) -> int:
    """A number of bytes such as 1GB or 64MB."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)B?", text.strip().upper())
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is no size such as 64MB or 1GB")
    return int(float(match[1]) * {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}[match[2]])


def main() -> None:
    """Writes the dump and says what it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--size", type=bytes_of, default="64MB", help="of all files together, unpacked: 64MB, 1GB")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--gzip", action="store_true", help="pack the files")
    parser.add_argument("--text", type=int, default=0, help="characters of running text of an article, on average")
    parser.add_argument("--links", type=int, default=LINKS, help="links of an article, on average")
    parser.add_argument("--port", type=int, default=0, help="of a web on loopback, whose pages the articles cite")
    parser.add_argument("--pages", type=int, default=0, help="of that web, which the articles of names cite")
    parser.add_argument("--files", type=int, default=1, help="into which the texts are divided")
    given = parser.parse_args()
    contents = Contents(given.text, given.links, given.port, given.pages)
    pages = write_dump(
        given.directory, given.size, seed=given.seed, packed=given.gzip, contents=contents, files=given.files
    )
    total = sum(path.stat().st_size for path in given.directory.glob(f"{PREFIX}-*"))
    print(f"{pages:,} pages, {total:,} bytes in {given.directory}")


if __name__ == "__main__":
    main()
