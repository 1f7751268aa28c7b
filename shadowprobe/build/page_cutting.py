"""Cuts the snippets of stored web pages: a pure function, so that any worker can do it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from shadowprobe.base.languages import Language
from shadowprobe.build.snippets import Cutter
from shadowprobe.build.warc_record import RecordPlace, read_response
from shadowprobe.build.web.charset import decode_page
from shadowprobe.build.web.main_text import main_text
from shadowprobe.dataset.kept_pages import Cut, PageText

# What takes seconds to import: a pool of processes does it once for all workers.
WORKER_IMPORTS = ("spacy.pipeline", "trafilatura", "py3langid.langid", "warcio.archiveiterator", "w3lib.encoding")
NO_TEXT = "a page without running text"


class CutSettings(Struct, frozen=True):
    """What all pages have in common: the language, the sentences around a mention, and the most snippets."""

    language: str
    sentences: int
    most: int


class Wanted(Struct, frozen=True):
    """An entity of a space that a page may name, the others of the space, and those of them that cite the page."""

    title: str
    space: str
    others: tuple[str, ...]
    citing: tuple[str, ...]


class PageWork(Struct, frozen=True):
    """A stored page, and what is cut from it."""

    place: RecordPlace
    url: str
    wanted: tuple[Wanted, ...]


class CutPart(Struct):
    """The snippets of some pages, the texts of the pages that have any, and the counts of what was dropped."""

    pages: int = 0
    cuts: list[Cut] = []
    texts: list[PageText] = []
    dropped: dict[str, int] = {}


def cut_pages(settings: CutSettings, works: Sequence[PageWork]) -> CutPart:
    """Cuts the snippets of some pages."""
    part, dropped = CutPart(len(works)), Counter[str]()
    for work in works:
        text, cuts = cut_page(settings, work, dropped)
        part.cuts += cuts
        part.texts += [PageText(work.url, text)] if cuts else []
    part.dropped = dict(dropped)
    return part


def cut_page(settings: CutSettings, work: PageWork, dropped: Counter[str]) -> tuple[str, list[Cut]]:
    """Reads a page, and returns its main text and its snippets."""
    text = main_text(decode_page(read_response(work.place)), work.url)
    if not text:
        dropped[NO_TEXT] += 1
        return "", []
    cutter = _get_cutter(settings)
    return text, [
        cut
        for each in work.wanted
        for cut in cutter.cut(text, each.title, each.space, each.others, work.url, dropped, citing=each.citing)
    ]


@lru_cache(1)
def _get_cutter(settings: CutSettings) -> Cutter:
    return Cutter(Language(settings.language), sentences=settings.sentences, most=settings.most)
