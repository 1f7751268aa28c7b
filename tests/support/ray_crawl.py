"""Crawls on a real Ray cluster of which a node, or the process that drives it, is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from build_world import CITED, SAID, Small, made, page, small, small_wiki
from crawl_world import HOSTS, PAGES, count_requests, keep_silent, make_references
from crawling import manners
from ftp_storage import serving_ftp
from web_pages import Asked, Web, redirect, web
from wiki_standin import StandIn

from shadowprobe.build.archive import Archive
from shadowprobe.build.shards import ShardPlace, Shards
from shadowprobe.build.web.cluster_crawl import ClusterCrawl
from shadowprobe.build.web.crawl import crawl
from shadowprobe.compute.executor import make_executor

# Between two requests to a host.
DELAY = 0.1
# When that many requests have come, somebody is killed.
REQUESTS = 25
PATIENCE = 200.0


class Kill:
    """Kills somebody, in another thread, at the request of this number or path; notes what is stored then."""

    def __init__(self, folder: Path, at: int | str) -> None:
        self._folder, self._at = folder, at
        self._number = 0
        self._stored: set[str] = set()
        self._moment = 0.0

    def arm(self, kill: Callable[[], object]) -> Kill:
        """Says whom to kill."""
        self._thread = threading.Thread(target=self._run, args=(kill,))
        return self

    def __call__(self, path: str) -> None:
        self._number += 1
        if self._at in {self._number, path} and self._thread.ident is None:
            self._thread.start()

    def _run(self, kill: Callable[[], object]) -> None:
        kill()
        files = [path for path in self._folder.rglob("*.index") if not path.name.startswith("wiki")]
        lines = [line for path in files for line in path.read_text().splitlines()]
        self._stored = {json.loads(line)["key"].partition("://")[2] for line in lines if line.endswith("}")}
        self._moment = time.monotonic()

    @property
    def is_done(self) -> bool:
        """True after the kill."""
        return self._moment > 0

    def count(self, served: Web) -> dict[str, int]:
        """Counts what was stored at the kill, and the requests for it afterwards."""
        if self._thread.ident is not None:
            self._thread.join()
        after = [f"{each.host}:{served.port}{each.path}" for each in served.asked if each.began > self._moment]
        return {"stored": len(self._stored), "repeated": sum(each in self._stored for each in after)}


def check_hosts(asked: list[Asked]) -> dict[str, int]:
    """Counts requests to a host that began before another one ended, and before its delay was over."""
    faults = {"overlaps": 0, "too early": 0}
    for host in {each.host for each in asked}:
        times = sorted((each.began, each.ended) for each in asked if each.host == host)
        faults["overlaps"] += sum(after[0] < before[1] for before, after in pairwise(times))
        faults["too early"] += sum(after[0] - before[0] < DELAY for before, after in pairwise(times))
    return faults


def crawl_and_lose_node(folder: Path, address: str, kill_node: Callable[[], object]) -> dict[str, Any]:
    """Crawls on the cluster, which loses a node in the middle; the same again in this process."""
    place = ShardPlace(str(folder / "web.warc.gz"), 4, "tests")
    polite = manners(delay=DELAY, timeout=2.0, retries=0)
    with web(dict(PAGES), HOSTS + 1) as served:
        asked = make_references(served, place)
        # A page of a host that keeps silent, whose worker then asks the host of `online`.
        served.pages["127.0.0.2/5"] = keep_silent
        served.watch = kill = Kill(folder, REQUESTS).arm(kill_node)
        with make_executor("ray", address=address) as executor, closing(Shards(place)) as archive:
            work = ClusterCrawl(archive, polite, executor, online=served.url("/online", HOSTS + 1))
            found = list(work.run(asked, lambda done, of: None))
        asked_of = [each for each in served.asked if each.path != "/online"]
        counts = kill.count(served)
        with closing(Archive(folder / "alone.warc.gz", software="tests")) as archive:
            alone = list(crawl(asked, archive, manners(timeout=2.0, retries=0), is_online=lambda: True))
    return {
        "same outcomes": found == alone,
        "failures": sorted({each.failed for each in found}),
        **counts,
        "requests": len(asked_of),
        **check_hosts(asked_of),
    }


def make_wiki(served: Web) -> StandIn:
    """The small wiki, whose articles cite pages on several hosts, some of them by a redirect to another host."""
    standin, port = small_wiki(served), served.port
    for number, path in enumerate(sorted({path for paths in CITED.values() for path in paths})):
        host, target = f"127.0.0.{number % 4 + 1}", f"127.0.0.{number % 4 + 2}"
        if number % 3 == 1 and path in SAID:
            served.pages[f"{host}{path}"] = redirect(f"http://{target}:{port}{path}")
            served.pages[f"{target}{path}"] = page(*SAID[path])
        for title, text in standin.texts.items():
            standin.texts[title] = text.replace(f'http://127.0.0.1:{port}{path}"', f'http://{host}:{port}{path}"')
    return standin


def make_command(world: Small, out: Path, *more: str) -> list[str]:
    """A build of the small wiki."""
    command = [sys.executable, "-m", "shadowprobe", "build", "--wiki", world.url, "--out", str(out), "--name", "small"]
    command += ["--contact", "tests@example.org", "--allow-network", "127.0.0.0/8", "--delay", str(DELAY)]
    return [*command, *more]


def build_and_lose(folder: Path, address: str, kill_node: Callable[[], object]) -> dict[str, Any]:
    """Builds on the cluster; the command is killed in the middle of the crawl and repeated, or a node is killed.

    Once the machines share the directory of the build, and twice they have only an FTP server.
    """
    with small(make_wiki, hosts=5) as world, serving_ftp(folder / "ftp") as ftp:
        world.build(folder / "plain")
        # By the eighth request some pages are stored: each of the five hosts has a robots.txt and some pages.
        report = {"shared": _kill_and_repeat(world, folder / "shared", Kill(folder / "shared", 8), address)}
        # A page of the tail: those of the first crawl are on the storage then.
        kill, more = Kill(ftp.folder, "/tarn"), ("--storage", f"{ftp.url}/pages")
        report["stored"] = _kill_and_repeat(world, folder / "stored", kill, address, *more)
        world.web.watch = kill = Kill(ftp.folder, 8).arm(kill_node)
        with make_executor("ray", address=address) as executor:
            world.build(folder / "node", executor=executor, storage=f"{ftp.url}/other")
        report["node"] = {"killed": kill.is_done, "bytes": made(folder / "node") == made(folder / "plain")}
        world.forget()
        world.build(folder / "stored", from_archive=True)
        report["from archive"] = {"requests": world.asked, "bytes": made(folder / "stored") == made(folder / "plain")}
    return report


def _kill_and_repeat(world: Small, out: Path, kill: Kill, address: str, *more: str) -> dict[str, Any]:
    world.forget()
    command = make_command(world, out, "--executor", "ray", "--ray-address", address, *more)
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    world.web.watch = kill.arm(driver.kill)
    driver.communicate(timeout=PATIENCE)
    again = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    return {
        "killed": driver.returncode == -signal.SIGKILL,
        "error": again.stderr if again.returncode else "",
        "bytes": made(out) == made(out.with_name("plain")),
        **kill.count(world.web),
        "most requests": max(count_requests(world.web).values()),
        "files": sorted(path.name for path in (out / "build" / "archive").iterdir()),
        **check_hosts(world.web.asked),
    }
