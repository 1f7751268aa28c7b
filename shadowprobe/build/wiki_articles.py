"""What a build learns of names and articles from the API of a wiki; `dumps/dumped_articles.py` learns it from files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from urllib.parse import urlsplit

from shadowprobe.base.languages import Language
from shadowprobe.build.backlinks import count_backlinks
from shadowprobe.build.funnel import Funnel, Progress
from shadowprobe.build.record_file import CountedRecords
from shadowprobe.build.records import FoundEntity, WebReference
from shadowprobe.build.references import ArticleReferences, find_references, mark_followed
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.spaces import NamedSpace, find_spaces
from shadowprobe.build.tail import draw_articles
from shadowprobe.build.wiki.wiki_api import Wiki


class WikiArticles:
    """The names, articles, links and references of a wiki.

    `within` is the name of the stage that asks for references, for its progress; empty for the spaces.
    """

    # What the card of the dataset says of the source.
    notes: tuple[str, ...] = ()

    def __init__(self, wiki: Wiki, language: Language, settings: BuildSettings, progress: Progress) -> None:
        self.wiki, self.language, self.settings, self._progress = wiki, language, settings, progress

    def prepare(self) -> None:
        """Makes sure that a stage after the first one has what it needs."""

    def find_spaces(self, funnel: Funnel) -> Iterator[NamedSpace]:
        """Yields the ambiguous names, each with the entities that no name before had."""
        return find_spaces(self.wiki, self.language, funnel, self.settings, self._progress)

    def count_backlinks(self, entities: CountedRecords[FoundEntity]) -> Iterator[FoundEntity]:
        """Yields the entities with their commonness."""
        return count_backlinks(self.wiki, entities)

    def find_references(
        self, entities: CountedRecords[FoundEntity], funnel: Funnel, within: str = ""
    ) -> Iterator[WebReference]:
        """Yields the references of the articles in their order; the settings say how many of one are followed."""
        dropped: Counter[str] = Counter()
        work, followed = f"{within}: references" if within else "references", 0
        for number, (own, is_there) in enumerate(self._read_references(entities, dropped), start=1):
            if is_there and not own:
                dropped["an article without references"] += 1
            followed += min(len(own), self.settings.references)
            yield from mark_followed(own, self.settings.references, dropped)
            self._progress(work, number, len(entities))
        funnel.keep(followed)
        funnel.add(dropped)

    def _read_references(
        self, entities: CountedRecords[FoundEntity], dropped: Counter[str]
    ) -> Iterator[ArticleReferences]:
        """Yields the references of each article; counts the links that are none by their reason."""
        for entity in entities:
            html = self.wiki.html(entity.title, dropped)
            own = find_references(html or "", entity.title, self.language, self.host, dropped)
            yield ArticleReferences(list(own), is_there=html is not None)

    def draw_articles(self, funnel: Funnel, used: Container[str]) -> Iterator[list[FoundEntity]]:
        """Yields articles in random order, a few at a time, with their commonness."""
        drawn = draw_articles(self.wiki, self.language, funnel, self.settings, used)
        return (list(count_backlinks(self.wiki, batch)) for batch in drawn)

    @property
    def host(self) -> str:
        """The host of the wiki, to which no reference leads."""
        return urlsplit(self.wiki.url).netloc
