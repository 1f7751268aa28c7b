"""Gathers the references of articles, the web pages that they name, and the snippets in these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from shadowprobe.base.files import open_for_writing, write_out
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.base.languages import Language
from shadowprobe.build.archive import Archive
from shadowprobe.build.funnel import Funnel, Progress
from shadowprobe.build.longer_names import drop_longer_names
from shadowprobe.build.near_duplicates import NearDuplicates
from shadowprobe.build.records import Crawled, FoundEntity, FoundSpace, WebReference
from shadowprobe.build.references import find_references
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.snippets import Cutter
from shadowprobe.build.web.charset import decode_page
from shadowprobe.build.web.crawl import MISSING, crawl
from shadowprobe.build.web.main_text import main_text
from shadowprobe.build.web.politeness import Manners
from shadowprobe.build.wiki.wiki_api import Wiki
from shadowprobe.dataset.kept_pages import Cut, PageText
from shadowprobe.errors import BuildError


class Gatherer:
    """Runs stages 3 to 5 for entities: for those of the spaces, and in several rounds for those of the tail.

    `within` is the name of the stage that calls it, for progress and files; empty for the spaces.
    """

    def __init__(
        self,
        wiki: Wiki,
        language: Language,
        web: Archive,
        settings: BuildSettings,
        manners: Manners,
        directory: Path,
        progress: Progress,
        *,
        retry: bool = False,
    ) -> None:
        self.wiki, self.language, self.web = wiki, language, web
        self.settings, self.manners, self.directory = settings, manners, directory
        self._progress, self.retry = progress, retry
        self._cutter = Cutter(language, sentences=settings.sentences, most=settings.snippets)
        self._started: set[str] = set()
        self._near_duplicates = NearDuplicates()

    def find_references(self, entities: Sequence[FoundEntity], funnel: Funnel, within: str = "") -> list[WebReference]:
        """Finds the references of the articles in their order, at most as many per article as the settings allow."""
        host = urlsplit(self.wiki.url).netloc
        references: list[WebReference] = []
        dropped: Counter[str] = Counter()
        watch = self._watch("references", within)
        for number, entity in enumerate(entities, start=1):
            html = self.wiki.html(entity.title, dropped)
            own = list(find_references(html or "", entity.title, self.language, host, dropped))
            if html is not None and not own:
                dropped["an article without references"] += 1
            if len(own) > self.settings.references:
                dropped["more references than are followed"] += len(own) - self.settings.references
            references += own[: self.settings.references]
            watch(number, len(entities))
        funnel.keep(len(references))
        funnel.add(dropped)
        return references

    def fetch(self, references: Sequence[WebReference], funnel: Funnel, within: str = "") -> list[Crawled]:
        """Fetches the pages that the references name; returns the result for each."""
        watch = self._watch("crawl", within)
        crawled = list(crawl(references, self.web, self.manners, watch, is_online=self.wiki.is_well, retry=self.retry))
        if missing := sum(page.failed == MISSING for page in crawled):
            raise BuildError(f"{self.web.path} lacks {missing} pages: build without --from-archive first")
        for page in crawled:
            funnel.drop(page.failed) if page.page is None else funnel.keep()
        return crawled

    def cut(
        self,
        references: Iterable[WebReference],
        crawled: Iterable[Crawled],
        spaces: Mapping[str, Sequence[FoundSpace]],
        funnel: Funnel,
        within: str = "",
    ) -> list[Cut]:
        """Cuts the snippets of all pages, and stores the text of each page that has any."""
        pages = {page.url: page.page for page in crawled if page.page is not None}
        entities: dict[str, list[str]] = {url: [] for url in pages}
        for reference in references:
            if reference.url in entities:
                entities[reference.url].append(reference.entity)
        dropped: Counter[str] = Counter()
        with self._open_texts(f"{within or 'snippets'}-texts") as store:
            cuts = self._cut_pages(pages, entities, spaces, dropped, store, self._watch("snippets", within))
            kept = drop_longer_names(cuts, self.wiki, dropped, self._watch("longer names", within))
        kept = self._near_duplicates.drop(kept, dropped)
        funnel.keep(len(kept))
        funnel.add(dropped)
        return kept

    def _watch(self, work: str, within: str) -> Callable[[int, int], None]:
        """Returns the progress function of some work: with its own name, or as a part of another stage."""
        return partial(self._progress, f"{within}: {work}" if within else work)

    def begin_after(self, cuts: Iterable[Cut]) -> None:
        """Forgets all earlier snippets except these: near duplicates of these are dropped."""
        self._near_duplicates = NearDuplicates()
        self._near_duplicates.drop(cuts, Counter())

    def _cut_pages(
        self,
        pages: Mapping[str, str],
        entities: Mapping[str, Sequence[str]],
        spaces: Mapping[str, Sequence[FoundSpace]],
        dropped: Counter[str],
        store: Callable[[PageText], None],
        watch: Callable[[int, int], None],
    ) -> Iterator[Cut]:
        for number, (url, page) in enumerate(pages.items(), start=1):
            watch(number, len(pages))
            stored = self.web.get(page)
            text = main_text(decode_page(stored), url) if stored is not None else ""
            if not text:
                dropped["a page without running text"] += 1
                continue
            cuts = [
                cut
                for title in dict.fromkeys(entities[url])
                for space in spaces.get(title, ())
                for cut in self._cutter.cut(text, title, space.name, _list_others(space, title), url, dropped)
            ]
            if cuts:
                store(PageText(url, text))
            yield from cuts

    @contextmanager
    def _open_texts(self, name: str) -> Iterator[Callable[[PageText], None]]:
        """Opens a file for page texts; a repeated stage starts it again, and the rounds of the tail append to it."""
        path = self.directory / f"{name}.jsonl"
        is_started = name in self._started
        self._started.add(name)
        with open_for_writing(path, append=is_started) as file:
            yield lambda text: write_out(file, encode_lines([text]), path)


def _list_others(space: FoundSpace, title: str) -> list[str]:
    return [other for other in space.entities if other != title]
