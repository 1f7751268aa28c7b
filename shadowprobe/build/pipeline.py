"""The stages of a build in their order: each reads what the one before it wrote, and asks only what is not archived.

Every answer of the wiki and of the web goes through the archives, and a stage is a pure function of them. So a build
that was cut off runs its unfinished stage again from the start, finds what it had asked already, and ends as one that
was never cut off.
"""

from __future__ import annotations

import platform
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

import shadowprobe
from shadowprobe.build import assemble
from shadowprobe.build.archive import Archive, lock
from shadowprobe.build.commonness import count_backlinks
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.gather import Gatherer, Progress
from shadowprobe.build.languages import Language, read_language, words_of
from shadowprobe.build.politeness import Manners
from shadowprobe.build.records import Crawled, Cut, FoundEntity, FoundSpace, PageText, Reference
from shadowprobe.build.settings import NAME, Settings, open_settings, write_settings
from shadowprobe.build.spaces import find_spaces
from shadowprobe.build.status import STAGES
from shadowprobe.build.tail import draw_articles
from shadowprobe.build.wiki import Wiki
from shadowprobe.dataset import CARD, Card, Dataset, make_directory
from shadowprobe.errors import BuildError, InputError, UsageError, nearest
from shadowprobe.jsonl import drop_halves, encode_lines, read_lines, write_atomically

# So many articles are drawn for each tail entity that is wanted before the wiki is said to have too few.
PATIENCE = 60
# Libraries that decide what a snippet looks like.
DECIDING = ("trafilatura", "spacy", "beautifulsoup4", "lxml")
LICENCE = (
    "Titles and links come from {wiki}; Wikipedia's are under CC BY-SA 4.0. Snippets are short quotations from the web"
    " pages named in `source`, which remain their owners'; the full texts are in the archive of the build."
)

T = TypeVar("T", bound=Struct)


class Build:
    """A build in a directory: the dataset goes to the top of it, and all that it is made from to `build` below."""

    def __init__(
        self,
        out: Path,
        settings: Settings,
        manners: Manners,
        *,
        from_archive: bool = False,
        retry: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.out, self.directory = out, out / "build"
        if from_archive and not (self.directory / "archive").is_dir():
            raise UsageError(f"--from-archive: {out} holds no archive; a build without it makes one")
        self.settings = open_settings(self.directory, settings)
        if (out / CARD).exists() and not (self.directory / NAME).exists():
            raise UsageError(f"{out} holds a dataset that no build has made; give another --out")
        self.manners, self.from_archive, self.retry = manners, from_archive, retry
        self._progress = progress or (lambda *_: None)
        self._open = ExitStack()

    def __enter__(self) -> Build:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, stage: str | None = None) -> Dataset | None:
        """Runs what is not done yet, or one stage anew; gives the dataset once it is written."""
        self._check_order(stage)
        make_directory(self.out)
        make_directory(self.directory)
        # A build that only reads the archive writes all the rest.
        lock(self._open.enter_context((self.directory / ".lock").open("ab")), self.out)
        for directory in (self.out, self.directory, self.out / "train"):
            drop_halves(directory)
        # Only a wiki that answers, in a language that we have words for, makes the settings those of a build.
        _ = self.language
        write_settings(self.directory, self.settings)
        if self.from_archive and stage is None:
            # An archive that cannot be read must not cost what was made from it before.
            _ = self._gatherer
            self._forget_from(STAGES[0])
        if self.retry and stage is None:
            self._forget_from("crawl")
        for name in STAGES:
            done = self._funnel_file(name).exists()
            if stage == name or (stage is None and not done):
                self._forget_from(name)
                funnel = Funnel(name)
                getattr(self, f"_{name}")(funnel)
                funnel.write(self._funnel_file(name))
        return Dataset.read(self.out) if self._funnel_file("assemble").exists() else None

    def _check_order(self, stage: str | None) -> None:
        """Refuses a stage that there is not, or that has nothing to begin with."""
        if stage is None:
            return
        if stage not in STAGES:
            raise UsageError(f"unknown stage `{stage}`{nearest(stage, STAGES)}: choose from {', '.join(STAGES)}")
        for name in STAGES[: STAGES.index(stage)]:
            if not self._funnel_file(name).exists():
                again = f"shadowprobe build {name} --out {self.out}"
                raise UsageError(f"`{stage}` needs what `{name}` makes: run `{again}` first")

    @cached_property
    def wiki(self) -> Wiki:
        """The wiki; reached when it is first asked something."""
        return Wiki(self.settings.wiki, self._archive("wiki"), user_agent=self.manners.user_agent)

    @cached_property
    def language(self) -> Language:
        """The language of the wiki."""
        code = self.settings.language or self.wiki.language
        if self.settings.neutral:
            return replace(words_of(code), neutral=self.settings.neutral)
        return read_language(code)

    @cached_property
    def _gatherer(self) -> Gatherer:
        web = self._archive("web")
        return Gatherer(
            self.wiki,
            self.language,
            web,
            self.settings,
            self.manners,
            self.directory,
            self._progress,
            retry=self.retry,
        )

    def _archive(self, name: str) -> Archive:
        software = f"shadowprobe/{shadowprobe.__version__}"
        path = self.directory / "archive" / f"{name}.warc.gz"
        archive = Archive(path, software=software, read_only=self.from_archive)
        self._open.callback(archive.close)
        return archive

    def _forget_from(self, stage: str) -> None:
        """What later stages made of this one's old results is stale."""
        for name in STAGES[STAGES.index(stage) :]:
            self._funnel_file(name).unlink(missing_ok=True)

    def _funnel_file(self, stage: str) -> Path:
        return self.directory / f"{stage}.json"

    def _spaces(self, funnel: Funnel) -> None:
        settings: dict[str, Any] = {
            "category": self.settings.category,
            "created_before": self.settings.created_before,
            "limit": self.settings.limit,
            "progress": lambda done, total: self._progress("spaces", done, total),
        }
        if self.settings.dumps:
            from shadowprobe.build.dumps import find_spaces_in_dumps

            # Hours of a whole wiki: which file is at work is shown too.
            settings["watch"] = self._progress
            directory = Path(self.settings.dumps)
            found = find_spaces_in_dumps(directory, self._database, self.language, funnel, **settings)
        else:
            found = find_spaces(self.wiki, self.language, funnel, **settings)
        if not found.spaces:
            raise BuildError(f"{self.settings.wiki}: no name of two articles was found among its disambiguation pages")
        self._write("spaces", found.spaces)
        self._write("candidates", found.entities.values())

    def _commonness(self, funnel: Funnel) -> None:
        candidates = list(self._read("candidates", FoundEntity))
        counted = []
        for entity in self._count_backlinks(candidates):
            counted.append(entity)
            self._progress("commonness", len(counted), len(candidates))
        funnel.keep(len(counted))
        self._write("entities", counted)

    def _count_backlinks(self, entities: Sequence[FoundEntity]) -> Iterator[FoundEntity]:
        if self.settings.dumps:
            from shadowprobe.build.dumps import count_backlinks_in_dumps

            return iter(count_backlinks_in_dumps(self._database, entities))
        return count_backlinks(self.wiki, entities)

    @property
    def _database(self) -> Path:
        return self.directory / "dumps.duckdb"

    def _references(self, funnel: Funnel) -> None:
        entities = list(self._read("entities", FoundEntity))
        self._write("references", self._gatherer.find_references(entities, funnel))

    def _crawl(self, funnel: Funnel) -> None:
        references = list(self._read("references", Reference))
        self._write("crawled", self._gatherer.fetch(references, funnel))

    def _snippets(self, funnel: Funnel) -> None:
        spaces: dict[str, list[FoundSpace]] = {}
        for space in self._read("spaces", FoundSpace):
            for title in space.entities:
                spaces.setdefault(title, []).append(space)
        references, crawled = self._read("references", Reference), self._read("crawled", Crawled)
        self._gatherer.begin_after([])
        self._write("cuts", self._gatherer.cut(references, crawled, spaces, funnel))

    def _tail(self, funnel: Funnel) -> None:
        entities = self._entities()
        chosen = self._chosen(Funnel("assemble"))
        wanted = self.settings.tail if self.settings.tail is not None else len(chosen.spaces)
        limit = chosen.shadow_median(entities)
        kept: dict[str, FoundEntity] = {}
        cuts: list[Cut] = []
        looked = 0
        lottery = draw_articles(
            self.wiki,
            self.language,
            funnel,
            seed=self.settings.seed,
            taken=set(entities),
            category=self.settings.category,
            created_before=self.settings.created_before,
        )
        self._gatherer.begin_after(self._read("cuts", Cut))
        self._progress("tail", 0, wanted)
        while len(kept) < wanted and looked < PATIENCE * wanted and (drawn := next(lottery, None)) is not None:
            looked += len(drawn)
            rare = [entity for entity in self._count_backlinks(drawn) if entity.commonness <= limit]
            if len(rare) < len(drawn):
                funnel.drop("more common than the median of Shadow", len(drawn) - len(rare))
            inner = Funnel("tail")
            found = self._gatherer.find_references(rare, inner, "tail")
            fetched = self._gatherer.fetch(found, inner, "tail")
            own = {entity.title: [FoundSpace(entity.title, "", (entity.title,))] for entity in rare}
            by_entity: dict[str, list[Cut]] = {}
            for cut in self._gatherer.cut(found, fetched, own, inner, "tail"):
                by_entity.setdefault(cut.entity, []).append(cut)
            for entity in rare:
                if entity.title not in by_entity:
                    funnel.drop("no snippet was found")
                elif len(kept) < wanted:
                    funnel.keep()
                    kept[entity.title] = entity
                    cuts += by_entity[entity.title]
            self._progress("tail", len(kept), wanted)
        self._write("tail", kept.values())
        self._write("tail-cuts", cuts)

    def _assemble(self, funnel: Funnel) -> None:
        chosen = self._chosen(funnel)
        if not chosen.spaces:
            raise BuildError(
                "no name has snippets of its most common entity and of another:"
                f" `shadowprobe build status --out {self.out}` shows where they were lost"
            )
        tail = {entity.title: entity for entity in self._read("tail", FoundEntity)}
        tail_cuts: dict[str, list[Cut]] = {}
        for cut in self._read("tail-cuts", Cut):
            tail_cuts.setdefault(cut.entity, []).append(cut)
        self._check_whole("tail", tail, tail_cuts)
        self._check_whole("tail-cuts", tail_cuts, tail, made_by="tail")
        cuts = [cut for found in chosen.cuts.values() for cut in found]
        assemble.check_cuts([*cuts, *(cut for found in tail_cuts.values() for cut in found)], self._all_texts())
        parts = assemble.share_out(chosen, tail_cuts, self.language, self.settings.name, self.settings.seed)
        entities = {**self._entities(), **tail}
        sentences = {cut.text: cut.sentences for cut in [*cuts, *(c for found in tail_cuts.values() for c in found)]}
        card = self._card()
        card.build |= {
            "notes": [*self._dump_notes(), *self._tail_notes(len(tail), len(chosen.spaces))],
            "table_1": assemble.table_1(parts, sentences),
            "commonness": assemble.distribution(parts, entities),
            "funnel": [Funnel.read(self._funnel_file(name)) for name in STAGES[:-1]] + [funnel],
        }
        assemble.write_parts(self.out, parts, chosen, entities, tail, card)

    def _card(self) -> Card:
        return Card(
            name=self.settings.name,
            language=self.language.code,
            title=f"Names from {self.wiki.name}, contexts from the web pages that its articles cite",
            source=self.settings.wiki,
            license=LICENCE.format(wiki=self.settings.wiki),
            made="shadowprobe build",
            build={
                "date": self.settings.date,
                "settings": self._public_settings(),
                "versions": {
                    "shadowprobe": shadowprobe.__version__,
                    "python": platform.python_version(),
                    "wiki": self.wiki.generator,
                    **{name: version(name) for name in DECIDING},
                },
            },
        )

    def _public_settings(self) -> dict[str, Any]:
        """The settings as they may be published: where somebody keeps dumps is nobody's affair."""
        known = asdict(self.settings)
        del known["date"]
        return {**known, "dumps": Path(self.settings.dumps).name}

    def _tail_notes(self, found: int, names: int) -> list[str]:
        wanted = self.settings.tail if self.settings.tail is not None else names
        return [f"{found} tail entities were found of the {wanted} that were wanted"] if found < wanted else []

    def _dump_notes(self) -> list[str]:
        if not self.settings.dumps:
            return []
        from shadowprobe.build.dumps import read_notes

        return list(read_notes(self._database))

    def _entities(self) -> dict[str, FoundEntity]:
        return {entity.title: entity for entity in self._read("entities", FoundEntity)}

    def _chosen(self, funnel: Funnel) -> assemble.Chosen:
        spaces, entities = list(self._read("spaces", FoundSpace)), self._entities()
        titles = (title for space in spaces for title in space.entities)
        self._check_whole("entities", entities, titles, made_by="commonness")
        return assemble.choose_spaces(spaces, entities, self._read("cuts", Cut), funnel)

    def _check_whole(self, name: str, known: Collection[str], wanted: Iterable[str], made_by: str = "") -> None:
        """Refuses a file that lacks what another speaks of: since it was made, somebody or something has cut it."""
        lacking = next((title for title in wanted if title not in known), None)
        if lacking is not None:
            again = f"shadowprobe build {made_by or name} --out {self.out}"
            raise InputError(self.directory / f"{name}.jsonl", f"lacks `{lacking}`: `{again}` makes it anew")

    def _all_texts(self) -> Iterator[PageText]:
        for name in ("snippets-texts", "tail-texts"):
            if (self.directory / f"{name}.jsonl").exists():
                yield from self._read(name, PageText)

    def _write(self, name: str, records: Iterable[Struct]) -> None:
        write_atomically(self.directory / f"{name}.jsonl", encode_lines(list(records)))

    def _read(self, name: str, kind: type[T]) -> Iterator[T]:
        return (record for _, record in read_lines(self.directory / f"{name}.jsonl", kind))
