"""The public dumps of a wiki as a second source of spaces and commonness, without a question to the wiki."""

from shadowprobe.build.dumps.answers import count_backlinks_in_dumps, find_spaces_in_dumps
from shadowprobe.build.dumps.store import read_notes

__all__ = ["count_backlinks_in_dumps", "find_spaces_in_dumps", "read_notes"]
