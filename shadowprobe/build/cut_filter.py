"""Drops the snippets that only a comparison with all others, or with the wiki, shows to be unusable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

from shadowprobe.build.longer_names import LONGER_NAME, LongerNames
from shadowprobe.build.near_duplicates import NearDuplicates
from shadowprobe.build.qualifiers import SHARED_SENTENCE, SharedSentences
from shadowprobe.build.record_file import TemporaryRecords
from shadowprobe.build.wiki.wiki_api import Wiki
from shadowprobe.dataset.kept_pages import Cut


def filter_cuts(
    cuts: Iterable[Cut],
    wiki: Wiki,
    near_duplicates: NearDuplicates,
    dropped: Counter[str],
    directory: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[Cut]:
    """Yields the snippets whose mention is no longer name, whose sentence is no other entity's, and that are new.

    The snippets wait in a temporary file of the directory: each of the first two rules needs all of them.
    """
    with closing(TemporaryRecords(directory, Cut)) as waiting, closing(LongerNames(directory)) as longer:
        for cut in cuts:
            waiting.add(cut)
            longer.add(cut)
        longer.look_up(wiki, progress)
        shared, is_longer = SharedSentences(), bytearray()
        for cut in waiting:
            is_longer.append(longer.mean_another(cut))
            if not is_longer[-1]:
                shared.add(cut)
        yield from near_duplicates.drop(_drop_known(waiting, is_longer, shared, dropped), dropped)


def _drop_known(
    cuts: Iterable[Cut], is_longer: bytearray, shared: SharedSentences, dropped: Counter[str]
) -> Iterator[Cut]:
    for cut, has_longer_name in zip(cuts, is_longer, strict=True):
        if has_longer_name:
            dropped[LONGER_NAME] += 1
        elif cut in shared:
            dropped[SHARED_SENTENCE] += 1
        else:
            yield cut
