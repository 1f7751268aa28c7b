"""The columns of our data files, as foreign descriptions of a dataset list them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from shadowprobe.base.model import Entity, EntitySpace, Snippet
from shadowprobe.dataset.dataset import ENTITIES, SPACES

ABOUT = {
    "title": "the Wikipedia title, with spaces",
    "page_id": "the Wikipedia page id",
    "qid": "the Wikidata item",
    "commonness": "how common the entity is, for example its number of backlinks",
    "kind": "person, place, ...",
    "description": "one sentence about the entity",
    "redirects": "other titles of the entity",
    "name": "the ambiguous name",
    "entities": "the titles of the entities with this name, most common first",
    "id": "the id of the snippet",
    "subset": "top, shadow, tail, neutral or all",
    "text": "the text with the mention",
    "start": "where the mention begins, in code points",
    "end": "where the mention ends, exclusive",
    "space": "the ambiguous name of the mention",
    "gold": "the title of the right entity",
    "source": "where the text is from",
    "template": "the number of the neutral sentence",
    "document": "the document that the mention is from",
}


class Column(NamedTuple):
    """A column of a data file."""

    name: str
    dtype: str
    repeated: bool
    about: str


def list_columns(file: Path) -> list[Column]:
    """Lists the columns of a data file by its name."""
    kind: type[Any] = {ENTITIES: Entity, SPACES: EntitySpace}.get(file.name, Snippet)
    return [
        Column(name, "int64" if "int" in str(hint) else "string", "tuple" in str(hint), ABOUT[name])
        for name, hint in get_type_hints(kind).items()
    ]
