"""Gathers the web pages that articles cite, and the snippets in these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from shadowprobe.base.files import open_for_writing, write_out
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.base.languages import Language
from shadowprobe.build.cited_pages import CitedPages
from shadowprobe.build.cut_filter import filter_cuts
from shadowprobe.build.funnel import Funnel, Progress
from shadowprobe.build.near_duplicates import NearDuplicates
from shadowprobe.build.page_cutting import CutPart, CutSettings, PageWork, Wanted, cut_pages
from shadowprobe.build.parts import PartStore
from shadowprobe.build.record_file import CountedRecords, Records
from shadowprobe.build.records import Crawled, FoundSpace, WebReference
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.shards import PageArchive, Shards
from shadowprobe.build.status import CAPTURES
from shadowprobe.build.web.cluster_crawl import ClusterCrawl
from shadowprobe.build.web.crawl import crawl
from shadowprobe.build.web.outcomes import MISSING
from shadowprobe.build.web.politeness import Manners
from shadowprobe.build.wiki.wiki_api import Wiki
from shadowprobe.compute.executor import Executor
from shadowprobe.dataset.kept_pages import Cut, PageText
from shadowprobe.errors import BuildError

# Libraries that influence the snippets.
LIBRARIES = ("trafilatura", "spacy", "lxml")
# The pages of a stage are divided into about so many parts, and a part has at least and at most so many pages.
PARTS, FEWEST_PAGES, MOST_PAGES = 64, 8, 100


class Gatherer:
    """Runs stages 4 and 5 for entities: for those of the spaces, and in several rounds for those of the tail.

    `within` is the name of the stage that calls it, for progress and files; empty for the spaces.
    """

    def __init__(
        self,
        wiki: Wiki,
        language: Language,
        open_web: Callable[[], PageArchive],
        settings: BuildSettings,
        manners: Manners,
        directory: Path,
        progress: Progress,
        *,
        executor: Executor,
        retry: bool = False,
    ) -> None:
        self.wiki, self.language, self._open_web = wiki, language, open_web
        self.settings, self.manners, self.directory = settings, manners, directory
        self._progress, self.retry, self._executor = progress, retry, executor
        self._started: set[str] = set()
        self._near_duplicates = NearDuplicates()

    @cached_property
    def web(self) -> PageArchive:
        """The archive of the web pages; it is opened when the first page is needed."""
        return self._open_web()

    def fetch(self, references: Iterable[WebReference], funnel: Funnel, within: str = "") -> Iterator[Crawled]:
        """Fetches the pages of the references that are followed; yields the result for each."""
        watch, missing = self._watch("crawl", within), 0
        followed: Iterator[WebReference] = (reference for reference in references if reference.is_followed)
        if self.settings.common_crawl:
            followed = self._fill_archive(list(followed), within)
        for page in self._crawl(followed, watch):
            missing += page.failed == MISSING
            funnel.drop(page.failed) if page.page is None else funnel.keep()
            yield page
        # Workers read the pages next.
        self.web.flush()
        if missing:
            raise BuildError(f"{self.web.path} lacks {missing} pages: build without --from-archive first")

    def _crawl(self, references: Iterable[WebReference], watch: Callable[[int, int], None]) -> Iterator[Crawled]:
        """Requests pages in this process, or on a cluster if the archive has several files."""
        if self._executor.is_cluster and isinstance(self.web, Shards) and not self.web.read_only:
            work = ClusterCrawl(self.web, self.manners, self._executor, retry=self.retry, online=self.wiki.url)
            return work.run(references, watch)
        return crawl(references, self.web, self.manners, watch, is_online=self.wiki.is_well, retry=self.retry)

    def _fill_archive(self, references: list[WebReference], within: str) -> Iterator[WebReference]:
        """Takes pages from an existing crawl; returns the references for which the hosts may be asked."""
        from shadowprobe.build.captures.fill_archive import count_captures, fill_archive

        fill_archive(references, self.web, self.settings, self.manners, self._watch(CAPTURES, within), self._executor)
        if not within:
            count_captures(references, self.web).write(self.directory / f"{CAPTURES}.json")
        # The archived copy that an article names would be another page of the web.
        is_only = self.settings.captures_only
        return (replace(reference, archived=None) if is_only else reference for reference in references)

    def cut(
        self,
        references: Records[WebReference],
        crawled: CountedRecords[Crawled],
        find_spaces: Callable[[str], Iterable[FoundSpace]],
        funnel: Funnel,
        within: str = "",
    ) -> Iterator[Cut]:
        """Yields the snippets of all pages, and stores the text of each page that has any."""
        cited, kept = CitedPages(references, crawled), 0
        dropped: Counter[str] = Counter()
        with self._open_texts(f"{within or 'snippets'}-texts") as store:
            cuts = self._cut_pages(self._list_works(crawled, cited, find_spaces), len(cited), dropped, store, within)
            watch = self._watch("longer names", within)
            for cut in filter_cuts(cuts, self.wiki, self._near_duplicates, dropped, self.directory, watch):
                kept += 1
                yield cut
        funnel.keep(kept)
        funnel.add(dropped)

    def _watch(self, work: str, within: str) -> Callable[[int, int], None]:
        """Returns the progress function of some work: with its own name, or as a part of another stage."""
        return partial(self._progress, f"{within}: {work}" if within else work)

    def begin_after(self, cuts: Iterable[Cut]) -> None:
        """Forgets all earlier snippets except these: near duplicates of these are dropped."""
        self._near_duplicates = NearDuplicates()
        for cut in cuts:
            self._near_duplicates.add(cut.text)

    def _cut_pages(
        self,
        works: Iterator[PageWork],
        count: int,
        dropped: Counter[str],
        store: Callable[[PageText], None],
        within: str,
    ) -> Iterator[Cut]:
        watch, done = self._watch("snippets", within), 0
        for part in self._cut_parts(works, count, within):
            for _ in range(part.pages):
                done += 1
                watch(done, count)
            for text in part.texts:
                store(text)
            dropped.update(part.dropped)
            yield from part.cuts

    def _cut_parts(self, works: Iterator[PageWork], count: int, within: str) -> Iterator[CutPart]:
        """Cuts pages part by part on all workers; the parts do not depend on the number of workers."""
        size = min(max(count // PARTS, FEWEST_PAGES), MOST_PAGES)
        parts = iter(lambda: list(islice(works, size)), [])
        settings = CutSettings(self.language.code, self.settings.sentences, self.settings.snippets)
        function = partial(cut_pages, settings)
        if within:
            return self._executor.map(function, parts)
        versions = " ".join(f"{name} {version(name)}" for name in ("shadowprobe", *LIBRARIES))
        store = PartStore(self.directory / "snippets-parts", f"{versions} {settings}")
        return store.map(self._executor, function, parts, CutPart)

    def _list_works(
        self, crawled: Iterable[Crawled], cited: CitedPages, find_spaces: Callable[[str], Iterable[FoundSpace]]
    ) -> Iterator[PageWork]:
        """Yields what is cut from each page: for each entity that cites it, in each of the entity's spaces."""
        for page in crawled:
            if page.page is None:
                continue
            citing, wanted = cited.find_citing(page.url), []
            for title in cited.list_entities(page.url):
                for space in find_spaces(title):
                    others = tuple(other for other in space.entities if other != title)
                    also_citing = tuple(other for other in others if other in citing)
                    wanted.append(Wanted(title, space.name, others, also_citing))
            yield PageWork(self.web.locate(page.page), page.url, tuple(wanted))

    @contextmanager
    def _open_texts(self, name: str) -> Iterator[Callable[[PageText], None]]:
        """Opens a file for page texts; a repeated stage starts it again, and the rounds of the tail append to it."""
        path = self.directory / f"{name}.jsonl"
        is_started = name in self._started
        self._started.add(name)
        with open_for_writing(path, append=is_started) as file:
            yield lambda text: write_out(file, encode_lines([text]), path)
