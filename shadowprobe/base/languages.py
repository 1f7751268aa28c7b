"""What differs between the languages of wikis: words for lists, disambiguation and references, neutral contexts."""

from __future__ import annotations

import re
import tomllib
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct

from shadowprobe.base.files import BOM, open_for_reading
from shadowprobe.base.spans import find_name
from shadowprobe.errors import BuildError, InputError

PLACE = "{name}"
# Written without spaces, so that a text does not show where a word or a name ends.
UNSPACED = frozenset({"gan", "ja", "km", "lo", "lzh", "my", "th", "wuu", "yue", "zh"})


class Language(Struct, frozen=True, dict=True):
    """The words of one language; a language that we do not know has none, and its pages are taken as they are."""

    code: str
    # What stands behind the name in the title of a disambiguation page, in brackets.
    suffixes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    # How the titles of lists begin.
    lists: tuple[str, ...] = ()
    # The headings of the sections that hold references.
    references: tuple[str, ...] = ()
    # Sentences that say nothing of what the name in them may mean.
    neutral: tuple[str, ...] = ()
    # A word that can stand in the place of any name and names nothing itself.
    anything: str = "___"

    def name_of(self, page: str) -> str:
        """The title of a disambiguation page without its suffix."""
        match = self._suffix.search(page) if self.suffixes else None
        return page[: match.start()] if match else page

    @cached_property
    def _suffix(self) -> re.Pattern[str]:
        words = "|".join(re.escape(word) for word in self.suffixes)
        return re.compile(rf"\s*\((?:{words})\)$", re.IGNORECASE)

    def is_list(self, title: str) -> bool:
        """True for the title of a list of articles."""
        return title.startswith(self.lists) if self.lists else False


def known_languages() -> list[str]:
    """The languages that have a file."""
    folder = files("shadowprobe.base") / "languages_data"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def words_of(code: str) -> Language:
    """What we know of a language, which may be nothing."""
    code = code.casefold()
    # A code comes from a wiki, and is looked for only among the files that there are.
    if code not in known_languages():
        return Language(code)
    entry = files("shadowprobe.base") / "languages_data" / f"{code}.toml"
    return msgspec.convert({"code": code, **tomllib.loads(entry.read_text(encoding="utf-8"))}, Language)


def read_language(code: str, templates: Path | None = None) -> Language:
    """The words of a language, with the neutral contexts of a file of the user's in place of ours."""
    language = words_of(code)
    if language.code.partition("-")[0] in UNSPACED:
        raise BuildError(
            f"`{code}` is written without spaces between words, and names are found as whole words: no dataset can be"
            " built in this language"
        )
    if templates is not None:
        language = msgspec.structs.replace(language, neutral=read_templates(templates))
    if not language.neutral:
        raise BuildError(
            f"no neutral contexts are known for `{code}` (only for {', '.join(known_languages())}): give a file with"
            f" one sentence a line, {PLACE} in the place of the name, by --templates"
        )
    return language


def read_templates(path: Path) -> tuple[str, ...]:
    """Reads neutral contexts from a file with one sentence a line."""
    with open_for_reading(path) as file:
        content: bytes = file.read().removeprefix(BOM)
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(path, f"is not UTF-8 ({error.reason})") from None
    templates = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if line.count(PLACE) != 1:
            raise InputError(path, f"must hold {PLACE} once", line=number)
        if not find_name(line, PLACE):
            raise InputError(path, f"{PLACE} must stand by itself, without a letter or digit beside it", line=number)
        templates.append(line.strip())
    if not templates:
        raise InputError(path, "holds no sentence")
    return tuple(templates)
