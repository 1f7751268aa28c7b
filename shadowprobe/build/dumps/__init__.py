"""The public dumps of a wiki as a second source of spaces and commonness, without requests to the wiki."""

from shadowprobe.build.dumps.source import count_backlinks_in_dumps, find_spaces_in_dumps
from shadowprobe.build.dumps.store import read_notes

__all__ = ["count_backlinks_in_dumps", "find_spaces_in_dumps", "read_notes"]
