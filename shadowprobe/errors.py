"""The exceptions, with messages that are written for the user.

ShadowprobeError
├── UsageError         an invalid option or argument
├── InputError         a file whose content is wrong: names file, line and field
├── PluginError        a linker or probe that cannot be found or loaded
├── LinkerError        a linker that cannot work at all: missing extra, token, service
│   └── ItemError      a linker that failed on one snippet; the run continues
├── GerbilError        a GERBIL instance that cannot be reached, or that refuses
├── BuildError         a wiki or a setting with which no dataset can be built
└── DownloadError      a dataset that could not be downloaded
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

# The packages of an extra by their import names, where not one command but several need it.
EXTRAS = {
    "build": frozenset(
        {"lxml", "lxml_html_clean", "mwclient", "protego", "py3langid", "requests", "spacy", "trafilatura"}
        | {"w3lib", "warcio"}
    ),
    "hf": frozenset({"datasets"}),
}
# Characters of a message.
LONGEST = 600


# The modules that are made from `file.py:Class` begin so.
USER_MODULE = "shadowprobe_user_"


class ShadowprobeError(Exception):
    """Base of all errors that a user can cause and fix; the command line prints the message and exits with 2."""


class UsageError(ShadowprobeError):
    """An invalid option or argument."""


class InputError(ShadowprobeError):
    """A file whose content is wrong."""

    def __init__(self, path: Path | str, problem: str, *, line: int | None = None, field: str | None = None) -> None:
        self.path, self.problem, self.line, self.field = Path(path), problem, line, field
        place = f"{path}" if line is None else f"{path}:{line}"
        super().__init__(f"{place}: field `{field}`: {problem}" if field else f"{place}: {problem}")

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker process sends its errors to the main process.
        return partial(type(self), line=self.line, field=self.field), (self.path, self.problem)


class PluginError(ShadowprobeError):
    """A linker or probe that cannot be found or loaded."""


class LinkerError(ShadowprobeError):
    """A linker that cannot work at all."""


class ItemError(LinkerError):
    """A linker that failed on one snippet."""


class GerbilError(ShadowprobeError):
    """A GERBIL instance that cannot be reached, or that refuses."""


class BuildError(ShadowprobeError):
    """A wiki or a setting with which no dataset can be built."""


class DownloadError(ShadowprobeError):
    """A dataset that could not be downloaded."""


def format_error(error: BaseException) -> str:
    """Formats an error on one line: its message, with class and place if it was not written for the user."""
    if isinstance(error, ShadowprobeError):
        return abridge(str(error))
    return abridge(f"{type(error).__name__}: {error}{find_place(error)}")


def find_place(error: BaseException) -> str:
    """Says where in a file of the user an error was raised, as in ` at mine.py:12`; empty if in none."""
    place, trace = "", error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals.get("__name__", "").startswith(USER_MODULE):
            path = Path(frame.f_code.co_filename)
            # A message may be published with its run, and must not show the folders of its user.
            place = f" at {path.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def abridge(text: str) -> str:
    """A message as one line of limited length that every file can hold; what to do is often said at its end."""
    # Half of a surrogate pair, as a service may send it, cannot be encoded.
    line = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST * 2 // 3]} ... {line[-LONGEST // 3 :]}"


def shorten(text: str, length: int = 200) -> str:
    """Returns the beginning of a text on one line, for a message."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[:length]}..."


def missing_extra(linker: str) -> LinkerError:
    """Makes the error for missing optional packages of a linker; it says what to type."""
    return LinkerError(f"`{linker}` needs its extra: pip install 'shadowprobe[{linker}]'")


def missing_packages(error: ModuleNotFoundError) -> UsageError | None:
    """The error of a command whose optional packages are not installed; None for any other package."""
    package = (error.name or "").partition(".")[0]
    extra = next((extra for extra, packages in EXTRAS.items() if package in packages), None)
    return UsageError(f"`{package}` is not installed: pip install 'shadowprobe[{extra}]'") if extra else None


def nearest(word: str, known: Iterable[str]) -> str:
    """Returns a hint such as ` (did you mean `rel`?)`, or an empty string if no known word is similar."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean `{close[0]}`?)" if close else ""
