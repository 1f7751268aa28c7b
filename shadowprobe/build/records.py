"""What the stages of a build hand to one another: a line of a file each."""

from __future__ import annotations

from msgspec import Struct


class FoundSpace(Struct, frozen=True):
    """A name that at least two articles bear, its disambiguation page, and their titles as the page lists them."""

    name: str
    page: str
    entities: tuple[str, ...]


class FoundEntity(Struct, frozen=True, omit_defaults=True):
    """An article that is an entity of some space, or of the tail."""

    title: str
    page_id: int
    commonness: int = 0
    qid: str | None = None
    redirects: tuple[str, ...] = ()


class Reference(Struct, frozen=True, omit_defaults=True):
    """A web page that the references of an article name, and the archived copy that stands beside it."""

    entity: str
    url: str
    archived: str | None = None


class Crawled(Struct, frozen=True, omit_defaults=True):
    """What became of a URL: the key under which the archive has its page, or why there is none."""

    url: str
    page: str | None = None
    failed: str = ""


class Cut(Struct, frozen=True, omit_defaults=True):
    """A snippet cut from a page: the words as they stood there, and the same with the space's name put in."""

    entity: str
    space: str
    text: str
    start: int
    end: int
    # The name that stood in the page in the place of the mention.
    written: str
    # The words as they stood in the page.
    original: str
    url: str
    # Which mention of the page it is, so that a longer context can be cut later.
    place: int
    sentences: int = 1
    # Where else in the text the space's name was put in, and what stood there.
    also: tuple[tuple[int, str], ...] = ()

    def restored(self) -> str:
        """The text with the names as they stood in the page put back, which must give the original."""
        text = self.text
        for start, written in sorted([(self.start, self.written), *self.also], reverse=True):
            text = text[:start] + written + text[start + len(self.space) :]
        return text


class PageText(Struct, frozen=True):
    """The running text of a page, whole, so that longer contexts can be cut later."""

    url: str
    text: str
