"""Stores pages of an existing crawl in the archive of a build, as if they had been requested."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from shadowprobe.build.archive import key_of
from shadowprobe.build.captures.capture_index import find_base, find_captures
from shadowprobe.build.captures.warc_files import ReadCapture, read_captures
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.records import WebReference
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.shards import PageArchive
from shadowprobe.build.status import CAPTURES
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.web.politeness import Manners
from shadowprobe.compute.executor import Executor
from shadowprobe.net.failures import RefusedError
from shadowprobe.net.urls import normalise_url

NOT_FOUND = "no capture in the index"
# The reason in the status line of a redirect that nobody sent: the index has the page under this URL.
_ELSEWHERE = "Captured under another URL"


def fill_archive(
    references: Iterable[WebReference],
    archive: PageArchive,
    settings: BuildSettings,
    manners: Manners,
    progress: Callable[[int, int], None],
    executor: Executor,
) -> None:
    """Stores the captures of all followed pages that the archive does not know."""
    missing = {url for url in _list_urls(references) if not _is_known(archive, url)}
    if archive.read_only or not missing:
        return
    chosen = list(find_captures(settings.common_crawl, missing, settings.captured_before, executor))
    base = settings.warc_base or find_base(settings.common_crawl)
    progress(0, len(chosen))
    for number, read in enumerate(read_captures(chosen, base, manners), start=1):
        _store(archive, read)
        progress(number, len(chosen))
    if settings.captures_only:
        for url in sorted(missing):
            if archive.find(key_of("GET", url)) is None:
                archive.put_failure(key_of("GET", url), url, archive.failure(_failure_key(url)) or NOT_FOUND)


def count_captures(references: Iterable[WebReference], archive: PageArchive) -> Funnel:
    """Counts the pages that came from the index, and why others did not."""
    funnel = Funnel(CAPTURES)
    for url in _list_urls(references):
        entry = archive.find(key_of("GET", url))
        if entry is not None and entry.captured:
            funnel.keep()
        else:
            funnel.drop(archive.failure(_failure_key(url)) or NOT_FOUND)
    return funnel


def _list_urls(references: Iterable[WebReference]) -> Iterator[str]:
    """Lists the URLs of the followed references as they are requested, each once."""
    seen = set()
    for reference in references:
        if reference.is_followed and reference.url not in seen:
            seen.add(reference.url)
            try:
                yield normalise_url(reference.url)
            except RefusedError:
                continue


def _is_known(archive: PageArchive, url: str) -> bool:
    return archive.find(key_of("GET", url)) is not None or bool(archive.failure(_failure_key(url)))


def _failure_key(url: str) -> str:
    """Returns the key under which the archive has why a capture cannot be used; its page may still be requested."""
    return key_of("CAPTURE", url)


def _store(archive: PageArchive, read: ReadCapture) -> None:
    if read.page is None:
        archive.put_failure(_failure_key(read.url), read.url, read.failed)
        return
    target = _find_target(archive, read)
    if archive.find(key_of("GET", target)) is None:
        archive.put(key_of("GET", target), read.page._replace(url=target))
    if target != read.url:
        # As a crawl would find it: two URLs that lead to one page are one page for all later stages.
        redirect = Stored(read.url, 301, {"location": target}, b"", captured=read.page.captured, reason=_ELSEWHERE)
        archive.put(key_of("GET", read.url), redirect)


def _find_target(archive: PageArchive, read: ReadCapture) -> str:
    """Returns the URL under which a page is stored: that of the capture, unless this cannot be."""
    try:
        target = normalise_url(read.capture.url)
    except RefusedError:
        return read.url
    entry = archive.find(key_of("GET", target))
    return target if entry is None or entry.captured else read.url
