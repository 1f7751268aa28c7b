"""A foreign dataset on its way in: its parts, and a record of all that was not taken as it stood."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field, to_builtins
from msgspec.structs import replace

from shadowprobe.dataset import GOLD_SUBSETS, Card, Dataset, write_dataset
from shadowprobe.formats.spans import Action
from shadowprobe.identity import normalise_title
from shadowprobe.model import Entity, EntitySpace, Snippet, Subset

# What a reader asks of names and page ids, so that a bad one is refused by file and field.
Name = Annotated[str, Meta(min_length=1)]
# No page id has more digits, and one that had could not be read back from a URI or a column of text.
MAX_PAGE_ID = 10**18 - 1
PageId = Annotated[int, Meta(ge=1, le=MAX_PAGE_ID)]
# The language editions of Wikipedia; DBpedia has hosts of the same kind, as live.dbpedia.org, that are none.
LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]+)*|simple")


class Remark(Struct, frozen=True, omit_defaults=True):
    """One thing that was repaired, dropped, or kept although it looks wrong."""

    action: Action
    why: str
    where: str
    detail: str = ""


class Entities:
    """Collects entities by page id, QID and title, so that a page that comes under two titles is one entity."""

    def __init__(self, remarks: list[Remark]) -> None:
        self._by_title: dict[str, Entity] = {}
        self._by_page_id: dict[int, str] = {}
        self._by_qid: dict[str, str] = {}
        self._remarks = remarks

    def add(self, raw_title: str, page_id: int | None, where: str, qid: str | None = None) -> str:
        """The title under which the entity stands in the dataset."""
        title = normalise_title(raw_title)
        known = self._by_page_id.get(page_id) if page_id is not None else None
        if known is None and qid is not None:
            known = self._by_qid.get(qid)
        if known is not None:
            self._name_again(known, title, f"{page_id or qid}", where)
        elif title in self._by_title:
            known = self._same_title(title, page_id, qid, where)
        else:
            known = title
        self._complete(known, page_id, qid)
        return known

    def _name_again(self, known: str, title: str, key: str, where: str) -> None:
        entity = self._by_title[known]
        if title not in {known, key, *entity.redirects} and title not in self._by_title:
            self._by_title[known] = replace(entity, redirects=(*entity.redirects, title))
            self._remark("two titles of one page made one entity", where, f"{title!r} is {known!r} ({key})")

    def _same_title(self, title: str, page_id: int | None, qid: str | None, where: str) -> str:
        """The entity of a title that stands here already, unless its QID says that it is another."""
        entity = self._by_title[title]
        if qid is not None and entity.qid is not None and entity.qid != qid:
            self._remark("two QIDs of one title kept apart", where, f"{title!r}: {entity.qid}, {qid}")
            return f"{title} ({qid})"
        if page_id is not None and entity.page_id is not None and entity.page_id != page_id:
            self._remark("two page ids of one title made one entity", where, f"{title!r}: {entity.page_id}, {page_id}")
        return title

    def _complete(self, title: str, page_id: int | None, qid: str | None) -> None:
        """Adds what was not known of an entity, or the entity."""
        entity = self._by_title.get(title) or Entity(title)
        if entity.page_id is None and page_id is not None and page_id not in self._by_page_id:
            entity = replace(entity, page_id=page_id)
            self._by_page_id[page_id] = title
        if entity.qid is None and qid is not None and qid not in self._by_qid:
            entity = replace(entity, qid=qid)
            self._by_qid[qid] = title
        self._by_title[title] = entity

    def __iter__(self) -> Any:
        return iter(self._by_title.values())

    def _remark(self, why: str, where: str, detail: str) -> None:
        self._remarks.append(Remark("repaired", why, where, detail))


class Imported(Struct):
    """The parts of a dataset as a reader found them."""

    card: Card
    entities: list[Entity] = field(default_factory=list)
    spaces: list[EntitySpace] = field(default_factory=list)
    snippets: dict[Subset, list[Snippet]] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    # How many mentions have an entity whose URI names a language edition, for each.
    languages: Counter[str] = field(default_factory=Counter)

    def settle_language(self, given: str | None = None) -> None:
        """Takes the language that a user gives, or else the one that all URIs agree on; English if they do not."""
        if given is not None:
            self.card.language = given
        elif len(self.languages) == 1:
            self.card.language = next(iter(self.languages))
        elif self.languages:
            detail = ", ".join(f"{language}: {count}" for language, count in self.languages.most_common())
            why = "entities of several languages, taken for English; --language says which"
            self.remarks.append(Remark("kept", why, self.card.name, detail))

    def tally(self) -> dict[Action, dict[str, int]]:
        """How often each thing was repaired, dropped or kept."""
        counts = Counter((remark.action, remark.why) for remark in self.remarks)
        tally: dict[Action, dict[str, int]] = {}
        for (action, why), count in counts.items():
            tally.setdefault(action, {})[why] = count
        return tally

    def remark_contradictions(self) -> None:
        """Lists texts that stand in two places with two gold entities for the same mention: one must be wrong."""
        seen: dict[tuple[str, int, int], Snippet] = {}
        for subset in GOLD_SUBSETS:
            for snippet in self.snippets.get(subset, ()):
                other = seen.setdefault((snippet.text, snippet.start, snippet.end), snippet)
                if other.gold != snippet.gold:
                    why = "the same text and mention with another gold entity"
                    self.remarks.append(Remark("kept", why, snippet.id, f"{other.id}: {other.gold!r}"))

    def write(self, path: Path, *, force: bool = False) -> Dataset:
        """Writes the dataset; its card lists every remark."""
        self.card.repairs = {"counts": self.tally(), "items": to_builtins(self.remarks)}
        return write_dataset(path, self.card, self.entities, self.spaces, self.snippets, force=force)
