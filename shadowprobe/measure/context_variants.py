"""Less, more, or other words around a mention: a snippet varied in what it lets a linker read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from shadowprobe.base.model import Snippet
from shadowprobe.base.prose import Prose, replace_spans
from shadowprobe.base.spans import Span, find_name
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.dataset.kept_pages import Cut, kept_cuts, kept_pages

_WORD = re.compile(r"\S+")


def cut_to(snippet: Snippet, span: Span) -> Snippet:
    """The snippet cut to a part of its text that holds the mention."""
    text = snippet.text[span.start : span.end]
    return replace(snippet, text=text, start=snippet.start - span.start, end=snippet.end - span.start)


def cut_to_sentence(snippet: Snippet, prose: Prose) -> Snippet:
    """The sentence of the mention alone."""
    mention = Span(snippet.start, snippet.end)
    around = [s for s in prose.sentences(snippet.text, [mention]) if s.end > mention.start and s.start < mention.end]
    return cut_to(snippet, Span(min(around[0].start, mention.start), max(around[-1].end, mention.end)))


def cut_to_words(snippet: Snippet, words: int) -> Snippet:
    """The mention with at most so many words of its text on each side."""
    before = list(_WORD.finditer(snippet.text, 0, snippet.start))
    after = list(_WORD.finditer(snippet.text, snippet.end))
    # A bracket or an ending that touches the mention belongs to it, and is no word of the context.
    opens = bool(before) and before[-1].end() == snippet.start
    closes = bool(after) and after[0].start() == snippet.end
    before, after = before[-(words + opens) :], after[: words + closes]
    start = before[0].start() if before else snippet.start
    return cut_to(snippet, Span(start, after[-1].end() if after else snippet.end))


def mask_mention(snippet: Snippet, word: str) -> Snippet:
    """The snippet with a word in the place of the mention, and wherever else its text has the same name."""
    places = [Span(snippet.start, snippet.end)]
    for place in find_name(snippet.text, snippet.mention):
        if all(place.end <= taken.start or place.start >= taken.end for taken in places):
            places.append(place)
    places.sort()
    before = sum(place.start < snippet.start for place in places)
    start = snippet.start + before * (len(word) - len(snippet.mention))
    text = replace_spans(snippet.text, [(place, word) for place in places])
    return replace(snippet, text=text, start=start, end=start + len(word))


def extend_snippets(snippets: Sequence[Snippet], dataset: Dataset, words: int) -> Iterator[Snippet]:
    """The snippets with at most so many further words of their page on each side, where a build has kept the page.

    The full name, which stands in the page, gives way to the ambiguous one as it does in the snippet. A snippet whose
    words stand twice in the page has no certain place there and is left out.
    """
    wanted = {(snippet.source, snippet.text): snippet for snippet in snippets if snippet.source}
    cuts: dict[str, list[Cut]] = {}
    for cut in kept_cuts(dataset.path):
        if (cut.url, cut.text) in wanted:
            cuts.setdefault(cut.url, []).append(cut)
    for page in kept_pages(dataset.path) if cuts else ():
        for cut in cuts.pop(page.url, ()):
            if page.text.count(cut.original) == 1:
                yield _extend(wanted[cut.url, cut.text], cut, page.text, words)


def _extend(snippet: Snippet, cut: Cut, page: str, words: int) -> Snippet:
    place = page.index(cut.original)
    before = list(_WORD.finditer(page, 0, place))[-words:]
    after = list(_WORD.finditer(page, place + len(cut.original)))[:words]
    left = page[before[0].start() : place] if before else ""
    right = page[place + len(cut.original) : after[-1].end()] if after else ""
    # The full title first: where the page writes the name without its qualifier, the title would give it away.
    for full in (cut.entity, cut.written):
        left, right = (_rename(side, full, snippet.mention) for side in (left, right))
    start = len(left) + snippet.start
    return replace(snippet, text=left + snippet.text + right, start=start, end=start + len(snippet.mention))


def _rename(text: str, full: str, name: str) -> str:
    return replace_spans(text, [(place, name) for place in find_name(text, full)])
