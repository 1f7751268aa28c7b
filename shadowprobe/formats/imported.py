"""A foreign dataset during its import: its parts, and a list of everything that was changed or dropped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, field, to_builtins
from msgspec.structs import replace

from shadowprobe.base.identity import normalise_title
from shadowprobe.base.model import Entity, EntitySpace, Snippet, Subset
from shadowprobe.base.spans import WHITE_SPACE, Action
from shadowprobe.dataset.dataset import GOLD_SUBSETS, Card, Dataset, write_dataset
from shadowprobe.errors import UsageError

# Names and page ids are checked by their types, so that an error names the file and the field.
Name = Annotated[str, Meta(min_length=1)]
# No page id has more digits. A longer one could not be read from a URI or a column of text.
MAX_PAGE_ID = 10**18 - 1
PageId = Annotated[int, Meta(ge=1, le=MAX_PAGE_ID)]
# The language editions of Wikipedia. Some hosts of DBpedia, such as live.dbpedia.org, have no language.
LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]+)*|simple")
# The original span in a remark about a trimmed one.
_SPAN = re.compile(r"\[([0-9]{1,18}), ([0-9]{1,18})\]")


def list_files(format_name: str, paths: Sequence[Path], suffix: str) -> list[Path]:
    """Lists the given files and the files in given directories; refuses two of one name, which would share ids."""
    files = [file for path in paths for file in (sorted(path.glob(f"*{suffix}")) if path.is_dir() else [path])]
    if not files:
        raise UsageError(f"{paths[0]} holds no *{suffix}: {format_name} takes such files, or a directory of them")
    stems = [file.stem for file in files]
    if twice := next((stem for stem in stems if stems.count(stem) > 1), None):
        raise UsageError(f"two files are called {twice}: give each file once, with a different name")
    return files


class Remark(Struct, frozen=True, omit_defaults=True):
    """One item that was repaired, dropped, or kept although it looks wrong."""

    action: Action
    why: str
    where: str
    detail: str = ""


class Entities:
    """Collects entities by page id, QID and title, so that a page with two titles is one entity."""

    def __init__(self, remarks: list[Remark]) -> None:
        self._by_title: dict[str, Entity] = {}
        self._by_page_id: dict[int, str] = {}
        self._by_qid: dict[str, str] = {}
        # The further gold titles of mentions with several: the entity, the other title, and the mention.
        self._second_golds: list[tuple[str, str, str]] = []
        self._remarks = remarks

    def add(self, raw_title: str, page_id: int | None, where: str, qid: str | None = None) -> str:
        """Adds an entity and returns its title in the dataset."""
        title = normalise_title(raw_title)
        known = self._by_page_id.get(page_id) if page_id is not None else None
        if known is None and qid is not None:
            known = self._by_qid.get(qid)
        if known is not None:
            self._add_other_title(known, title, f"{page_id or qid}", where)
        elif title in self._by_title:
            known = self._resolve_title(title, page_id, qid, where)
        else:
            known = title
        self._complete(known, page_id, qid)
        return known

    def add_title(self, known: str, raw_title: str, where: str) -> None:
        """Adds another title of an entity, from a second URI of the same mention."""
        title = normalise_title(raw_title)
        self._add_other_title(known, title, "a second URI", where)
        self._second_golds.append((known, title, where))

    def remark_second_golds(self) -> None:
        """Adds a remark for each second title of a mention that turned out to be another entity of the dataset."""
        for known, title, where in self._second_golds:
            if title != known and title in self._by_title:
                why = "a second gold entity of a mention, which the dataset has apart: only the first is right"
                self._remarks.append(Remark("kept", why, where, f"{title!r} besides {known!r}"))

    def _add_other_title(self, known: str, title: str, key: str, where: str) -> None:
        entity = self._by_title[known]
        if title not in {known, key, *entity.redirects} and title not in self._by_title:
            self._by_title[known] = replace(entity, redirects=(*entity.redirects, title))
            self._remark("two titles of one page made one entity", where, f"{title!r} is {known!r} ({key})")

    def _resolve_title(self, title: str, page_id: int | None, qid: str | None, where: str) -> str:
        """Returns the title of a known entity, or a new title if the QID is that of another entity."""
        entity = self._by_title[title]
        if qid is not None and entity.qid is not None and entity.qid != qid:
            self._remark("two QIDs of one title kept apart", where, f"{title!r}: {entity.qid}, {qid}")
            return f"{title} ({qid})"
        if page_id is not None and entity.page_id is not None and entity.page_id != page_id:
            self._remark("two page ids of one title made one entity", where, f"{title!r}: {entity.page_id}, {page_id}")
        return title

    def _complete(self, title: str, page_id: int | None, qid: str | None) -> None:
        """Adds the entity, or the keys of it that were not known."""
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


def read_remarks(card: Card) -> list[Remark]:
    """Returns the remarks of an earlier import; none if another program lists repairs in another form."""
    try:
        return convert(card.repairs.get("items", []), list[Remark])
    except ValidationError:
        return []


def find_trimmed_spans(card: Card) -> dict[str, tuple[int, int]]:
    """Returns the spans of the foreign dataset that the import trimmed, by snippet id."""
    remarks = (remark for remark in read_remarks(card) if remark.why == WHITE_SPACE)
    spans = ((remark.where, _SPAN.fullmatch(remark.detail)) for remark in remarks)
    return {where: (int(span[1]), int(span[2])) for where, span in spans if span is not None}


class Imported(Struct):
    """The parts of a dataset that was read from foreign files."""

    card: Card
    entities: list[Entity] = field(default_factory=list)
    spaces: list[EntitySpace] = field(default_factory=list)
    snippets: dict[Subset, list[Snippet]] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    # For each language edition, the number of mentions whose entity URI names it.
    languages: Counter[str] = field(default_factory=Counter)

    def settle_language(self, given: str | None = None) -> None:
        """Sets the language that the user gives, else the one on which all URIs agree, else English."""
        if given is not None:
            self.card.language = given
        elif len(self.languages) == 1:
            self.card.language = next(iter(self.languages))
        elif self.languages:
            detail = ", ".join(f"{language}: {count}" for language, count in self.languages.most_common())
            why = "entities of several languages, taken for English; --language says which"
            self.remarks.append(Remark("kept", why, self.card.name, detail))

    def count_remarks(self) -> dict[Action, dict[str, int]]:
        """Counts the remarks by action and reason."""
        by_action: dict[Action, dict[str, int]] = {}
        for (action, why), count in Counter((remark.action, remark.why) for remark in self.remarks).items():
            by_action.setdefault(action, {})[why] = count
        return by_action

    def remark_contradictions(self) -> None:
        """Adds a remark for each text and mention that occurs with two gold entities: one must be wrong."""
        seen: dict[tuple[str, int, int], Snippet] = {}
        for subset in GOLD_SUBSETS:
            for snippet in self.snippets.get(subset, ()):
                other = seen.setdefault((snippet.text, snippet.start, snippet.end), snippet)
                if other.gold != snippet.gold:
                    why = "the same text and mention with another gold entity"
                    self.remarks.append(Remark("kept", why, snippet.id, f"{other.id}: {other.gold!r}"))

    def write(self, path: Path, *, force: bool = False) -> Dataset:
        """Writes the dataset; its card lists every remark."""
        self.card.repairs = {"counts": self.count_remarks(), "items": to_builtins(self.remarks)}
        return write_dataset(path, self.card, self.entities, self.spaces, self.snippets, force=force)
