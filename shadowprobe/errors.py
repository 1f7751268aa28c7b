"""What can go wrong, as exceptions whose text is written for the person who meets it.

ShadowprobeError
├── UsageError         an option or argument that cannot be
├── InputError         a file whose content is wrong: names file, line and field
├── PluginError        a linker or probe that cannot be found or loaded
├── LinkerError        a linker that cannot work at all: missing extra, token, service
│   └── ItemError      a linker that failed on one snippet; the run goes on
├── GerbilError        a GERBIL instance that is not there, or that refuses
├── BuildError         a wiki or a setting with which no dataset can be built
└── DownloadError      a dataset that could not be fetched
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class ShadowprobeError(Exception):
    """Base of all errors that a user can cause and mend; the command line prints its text and exits with 2."""


class UsageError(ShadowprobeError):
    """An option or argument that cannot be."""


class InputError(ShadowprobeError):
    """A file whose content is wrong."""

    def __init__(self, path: Path | str, problem: str, *, line: int | None = None, field: str | None = None) -> None:
        self.path, self.problem, self.line, self.field = Path(path), problem, line, field
        place = f"{path}" if line is None else f"{path}:{line}"
        super().__init__(f"{place}: field `{field}`: {problem}" if field else f"{place}: {problem}")


class PluginError(ShadowprobeError):
    """A linker or probe that cannot be found or loaded."""


class LinkerError(ShadowprobeError):
    """A linker that cannot work at all."""


class ItemError(LinkerError):
    """A linker that failed on one snippet."""


class GerbilError(ShadowprobeError):
    """A GERBIL instance that is not there, or that refuses."""


class BuildError(ShadowprobeError):
    """A wiki or a setting with which no dataset can be built."""


class DownloadError(ShadowprobeError):
    """A dataset that could not be fetched."""


def missing_extra(linker: str, extra: str | None = None) -> LinkerError:
    """The error of a linker whose optional packages are not installed: it says what to type."""
    return LinkerError(f"`{linker}` needs its extra: pip install 'shadowprobe[{extra or linker}]'")


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint such as ` (did you mean `rel`?)`, or nothing where no known word is near."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean `{close[0]}`?)" if close else ""
