"""The stages of a build in their order: each reads the files of the stage before, and requests only what is missing.

All replies of the wiki and of the web are stored in the archives, and a stage depends on them only. An interrupted
build therefore repeats its unfinished stage from the start, reads the earlier replies from the archives, and gives the
same result as a build without an interruption.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

import shadowprobe
from shadowprobe.base.files import PartialFile, drop_partial_files, lock, make_directory
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.base.languages import Language, read_language, words_of
from shadowprobe.build import assemble
from shadowprobe.build.archive import Archive
from shadowprobe.build.card_counts import CardCounts, count_commonness, list_golds
from shadowprobe.build.funnel import Funnel, Progress, ignore_progress
from shadowprobe.build.gather import Gatherer
from shadowprobe.build.machine import ALL, Machine
from shadowprobe.build.new_card import make_card
from shadowprobe.build.parts import drop_parts
from shadowprobe.build.record_file import CountedRecords, RecordFile, RecordList
from shadowprobe.build.record_index import RecordIndex, RecordTable, digest
from shadowprobe.build.records import Crawled, FoundEntity, FoundSpace, WebReference
from shadowprobe.build.settings import NAME, BuildSettings, open_settings, write_settings
from shadowprobe.build.shards import PageArchive, open_pages
from shadowprobe.build.status import CAPTURES, FUNNELS, STAGES, read_funnels
from shadowprobe.build.storage import find_storage, note_storage
from shadowprobe.build.web.politeness import Manners
from shadowprobe.build.wiki.wiki_api import Wiki
from shadowprobe.build.wiki_articles import WikiArticles
from shadowprobe.compute.executor import Executor, SerialExecutor
from shadowprobe.dataset.dataset import CARD, Dataset
from shadowprobe.dataset.kept_pages import PAGE_FILES, Cut, PageText
from shadowprobe.errors import BuildError, InputError, UsageError, nearest

# The largest number of articles that are drawn for each wanted tail entity.
MAX_DRAWS = 60
SOFTWARE = f"shadowprobe/{shadowprobe.__version__}"

T = TypeVar("T", bound=Struct)


class Build:
    """A build in a directory: the dataset is written there, and everything that it is made from to `build` below."""

    def __init__(
        self,
        out: Path,
        settings: BuildSettings,
        manners: Manners,
        *,
        from_archive: bool = False,
        retry: bool = False,
        progress: Progress | None = None,
        machine: Machine = ALL,
        executor: Executor | None = None,
        storage: str = "",
    ) -> None:
        self.out, self.directory = out, out / "build"
        if from_archive and not (self.directory / "archive").is_dir():
            raise UsageError(f"--from-archive: {out} holds no archive; a build without this option makes one")
        self.settings = open_settings(self.directory, settings)
        if (out / CARD).exists() and not (self.directory / NAME).exists():
            raise UsageError(f"{out} holds a dataset that no build has made; give another --out")
        self.manners, self.from_archive, self.retry = manners, from_archive, retry
        self._progress = progress or ignore_progress
        self.machine = machine
        self._executor = executor or SerialExecutor()
        self._storage = storage
        self._open = ExitStack()

    def __enter__(self) -> Build:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, stage: str | None = None) -> Dataset | None:
        """Runs the unfinished stages, or repeats one stage; returns the dataset when it is written."""
        self._check_order(stage)
        make_directory(self.out)
        make_directory(self.directory)
        # A build from the archive also writes files, and needs the lock.
        lock(self._open.enter_context((self.directory / ".lock").open("ab")), f"building into {self.out}")
        for directory in (self.out, self.directory, self.out / "train"):
            drop_partial_files(directory)
        find_storage(self.directory / "archive", self._storage)
        if self.settings.common_crawl and not self.from_archive and not self._funnel_file("crawl").exists():
            from shadowprobe.build.captures.capture_index import check_index

            check_index(self.settings.common_crawl)
        # Settings are stored only after the wiki has answered and its language is supported.
        _ = self.language
        write_settings(self.directory, self.settings)
        if self.from_archive and stage is None:
            # The archive is opened first: if it cannot be read, the earlier results are kept.
            _ = self._gatherer.web
            self._forget_from(STAGES[0])
        if self.retry and stage is None:
            self._forget_from("crawl")
        for name in STAGES:
            done = self._funnel_file(name).exists()
            if stage == name or (stage is None and not done):
                self._forget_from(name)
                if name != STAGES[0]:
                    self.articles.prepare()
                funnel = Funnel(name)
                getattr(self, f"_{name}")(funnel)
                funnel.write(self._funnel_file(name))
            if self._funnel_file(name).exists():
                drop_parts(self.directory / f"{name}-parts")
        return Dataset.read(self.out) if self._funnel_file("assemble").exists() else None

    def _check_order(self, stage: str | None) -> None:
        """Refuses an unknown stage, and a stage whose input is missing."""
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
        """The wiki; connected at the first request."""
        archive, agent = self._open_wiki(), self.manners.user_agent
        if not self.settings.dumps:
            return Wiki(self.settings.wiki, archive, user_agent=agent)
        from shadowprobe.build.dumps.dumped_wiki import DumpedWiki

        return DumpedWiki(self.settings.wiki, archive, user_agent=agent, database=self._database, machine=self.machine)

    @cached_property
    def articles(self) -> WikiArticles:
        """The names and articles of the wiki: from its API, or from its dumps."""
        if not self.settings.dumps:
            return WikiArticles(self.wiki, self.language, self.settings, self._progress)
        from shadowprobe.build.dumps.dumped_articles import DumpedArticles

        return DumpedArticles(self.wiki, self.language, self.settings, self._progress, self._database, self.machine)

    @cached_property
    def language(self) -> Language:
        """The language of the wiki."""
        code = self.settings.language or self.wiki.language
        if self.settings.neutral:
            return replace(words_of(code), neutral=self.settings.neutral)
        return read_language(code)

    @cached_property
    def _gatherer(self) -> Gatherer:
        return Gatherer(
            self.wiki,
            self.language,
            self._open_web,
            self.settings,
            self.manners,
            self.directory,
            self._progress,
            executor=self._executor,
            retry=self.retry,
        )

    def _open_wiki(self) -> Archive:
        archive = Archive(self.directory / "archive" / "wiki.warc.gz", software=SOFTWARE, read_only=self.from_archive)
        self._open.callback(archive.close)
        return archive

    def _open_web(self) -> PageArchive:
        references = self.directory / "references.jsonl"
        pages = len(self._read("references", WebReference)) if references.exists() else 0
        folder = find_storage(self.directory / "archive", self._storage)
        note_storage(self.directory / "archive", folder)
        # A worker of a cluster has at least one file.
        fewest = self._executor.workers if self._executor.is_cluster else 1
        archive = open_pages(
            f"{folder}/web.warc.gz", software=SOFTWARE, read_only=self.from_archive, pages=pages, fewest=fewest
        )
        self._open.callback(archive.close)
        return archive

    def _forget_from(self, stage: str) -> None:
        """Removes the funnels of this stage and all later ones, so that they run again."""
        for name in FUNNELS[FUNNELS.index(CAPTURES if stage == "crawl" else stage) :]:
            self._funnel_file(name).unlink(missing_ok=True)

    def _funnel_file(self, stage: str) -> Path:
        return self.directory / f"{stage}.json"

    def _spaces(self, funnel: Funnel) -> None:
        names = 0
        with self._open_records("spaces") as add_space, self._open_records("candidates") as add_candidates:
            for space, new_entities in self.articles.find_spaces(funnel):
                add_space([space])
                add_candidates(new_entities)
                names += 1
            if not names:
                raise BuildError(
                    f"{self.settings.wiki}: no name of two articles was found among its disambiguation pages"
                )

    def _commonness(self, funnel: Funnel) -> None:
        candidates = self._read("candidates", FoundEntity)
        with self._open_records("entities") as add:
            for number, entity in enumerate(self.articles.count_backlinks(candidates), start=1):
                add([entity])
                self._progress("commonness", number, len(candidates))
        funnel.keep(len(candidates))

    @property
    def _database(self) -> Path:
        return self.directory / "dumps.duckdb"

    def _references(self, funnel: Funnel) -> None:
        self._write("references", self.articles.find_references(self._read("entities", FoundEntity), funnel))

    def _crawl(self, funnel: Funnel) -> None:
        self._write("crawled", self._gatherer.fetch(self._read("references", WebReference), funnel))

    def _snippets(self, funnel: Funnel) -> None:
        spaces = RecordIndex(self._read("spaces", FoundSpace), lambda space: map(digest, space.entities))
        references, crawled = self._read("references", WebReference), self._read("crawled", Crawled)
        self._gatherer.begin_after([])
        cuts = self._gatherer.cut(references, crawled, lambda title: spaces.find(digest(title)), funnel)
        self._write("cuts", cuts)

    def _tail(self, funnel: Funnel) -> None:
        entities = self._read_entities()
        wanted, limit = self._plan_tail(entities)
        kept = tried = 0
        batches = self.articles.draw_articles(funnel, entities)
        self._gatherer.begin_after(self._read("cuts", Cut))
        self._progress("tail", 0, wanted)
        with ExitStack() as stack:
            add_entities, add_cuts = (stack.enter_context(self._open_records(name)) for name in ("tail", "tail-cuts"))
            add_pages = stack.enter_context(self._open_records("tail-crawled")) if self.settings.common_crawl else None
            while kept < wanted and tried < MAX_DRAWS * wanted and (drawn := next(batches, None)) is not None:
                tried += len(drawn)
                rare = [entity for entity in drawn if entity.commonness <= limit]
                funnel.drop("more common than the median of Shadow", len(drawn) - len(rare))
                found, crawled = self._cut_tail(rare)
                if add_pages is not None:
                    add_pages(crawled)
                for entity in rare:
                    if entity.title not in found:
                        funnel.drop("no snippet was found")
                    elif kept < wanted:
                        funnel.keep()
                        kept += 1
                        add_entities([entity])
                        add_cuts(found[entity.title])
                self._progress("tail", kept, wanted)

    def _plan_tail(self, entities: assemble.Entities) -> tuple[int, float]:
        """Returns how many tail entities are wanted, and how common they may be; the names do not stay in memory."""
        chosen = self._choose_spaces(entities, Funnel("assemble"))
        return self._count_wanted_tail(len(chosen.spaces)), chosen.shadow_median(entities)

    def _count_wanted_tail(self, names: int) -> int:
        return self.settings.tail if self.settings.tail is not None else names

    def _cut_tail(self, entities: CountedRecords[FoundEntity]) -> tuple[dict[str, list[Cut]], list[Crawled]]:
        """Returns the snippets of some tail entities by title, and the pages that were requested for them."""
        # The counts of the inner stages are not reported.
        inner = Funnel("tail")
        references = RecordList(self.articles.find_references(entities, inner, "tail"))
        crawled = list(self._gatherer.fetch(references, inner, "tail"))
        found: dict[str, list[Cut]] = {}
        for cut in self._gatherer.cut(references, crawled, _make_own_space, inner, "tail"):
            found.setdefault(cut.entity, []).append(cut)
        return found, crawled

    def _assemble(self, funnel: Funnel) -> None:
        entities, tail = self._read_entities("entities", "tail"), self._read("tail", FoundEntity)
        chosen = self._choose_spaces(entities, funnel)
        if not chosen.spaces:
            raise BuildError(
                "no name has snippets of its most common entity and of another:"
                f" `shadowprobe build status --out {self.out}` shows where they were lost"
            )
        tail_cuts = assemble.TailCuts(self._read("tail-cuts", Cut))
        self._check_complete("tail", self._read_entities("tail"), tail_cuts.titles)
        self._check_complete("tail-cuts", tail_cuts.titles, (entity.title for entity in tail), made_by="tail")
        draw = assemble.Draw(chosen, tail_cuts, self.settings.name, self.settings.seed)
        counts = CardCounts(draw, self.language)
        check = assemble.CutCheck(self._read_pages())
        for subset, drawn in draw.list_all():
            check.check(drawn.cut)
            counts.add(subset, drawn)
        golds = list_golds(chosen, tail_cuts.titles)
        card = make_card(self.wiki, self.language.code, self.settings)
        card.build |= {
            "notes": [*self.articles.notes, *self._make_tail_notes(len(tail), len(chosen.spaces))],
            "table_1": counts.make_table_1(golds, len(chosen.spaces)),
            "mentions": counts.count_mentions(),
            "commonness": count_commonness(golds, entities),
            "funnel": [*read_funnels(self.out), funnel],
        }
        if self.settings.common_crawl:
            crawled = (self._read(name, Crawled) for name in ("crawled", "tail-crawled"))
            card.build["pages"] = counts.count_pages(*crawled)
        assemble.write_parts(self.out, draw, entities, self.language, card, has_training=counts.has_training)

    def _make_tail_notes(self, found: int, names: int) -> list[str]:
        wanted = self._count_wanted_tail(names)
        return [f"{found} tail entities were found of the {wanted} that were wanted"] if found < wanted else []

    def _read_entities(self, *names: str) -> RecordTable[FoundEntity]:
        """The entities by title, from the files of these names."""
        files = [self._read(name, FoundEntity) for name in names or ("entities",)]
        return RecordTable(files, lambda entity: entity.title)

    def _read_pages(self) -> RecordTable[PageText]:
        """The texts of the pages that have snippets, by their address."""
        names = [name for name in PAGE_FILES if (self.directory / f"{name}.jsonl").exists()]
        return RecordTable([self._read(name, PageText) for name in names], lambda page: page.url)

    def _choose_spaces(self, entities: assemble.Entities, funnel: Funnel) -> assemble.ChosenSpaces:
        spaces = self._read("spaces", FoundSpace)
        titles = (title for space in spaces for title in space.entities)
        self._check_complete("entities", entities, titles, made_by="commonness")
        return assemble.choose_spaces(spaces, entities, self._read("cuts", Cut), funnel)

    def _check_complete(self, name: str, known: Container[str], wanted: Iterable[str], made_by: str = "") -> None:
        """Refuses a file that lacks an entity of another file, because the file was changed after it was written."""
        missing = next((title for title in wanted if title not in known), None)
        if missing is not None:
            again = f"shadowprobe build {made_by or name} --out {self.out}"
            raise InputError(self.directory / f"{name}.jsonl", f"lacks `{missing}`: `{again}` makes it again")

    def _write(self, name: str, records: Iterable[Struct]) -> None:
        with self._open_records(name) as add:
            for record in records:
                add([record])

    @contextmanager
    def _open_records(self, name: str) -> Iterator[Callable[[Iterable[Struct]], None]]:
        """Opens a file for records, which gets its name when the block ends without an error."""
        with PartialFile(self.directory / f"{name}.jsonl") as file:
            yield lambda records: file.write(encode_lines(records))
            file.publish()

    def _read(self, name: str, kind: type[T]) -> RecordFile[T]:
        return RecordFile(self.directory / f"{name}.jsonl", kind)


def _make_own_space(title: str) -> list[FoundSpace]:
    """Returns the space of a tail entity, which has no other entity."""
    return [FoundSpace(title, "", (title,))]
