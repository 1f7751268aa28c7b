"""A dataset directory: read, check, write, digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, get_args

from msgspec import Struct, field

from shadowprobe.base.files import PartialFile, make_directory, write_atomically
from shadowprobe.base.identity import normalise_title
from shadowprobe.base.jsonl import encode_json, encode_lines, read_json, read_lines
from shadowprobe.base.model import QID, Entity, EntitySpace, Snippet, Subset
from shadowprobe.dataset.index import NONE, SnippetIndex
from shadowprobe.dataset.knowledge import Knowledge
from shadowprobe.errors import InputError, ShadowprobeError, UsageError

SCHEMA = 1
SUBSETS: tuple[Subset, ...] = get_args(Subset)
GOLD_SUBSETS: tuple[Subset, ...] = ("top", "shadow", "tail", "all")
CARD, ENTITIES, SPACES = "dataset.json", "entities.jsonl", "spaces.jsonl"

T = TypeVar("T")
LinesOf = Callable[[Subset], Iterable[tuple[int, Snippet]]]


class Card(Struct, omit_defaults=True):
    """What `dataset.json` says of a dataset; fields that we do not know are left alone."""

    name: str
    schema: int = SCHEMA
    version: str = "1"
    language: str = "en"
    title: str = ""
    source: str = ""
    license: str = ""
    made: str = ""
    about: str = ""
    # What the commonness of its entities counts, such as "population".
    commonness: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    repairs: dict[str, Any] = field(default_factory=dict)
    # How a dataset was built: settings, versions, what was dropped on the way, and the statistics of the result.
    build: dict[str, Any] = field(default_factory=dict)


class Dataset:
    """Entities and spaces in memory, an index of the snippets, and their texts on disk."""

    def __init__(
        self,
        path: Path,
        card: Card,
        entities: Mapping[str, Entity],
        spaces: Mapping[str, EntitySpace],
        digest: str,
        index: SnippetIndex,
        limit: int | None = None,
    ) -> None:
        self.path, self.card = path, card
        self.entities, self.spaces = dict(entities), dict(spaces)
        self.digest, self.index, self.limit = digest, index, limit

    @classmethod
    def read(cls, path: Path | str) -> Dataset:
        """Reads a dataset directory and checks every line of it, so that nothing can fail at minute 50."""
        path = Path(path)
        card = _read_card(path)
        # Filled while the files are read, so that each is opened once.
        hashes: dict[str, Any] = {}

        def lines_of(name: str, kind: type[T]) -> Iterator[tuple[int, T]]:
            hashes[name] = hashlib.sha256()
            return read_lines(path / name, kind, digest=hashes[name])

        def snippets_of(subset: Subset) -> Iterable[tuple[int, Snippet]]:
            name = f"{subset}.jsonl"
            return lines_of(name, Snippet) if (path / name).exists() else ()

        entities = _read_entities(path / ENTITIES, lines_of(ENTITIES, Entity))
        space_lines = lines_of(SPACES, EntitySpace) if (path / SPACES).exists() else ()
        spaces = _read_spaces(path / SPACES, space_lines, entities)
        index = _index_snippets(path, snippets_of, entities, spaces)
        digests = {name: content.hexdigest() for name, content in hashes.items()}
        return cls(path, card, entities, spaces, _combine_digests(path, card, digests), index)

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self.card.name

    @cached_property
    def subsets(self) -> tuple[Subset, ...]:
        """The subsets that the dataset has."""
        return tuple(subset for subset in SUBSETS if self.count(subset))

    @cached_property
    def knowledge(self) -> Knowledge:
        """What a linker may see of the dataset."""
        return Knowledge(self.entities, self.spaces.values(), self.card.language)

    def first(self, limit: int) -> Dataset:
        """The same dataset, cut to the first spaces and as many tail entities; candidates stay complete."""
        index = self.index.first(limit)
        return Dataset(self.path, self.card, self.entities, self.spaces, self.digest, index, limit)

    def snippets(self, *subsets: Subset) -> Iterator[Snippet]:
        """The snippets of the named subsets, or of all, in the order of the files."""
        for subset in subsets or self.subsets:
            path = self.path / f"{subset}.jsonl"
            for _, snippet in read_lines(path, Snippet, is_known=True) if path.exists() else ():
                if self.limit is None or snippet.id in self.index.rows:
                    yield snippet

    def count(self, *subsets: Subset) -> int:
        """How many snippets the named subsets have, or all."""
        return sum(self.index.subsets.count(SUBSETS.index(subset)) for subset in subsets or SUBSETS)


def write_dataset(
    path: Path,
    card: Card,
    entities: Iterable[Entity],
    spaces: Iterable[EntitySpace],
    snippets: Mapping[Subset, Iterable[Snippet]],
    *,
    force: bool = False,
) -> Dataset:
    """Writes a dataset directory, card last, and reads it back; refuses to write over one without `force`.

    All that reading would refuse is refused before an earlier file is touched. Snippets are written as they come.
    """
    files = (CARD, ENTITIES, SPACES, *(f"{subset}.jsonl" for subset in SUBSETS))
    held = [name for name in files if (path / name).exists()]
    if held and not force:
        what = "a dataset" if CARD in held else held[0]
        raise UsageError(f"{path} holds {what} already; --force writes over it")
    _check_card(path / CARD, card)
    is_new = not path.exists()
    make_directory(path)
    try:
        with ExitStack() as stack:
            written = _write_checked(path, stack, entities, spaces, snippets)
            # The card goes first and comes last: without one, half a dataset is none.
            for stale in (name for name in held if name not in written):
                (path / stale).unlink()
            for part in written.values():
                part.file.publish()
    except ShadowprobeError:
        if is_new and not any(path.iterdir()):
            path.rmdir()
        raise
    card.counts = {name.removesuffix(".jsonl"): part.lines for name, part in written.items()}
    card.files = {name: part.digest.hexdigest() for name, part in written.items()}
    write_atomically(path / CARD, encode_json(card))
    return Dataset.read(path)


class _WrittenLines:
    """A file of records that is not complete yet, and what the card says of it."""

    def __init__(self, file: PartialFile) -> None:
        self.file, self.lines, self.digest = file, 0, hashlib.sha256()

    def copy(self, records: Iterable[T]) -> Iterator[tuple[int, T]]:
        """Writes records; yields each with the number of its line."""
        for record in records:
            line = encode_lines([record])
            self.file.write(line)
            self.digest.update(line)
            self.lines += 1
            yield self.lines, record


def _write_checked(
    path: Path,
    stack: ExitStack,
    entities: Iterable[Entity],
    spaces: Iterable[EntitySpace],
    snippets: Mapping[Subset, Iterable[Snippet]],
) -> dict[str, _WrittenLines]:
    """Writes all records to files without a name yet; refuses what `Dataset.read` would refuse."""
    written: dict[str, _WrittenLines] = {}

    def copy(name: str, records: Iterable[T]) -> Iterator[tuple[int, T]]:
        written[name] = _WrittenLines(stack.enter_context(PartialFile(path / name)))
        return written[name].copy(records)

    known = _read_entities(path / ENTITIES, copy(ENTITIES, entities))
    named = _read_spaces(path / SPACES, copy(SPACES, spaces), known)
    _index_snippets(path, lambda subset: copy(f"{subset}.jsonl", snippets.get(subset, ())), known, named)
    names = [f"{subset}.jsonl" for subset in snippets]
    return {name: written[name] for name in (ENTITIES, SPACES, *(name for name in names if written[name].lines))}


def _read_card(path: Path) -> Card:
    if not path.is_dir():
        raise InputError(path, "is not a dataset directory" if path.exists() else "no such dataset directory")
    card = read_json(path / CARD, Card)
    _check_card(path / CARD, card)
    return card


def _check_card(path: Path, card: Card) -> None:
    if card.schema != SCHEMA:
        raise InputError(path, f"is {card.schema}, and this shadowprobe reads {SCHEMA}: update it", field="schema")
    if not card.name.strip():
        raise InputError(path, "is empty", field="name")
    for name in card.files:
        if Path(name).name != name:
            raise InputError(path, f"{name!r} is not a plain file name", field="files")


def _read_entities(path: Path, lines: Iterable[tuple[int, Entity]]) -> dict[str, Entity]:
    """The entities by title; an invalid line is refused."""
    entities: dict[str, Entity] = {}
    page_ids: dict[int, str] = {}
    qids: dict[str, str] = {}
    for line, entity in lines:

        def fault(name: str, problem: str, line: int = line) -> InputError:
            return InputError(path, problem, line=line, field=name)

        normal = normalise_title(entity.title)
        if not normal:
            raise fault("title", f"{entity.title!r} is no title")
        if entity.title != normal:
            raise fault("title", f"{entity.title!r} should be written {normal!r}")
        if entity.title in entities:
            raise fault("title", f"{entity.title!r} stands twice")
        if entity.page_id is not None:
            if entity.page_id <= 0:
                raise fault("page_id", f"{entity.page_id} is not a page id")
            if (other := page_ids.setdefault(entity.page_id, entity.title)) != entity.title:
                raise fault("page_id", f"{entity.page_id} is that of {other!r} already")
        if entity.qid is not None:
            if not QID.fullmatch(entity.qid):
                raise fault("qid", f"{entity.qid!r} is not a QID such as Q42")
            if (other := qids.setdefault(entity.qid, entity.title)) != entity.title:
                raise fault("qid", f"{entity.qid} is that of {other!r} already")
        if entity.commonness is not None and entity.commonness < 0:
            raise fault("commonness", f"{entity.commonness} is negative")
        entities[entity.title] = entity
    return entities


def _read_spaces(
    path: Path, lines: Iterable[tuple[int, EntitySpace]], entities: Mapping[str, Entity]
) -> dict[str, EntitySpace]:
    """The spaces by name; an invalid line is refused."""
    spaces: dict[str, EntitySpace] = {}
    for line, space in lines:
        if not space.name.strip():
            raise InputError(path, "is empty", line=line, field="name")
        if space.name in spaces:
            raise InputError(path, f"{space.name!r} stands twice", line=line, field="name")
        if not space.entities:
            raise InputError(path, "a space needs at least one entity", line=line, field="entities")
        for title in space.entities:
            if title not in entities:
                raise InputError(path, f"{title!r} is not in {ENTITIES}", line=line, field="entities")
        if len(set(space.entities)) < len(space.entities):
            raise InputError(path, "an entity stands twice", line=line, field="entities")
        # The texts of the entities themselves, and no copies of them.
        spaces[space.name] = EntitySpace(space.name, tuple(entities[title].title for title in space.entities))
    return spaces


def _index_snippets(
    path: Path, lines_of: LinesOf, entities: Mapping[str, Entity], spaces: Mapping[str, EntitySpace]
) -> SnippetIndex:
    """The index of the snippets of all subsets; an invalid snippet is refused."""
    index = SnippetIndex()
    entity_codes, space_codes = ({name: code for code, name in enumerate(names)} for names in (entities, spaces))
    for code, subset in enumerate(SUBSETS):
        for line, snippet in lines_of(subset):
            problem = _find_problem(snippet, subset, entities, spaces)
            if problem is None and snippet.id in index.rows:
                problem = "id", f"{snippet.id!r} stands twice"
            if problem is not None:
                raise InputError(path / f"{subset}.jsonl", problem[1], line=line, field=problem[0])
            space = space_codes[snippet.space] if snippet.space is not None else NONE
            index.add(snippet, code, space, entity_codes[snippet.gold] if snippet.gold is not None else NONE)
    if not len(index):
        raise InputError(path, f"has no snippets: none of {', '.join(f'{name}.jsonl' for name in SUBSETS)}")
    return index


def _find_problem(
    snippet: Snippet, subset: Subset, entities: Mapping[str, Entity], spaces: Mapping[str, EntitySpace]
) -> tuple[str, str] | None:
    """The field and the problem of an invalid snippet, or None."""
    if not snippet.id:
        return "id", "is empty"
    if snippet.subset != subset:
        return "subset", f"{snippet.subset!r} stands in the file of {subset!r}"
    if snippet.start < 0:
        return "start", f"{snippet.start} is negative"
    if snippet.end > len(snippet.text):
        return "end", f"{snippet.end} is outside the text of {len(snippet.text)} characters"
    if snippet.start >= snippet.end:
        return "end", f"{snippet.end} is not after the start, {snippet.start}"
    space = spaces.get(snippet.space) if snippet.space is not None else None
    if snippet.space is not None and space is None:
        return "space", f"{snippet.space!r} is not in {SPACES}"
    if subset in {"top", "shadow", "neutral"} and space is None:
        return "space", f"is missing, and a {subset} snippet needs one"
    return _find_gold_problem(snippet, subset, entities, space)


def _find_gold_problem(
    snippet: Snippet, subset: Subset, entities: Mapping[str, Entity], space: EntitySpace | None
) -> tuple[str, str] | None:
    if subset == "neutral":
        return ("gold", "a neutral context has no gold entity") if snippet.gold is not None else None
    if snippet.gold is None:
        return ("gold", f"is missing, and a {subset} snippet needs one") if subset != "all" else None
    if snippet.gold not in entities:
        return "gold", f"{snippet.gold!r} is not in {ENTITIES}"
    if subset == "top" and space is not None and snippet.gold != space.top:
        return "gold", f"{snippet.gold!r} is not the top of {space.name!r}, which is {space.top!r}"
    if subset == "shadow" and space is not None and snippet.gold not in space.shadows:
        return "gold", f"{snippet.gold!r} is not a shadow of {space.name!r}"
    return None


def _combine_digests(path: Path, card: Card, digests: Mapping[str, str]) -> str:
    """SHA-256 over the SHA-256 of every data file, so that any changed byte makes another dataset."""
    total = hashlib.sha256()
    for name in (ENTITIES, SPACES, *(f"{subset}.jsonl" for subset in SUBSETS)):
        if name not in digests:
            if name in card.files:
                raise InputError(path / name, f"no such file, and {CARD} lists it")
            continue
        digest = digests[name]
        if card.files.get(name, digest) != digest:
            raise InputError(
                path / CARD,
                f"lists {name} with SHA-256 {card.files[name][:12]}..., the file has {digest[:12]}...;"
                " if the change is meant, remove `files` from the card",
                field="files",
            )
        total.update(f"{name} {digest}\n".encode())
    return total.hexdigest()
