"""What a build learns of names and articles from the dumps of a wiki."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from functools import cached_property
from pathlib import Path

from shadowprobe.base.languages import Language
from shadowprobe.build.dumps.cited import read_references_in_dumps
from shadowprobe.build.dumps.commonness import count_backlinks_in_dumps
from shadowprobe.build.dumps.drawing import draw_articles_in_dumps
from shadowprobe.build.dumps.source import find_spaces_in_dumps, keep_database
from shadowprobe.build.dumps.store import connect, has_table, read_notes
from shadowprobe.build.funnel import Funnel, Progress
from shadowprobe.build.machine import Machine
from shadowprobe.build.record_file import CountedRecords
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.references import ArticleReferences
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.spaces import NamedSpace
from shadowprobe.build.wiki.wiki_api import Wiki
from shadowprobe.build.wiki_articles import WikiArticles


class DumpedArticles(WikiArticles):
    """The names, articles, links and references in a database of dumps."""

    def __init__(
        self,
        wiki: Wiki,
        language: Language,
        settings: BuildSettings,
        progress: Progress,
        database: Path,
        machine: Machine,
    ) -> None:
        super().__init__(wiki, language, settings, progress)
        self._database, self._machine = database, machine

    def prepare(self) -> None:
        """Loads the database again if it is lost, or was made by an earlier version."""
        keep_database(self._database, self.language, self.settings, self._progress, self._machine)

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the dumps lack."""
        return tuple(read_notes(self._database))

    def find_spaces(self, funnel: Funnel) -> Iterator[NamedSpace]:
        """Loads the dumps, and yields the ambiguous names."""
        return find_spaces_in_dumps(self._database, self.language, funnel, self.settings, self._progress, self._machine)

    def count_backlinks(self, entities: CountedRecords[FoundEntity]) -> Iterator[FoundEntity]:
        """Yields the entities with their commonness."""
        return count_backlinks_in_dumps(self._database, entities, self._machine)

    def _read_references(
        self, entities: CountedRecords[FoundEntity], dropped: Counter[str]
    ) -> Iterator[ArticleReferences]:
        """Yields the references of each article; dumps without texts have none, and then the wiki is asked."""
        if not self._has_references:
            return super()._read_references(entities, dropped)
        return read_references_in_dumps(self._database, entities, self.host, dropped, self._machine)

    @cached_property
    def _has_references(self) -> bool:
        """True if the dumps have the texts of pages, in which the references are."""
        with connect(self._database, self._machine) as connection:
            return has_table(connection, "reference")

    def draw_articles(self, funnel: Funnel, used: Container[str]) -> Iterator[list[FoundEntity]]:
        """Yields articles in random order, a few at a time, with their commonness."""
        return draw_articles_in_dumps(self._database, self.language, funnel, self.settings, used, self._machine)
