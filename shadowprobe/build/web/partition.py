"""One partition of a crawl on a cluster: a worker requests the pages of its hosts, and stores them."""

from __future__ import annotations

from collections import deque
from contextlib import closing
from functools import partial
from time import monotonic

from msgspec import Struct

from shadowprobe.build.shards import ShardPlace, Shards
from shadowprobe.build.warc_record import RecordPlace
from shadowprobe.build.web.outcomes import Known, Outcomes, Visit
from shadowprobe.build.web.politeness import Manners
from shadowprobe.build.web.requesting import HostState, Requester, Share
from shadowprobe.net.failures import ConnectionFailedError, NoResponseError, TimeLimitError
from shadowprobe.net.limits import MEGABYTE, Limits

# How long the server that shows that we are online may take.
ONLINE_SECONDS = 20.0


class CrawlPart(Struct, frozen=True):
    """The work of one worker until it should end: visits whose next request goes to one of its hosts.

    `others` are the records of other partitions that these visits need, `again` the records that are requested again,
    and `online` is the URL that is requested if many hosts are silent.
    """

    place: ShardPlace
    shards: tuple[int, ...]
    manners: Manners
    visits: list[Visit]
    others: dict[str, Known]
    hosts: dict[str, HostState]
    seconds: float
    again: frozenset[RecordPlace]
    online: str


def crawl_part(part: CrawlPart) -> dict[str, HostState]:
    """Requests the pages of a part; returns what the next round must know of its hosts.

    Visits that lead to other partitions, or that did not get their turn, are left to the next round.
    """
    with closing(Shards(part.place, only=part.shards)) as archive:
        outcomes = Outcomes(archive, part.manners, again=part.again, others=part.others)
        check = partial(is_online, part.online, part.manners.user_agent)
        share = Share(archive.is_own, part.hosts, part.seconds)
        requester = Requester(outcomes, part.manners, is_online=check, share=share)
        deque(requester.run_in_thread(part.visits), maxlen=0)
        # A loop's clock is the same as this one.
        return requester.list_hosts(monotonic())


def is_online(url: str, user_agent: str) -> bool:
    """True if any answer comes from the server of a URL."""
    import httpx

    from shadowprobe.net.blocking import BlockingClient

    with closing(BlockingClient(user_agent=user_agent, use_environment=False)) as client:
        try:
            client.send(httpx.Request("GET", url), Limits(max_bytes=MEGABYTE, seconds=ONLINE_SECONDS), follow=False)
        except NoResponseError as error:
            return not isinstance(error, ConnectionFailedError | TimeLimitError)
    return True
