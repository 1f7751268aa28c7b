"""A foreign dataset on its way in: its parts, and a record of all that was not taken as it stood."""

from __future__ import annotations

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
PageId = Annotated[int, Meta(ge=1)]


class Remark(Struct, frozen=True, omit_defaults=True):
    """One thing that was repaired, dropped, or kept although it looks wrong."""

    action: Action
    why: str
    where: str
    detail: str = ""


class Entities:
    """Collects entities by page id and title, so that a page that comes under two titles is one entity."""

    def __init__(self, remarks: list[Remark]) -> None:
        self._by_title: dict[str, Entity] = {}
        self._by_page_id: dict[int, str] = {}
        self._remarks = remarks

    def add(self, raw_title: str, page_id: int | None, where: str) -> str:
        """The title under which the entity stands in the dataset."""
        title = normalise_title(raw_title)
        if page_id is not None and page_id in self._by_page_id:
            known = self._by_page_id[page_id]
            entity = self._by_title[known]
            if title != known and title not in entity.redirects:
                self._by_title[known] = replace(entity, redirects=(*entity.redirects, title))
                self._remark("two titles of one page made one entity", where, f"{title!r} is {known!r} ({page_id})")
            return known
        if title in self._by_title:
            other = self._by_title[title].page_id
            if page_id is not None and other != page_id:
                self._remark("two page ids of one title made one entity", where, f"{title!r}: {other}, {page_id}")
            return title
        self._by_title[title] = Entity(title=title, page_id=page_id)
        if page_id is not None:
            self._by_page_id[page_id] = title
        return title

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
