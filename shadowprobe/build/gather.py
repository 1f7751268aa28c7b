"""What is found for some entities: the references of their articles, the pages, and the snippets in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from shadowprobe.build.archive import Archive, write_out
from shadowprobe.build.crawl import MISSING, crawl
from shadowprobe.build.fetch import decoded
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.languages import Language
from shadowprobe.build.longer_names import without_longer_names
from shadowprobe.build.near_duplicates import Seen
from shadowprobe.build.politeness import Manners
from shadowprobe.build.records import Crawled, Cut, FoundEntity, FoundSpace, PageText, Reference
from shadowprobe.build.references import find_references as references_of
from shadowprobe.build.settings import Settings
from shadowprobe.build.snippets import Cutter
from shadowprobe.build.text import main_text
from shadowprobe.build.wiki import Wiki
from shadowprobe.errors import BuildError
from shadowprobe.jsonl import encode_lines

Progress = Callable[[str, int, int | None], None]


class Gatherer:
    """Stages 3 to 5 for any entities: those of the spaces, and round by round those of the tail.

    `within` names the stage that they are a part of, where that is not their own.
    """

    def __init__(
        self,
        wiki: Wiki,
        language: Language,
        web: Archive,
        settings: Settings,
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
        self._begun: set[str] = set()
        self._seen = Seen()

    def find_references(self, entities: Sequence[FoundEntity], funnel: Funnel, within: str = "") -> list[Reference]:
        """The references of the articles, in their order, no more of each than the settings say."""
        host = urlsplit(self.wiki.url).netloc
        found: list[Reference] = []
        dropped: Counter[str] = Counter()
        watch = self._watch("references", within)
        for number, entity in enumerate(entities, start=1):
            html = self.wiki.html(entity.title, dropped)
            own = list(references_of(html or "", entity.title, self.language, host, dropped))
            if html is not None and not own:
                dropped["an article without references"] += 1
            if len(own) > self.settings.references:
                dropped["more references than are followed"] += len(own) - self.settings.references
            found += own[: self.settings.references]
            watch(number, len(entities))
        funnel.keep(len(found))
        funnel.add(dropped)
        return found

    def fetch(self, references: Sequence[Reference], funnel: Funnel, within: str = "") -> list[Crawled]:
        """What became of the pages that the references name."""
        watch = self._watch("crawl", within)
        found = list(crawl(references, self.web, self.manners, watch, is_online=self.wiki.is_well, retry=self.retry))
        if lacking := sum(page.failed == MISSING for page in found):
            raise BuildError(f"{self.web.path} lacks {lacking} pages: build without --from-archive first")
        for page in found:
            funnel.drop(page.failed) if page.page is None else funnel.keep()
        return found

    def cut(
        self,
        references: Iterable[Reference],
        crawled: Iterable[Crawled],
        spaces: Mapping[str, Sequence[FoundSpace]],
        funnel: Funnel,
        within: str = "",
    ) -> list[Cut]:
        """The snippets of all pages, page by page; the text of each page that has any is kept."""
        pages = {page.url: page.page for page in crawled if page.page is not None}
        entities: dict[str, list[str]] = {url: [] for url in pages}
        for reference in references:
            if reference.url in entities:
                entities[reference.url].append(reference.entity)
        dropped: Counter[str] = Counter()
        with self._appending(f"{within or 'snippets'}-texts") as keep:
            cuts = self._cut_pages(pages, entities, spaces, dropped, keep, self._watch("snippets", within))
            single = without_longer_names(cuts, self.wiki, dropped, self._watch("longer names", within))
        found = self._seen.fresh(single, dropped)
        funnel.keep(len(found))
        funnel.add(dropped)
        return found

    def _watch(self, work: str, within: str) -> Callable[[int, int], None]:
        """Who is told how far some work is: under its own name, or as a part of another stage."""
        return partial(self._progress, f"{within}: {work}" if within else work)

    def begin_after(self, cuts: Iterable[Cut]) -> None:
        """Forgets what was seen, but for these: nothing that is nearly the same is cut again."""
        self._seen = Seen()
        self._seen.fresh(cuts, Counter())

    def _cut_pages(
        self,
        pages: Mapping[str, str],
        entities: Mapping[str, Sequence[str]],
        spaces: Mapping[str, Sequence[FoundSpace]],
        dropped: Counter[str],
        keep: Callable[[PageText], None],
        watch: Callable[[int, int], None],
    ) -> Iterator[Cut]:
        for number, (url, page) in enumerate(pages.items(), start=1):
            watch(number, len(pages))
            stored = self.web.get(page)
            text = main_text(decoded(stored), url) if stored is not None else ""
            if not text:
                dropped["a page without running text"] += 1
                continue
            found = [
                cut
                for title in dict.fromkeys(entities[url])
                for space in spaces.get(title, ())
                for cut in self._cutter.cut(text, title, space.name, _others(space, title), url, dropped)
            ]
            if found:
                keep(PageText(url, text))
            yield from found

    @contextmanager
    def _appending(self, name: str) -> Iterator[Callable[[PageText], None]]:
        """A file that grows line by line; a stage that runs again begins it anew, but for the tail's many rounds."""
        path = self.directory / f"{name}.jsonl"
        fresh = name not in self._begun
        self._begun.add(name)
        file = path.open("wb" if fresh else "ab")
        try:
            yield lambda text: write_out(file, encode_lines([text]), path)
        finally:
            # What a full disk did not take has been said.
            with suppress(OSError):
                file.close()


def _others(space: FoundSpace, title: str) -> list[str]:
    return [other for other in space.entities if other != title]
