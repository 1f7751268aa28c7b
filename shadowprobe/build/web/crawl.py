"""Stage 4: the pages of the references, requested politely and stored in the archive.

The outcome of a URL is read from the archive alone, and pages are requested until the archive lacks nothing. So a
crawl that was killed continues where it stopped, and one that is done requests nothing and has the same result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from shadowprobe.build.records import Crawled, WebReference
from shadowprobe.build.shards import PageArchive
from shadowprobe.build.web.outcomes import Outcomes, collect_copies, find_passing, list_visits
from shadowprobe.build.web.politeness import Manners
from shadowprobe.build.web.requesting import Requester

Progress = Callable[[int, int], None]


def crawl(
    references: Iterable[WebReference],
    archive: PageArchive,
    manners: Manners,
    progress: Progress = lambda done, total: None,
    *,
    is_online: Callable[[], bool],
    retry: bool = False,
) -> Iterator[Crawled]:
    """Yields the outcome of each URL once, in the order of the references; for a dead page, that of its copy.

    With `retry`, failures that may pass are requested again. `is_online` is called, in another thread, where many
    hosts were silent.
    """
    copies = collect_copies(references)
    again = find_passing(archive, manners) if retry and not archive.read_only else frozenset()
    outcomes = Outcomes(archive, manners, again=again)
    # Outcomes that the archive has are looked up again when it is their turn: to keep all takes more memory than time.
    lacking = [
        visit
        for visit in list_visits(copies)
        if not isinstance(outcomes.look_up(visit), Crawled) and not archive.read_only
    ]
    awaited, ready = {visit.number for visit in lacking}, dict[int, Crawled]()
    done = len(copies) - len(lacking)
    progress(done, len(copies))
    coming = Requester(outcomes, manners, is_online=is_online).run_in_thread(lacking)
    try:
        for visit in list_visits(copies):
            while visit.number in awaited:
                number, outcome = next(coming)
                awaited.remove(number)
                ready[number] = outcome
                done += 1
                progress(done, len(copies))
                if not awaited:
                    # The last outcome is known a moment before it is stored.
                    deque(coming, maxlen=0)
            yield ready.pop(visit.number) if visit.number in ready else outcomes.read_outcome(visit)
    finally:
        coming.close()
