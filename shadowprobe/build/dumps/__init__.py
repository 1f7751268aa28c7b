"""The public dumps of a wiki as a second source of names, links, references and rare articles, without requests."""

from shadowprobe.build.dumps.cited import find_references_in_dumps, has_references
from shadowprobe.build.dumps.commonness import count_backlinks_in_dumps
from shadowprobe.build.dumps.drawing import draw_articles_in_dumps
from shadowprobe.build.dumps.dumped_articles import DumpedArticles
from shadowprobe.build.dumps.dumped_wiki import DumpedWiki
from shadowprobe.build.dumps.source import find_spaces_in_dumps, keep_database
from shadowprobe.build.dumps.store import read_notes

__all__ = [
    "DumpedArticles",
    "DumpedWiki",
    "count_backlinks_in_dumps",
    "draw_articles_in_dumps",
    "find_references_in_dumps",
    "find_spaces_in_dumps",
    "has_references",
    "keep_database",
    "read_notes",
]
