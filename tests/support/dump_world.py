"""A wiki of twenty pages with every trap that dumps hold, written by hand."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Literal

from sqlite_dump import Value, table_dump

from shadowprobe.build.records import FoundEntity, FoundSpace

PREFIX = "testwiki-20260101"
PROPERTY, REDIRECT = "disambiguation", True
# Number, namespace, title, whether it is a redirect.
PAGES: list[tuple[int, int, str, bool]] = [
    (1, 0, "Mercury_(disambiguation)", False),
    (2, 0, "Mercury_(planet)", False),
    (3, 0, "Mercury_(element)", False),
    (4, 0, "Mercury_(old)", REDIRECT),
    (5, 0, "Mercury_(older)", REDIRECT),
    (6, 0, "List_of_Mercury_films", False),
    (7, 0, "Mercurytown", False),
    (8, 0, "Venus", False),
    (9, 0, "O'Neill", False),
    (10, 0, "O'Neill_(band)", False),
    (11, 0, "Shaun_O'Neill", False),
    (12, 0, 'Back\\slash_"quoted"', False),
    (13, 0, "Zürich_\U0001f600", False),
    (14, 1, "Mercury_(planet)", REDIRECT),
    (15, 0, "Mercury", False),
    (16, 0, "Elsewhere", REDIRECT),
    (18, 0, "Mercury-Redstone", False),
    (19, 0, "Lone", False),
]
# Page, namespace and title it leads to, other wiki.
REDIRECTS: list[tuple[int, int, str, str | None]] = [
    (4, 0, "Mercury_(planet)", None),
    (5, 0, "Mercury_(old)", ""),
    (14, 0, "Mercury_(planet)", ""),
    (16, 0, "Mercury_(planet)", "de"),
]
LINKS: dict[int, list[str]] = {
    1: [
        "Venus",
        "Mercury_(planet)",
        "Mercury_(element)",
        "Mercury_(old)",
        "Mercury_(film)",
        "List_of_Mercury_films",
        "Mercurytown",
        "O'Neill",
        "Mercury-Redstone",
        "Mercury",
    ],
    2: ["Mercury_(planet)", "Mercury_(old)"],
    3: ["Mercury_(planet)"],
    4: ["Mercury_(planet)"],
    5: ["Mercury_(old)"],
    8: ["Mercury_(planet)", "Mercury_(old)"],
    9: ["Shaun_O'Neill", "O'Neill_(band)"],
    10: ["Elsewhere"],
    12: ["Mercury_(old)"],
    13: ["Mercury_(older)", "Mercury_(element)"],
    14: ["Mercury_(planet)"],
    15: ["Mercury_(planet)", "Mercury_(element)"],
    19: ["Lone_(film)", "Lone_(song)"],
    # A page that was deleted while the dump was made.
    99: ["Mercury_(planet)"],
}
DISAMBIGUATION = (1, 9, 15, 19)

SPACES = [
    # A hyphen comes before an underscore, though not before a space.
    FoundSpace("Mercury", "Mercury (disambiguation)", ("Mercury-Redstone", "Mercury (element)", "Mercury (planet)")),
    FoundSpace("O'Neill", "O'Neill", ("O'Neill (band)", "Shaun O'Neill")),
]
DROPPED = {
    # The second page of the name, and one whose two links are both red.
    "the name of another disambiguation page": 1,
    "fewer than two articles bear the name: no such page": 1,
}
COUNTED = {
    # 1.
    "Mercury-Redstone": FoundEntity("Mercury-Redstone", 18, 1),
    # 1, 13, 15.
    "Mercury (element)": FoundEntity("Mercury (element)", 3, 3, "Q925"),
    # 1, 3, 15 to the planet itself; 8 to it and to its old name; 12 to the old name; the planet's own link is none.
    "Mercury (planet)": FoundEntity("Mercury (planet)", 2, 5, "Q308", ("Mercury (old)",)),
    "O'Neill (band)": FoundEntity("O'Neill (band)", 10, 1),
    "Shaun O'Neill": FoundEntity("Shaun O'Neill", 11, 1),
}

Schema = Literal["old", "new", "both"]
_NAMESPACES = {number: namespace for number, namespace, _, _ in PAGES}


def write(directory: Path, table: str, columns: str, rows: list[tuple[Value, ...]], suffix: str = ".gz") -> Path:
    """Writes the dump of a table; columns that begin with a star hold numbers."""
    kinds = {name.lstrip("*"): "int(8)" if name.startswith("*") else "varbinary(255)" for name in columns.split()}
    content = table_dump(table, kinds, rows)
    path = directory / f"{PREFIX}-{table}.sql{suffix}"
    path.write_bytes(gzip.compress(content) if suffix else content)
    return path


def write_tables(directory: Path, schema: Schema = "new", *, properties: bool = True) -> Path:
    """Writes the whole wiki as the dumps of its tables."""
    directory.mkdir(exist_ok=True)
    write(
        directory,
        "page",
        "*page_id *page_namespace page_title *page_is_redirect page_random page_lang",
        [(number, space, title, int(redirect), 0.5, None) for number, space, title, redirect in PAGES],
    )
    write(
        directory,
        "redirect",
        "*rd_from *rd_namespace rd_title rd_interwiki rd_fragment",
        [(*redirect, None) for redirect in REDIRECTS],
    )
    props: list[tuple[Value, ...]] = [(2, "wikibase_item", "Q308", None), (3, "wikibase_item", "Q925", None)]
    if properties:
        props += [(page, PROPERTY, "", None) for page in DISAMBIGUATION]
    write(directory, "page_props", "*pp_page pp_propname pp_value pp_sortkey", [*props, (2, "defaultsort", "x", 1.5)])
    _write_links(directory, schema)
    return directory


def _write_links(directory: Path, schema: Schema) -> None:
    links = [(page, title) for page, titles in LINKS.items() for title in titles]
    targets = {title: number for number, title in enumerate(dict.fromkeys(title for _, title in links), start=100)}
    # The same titles in another namespace must not be taken for articles.
    others: list[tuple[Value, ...]] = [(number + 500, 4, title) for title, number in targets.items()]
    if schema == "new":
        write(
            directory,
            "linktarget",
            "*lt_id *lt_namespace lt_title",
            [*others, *((number, 0, title) for title, number in targets.items())],
        )
        write(
            directory,
            "pagelinks",
            "*pl_from *pl_from_namespace *pl_target_id",
            [
                *((page, _NAMESPACES.get(page, 0), targets[title]) for page, title in links),
                (7, 0, targets["Mercury_(planet)"] + 500),
            ],
        )
        return
    rows: list[tuple[Value, ...]] = [(page, 0, title, _NAMESPACES.get(page, 0)) for page, title in links]
    rows.append((7, 4, "Mercury_(planet)", 0))
    if schema == "old":
        write(directory, "pagelinks", "*pl_from *pl_namespace pl_title *pl_from_namespace", rows)
    else:
        write(
            directory,
            "pagelinks",
            "*pl_from *pl_namespace pl_title *pl_from_namespace *pl_target_id",
            [(*row, None) for row in rows],
        )
