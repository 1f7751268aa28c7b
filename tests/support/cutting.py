"""How the tests of snippets cut: one page, one entity, and words enough around any name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shadowprobe.base.languages import Language
from shadowprobe.build.snippets import Cutter
from shadowprobe.dataset.kept_pages import Cut

URL = "https://example.org/shirts"
ENGLISH = Cutter(Language("en"))
# Enough words around any name, with common ones among them.
BEFORE, AFTER = "On that day the people of the town saw", "in the old market hall, which was cold."


def cut(
    text: str,
    entity: str = "Paul Smith",
    space: str = "Smith",
    others: Sequence[str] = (),
    cutter: Cutter = ENGLISH,
    citing: Sequence[str] = (),
) -> tuple[list[Cut], dict[str, int]]:
    """The snippets of a page, and why there are no more."""
    dropped: Counter[str] = Counter()
    return cutter.cut(text, entity, space, others, URL, dropped, citing=citing), dict(dropped)


def around(name: str) -> str:
    """A sentence with a name in the middle of it."""
    return f"{BEFORE} {name} {AFTER}"
