"""What the tests do on a real Ray cluster of several nodes on this machine; a process of its own, which says JSON.

`python ray_work.py OUT`: OUT is a build of which only the archive and the settings are there.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from build_world import MANNERS
from capture_world import CaptureWorld
from parts_work import fail, note_and_wait
from ray_crawl import build_and_lose, crawl_and_lose_node

from shadowprobe.base.jsonl import read_json
from shadowprobe.build import gather
from shadowprobe.build.captures.capture_index import find_captures
from shadowprobe.build.pipeline import Build
from shadowprobe.build.settings import BuildSettings
from shadowprobe.compute.executor import Executor, SerialExecutor, make_executor
from shadowprobe.compute.ray_cluster import LOOPBACK_ONLY, import_ray
from shadowprobe.errors import InputError, UsageError
from shadowprobe.running.api import make_linking_job

# Every process of the cluster inherits it.
MARK = "SHADOWPROBE_RAY_TEST"


def list_sockets() -> list[str]:
    """The addresses on which processes with the mark listen, as the kernel writes them."""
    inodes = set(_find_sockets())
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                found.append(fields[1].rpartition(":")[0])
    return sorted(set(found))


def _find_sockets() -> Iterator[str]:
    mark = f"{MARK}={os.environ[MARK]}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                links = [str(descriptor.readlink()) for descriptor in (process / "fd").iterdir()]
                yield from (link[8:-1] for link in links if link.startswith("socket:["))
        except OSError:
            continue


def run_build(out: Path, cluster: Any, node: Any, address: str) -> bool:
    """Builds from the archive; a node dies while pages are cut. Returns whether one was removed."""
    removed = False

    def kill_node(stage: str, done: int, _: int | None) -> None:
        nonlocal removed
        if stage == "snippets" and done == 2:
            cluster.remove_node(node, allow_graceful=False)
            removed = True

    # Every page is a part.
    gather.FEWEST_PAGES = 1
    settings = read_json(out / "build" / "settings.json", BuildSettings)
    with (
        make_executor("ray", address=address) as executor,
        Build(out, settings, MANNERS, from_archive=True, progress=kill_node, executor=executor) as build,
    ):
        build.run()
    return removed


def look_up_captures(folder: Path, executor: Executor) -> dict[str, bool]:
    """Looks pages up in an index of several tables, on the cluster and in this process."""
    world, urls = CaptureWorld(folder), [f"https://example.org/{number}" for number in range(4)]
    for day in range(1, 7):
        world.rows = []
        for number, url in enumerate(urls):
            # Of each page another table has the newest capture.
            world.add(url, b"page", f"2024-02-{(day + number) % 6 + 1:02d}")
        world.write_table(f"cc-index/part-{day}.parquet")
    index = str(folder / "cc-index")
    alone = list(find_captures(index, set(urls), "", SerialExecutor()))
    return {"found": [capture.time[:10] for _, capture in alone] == ["2024-02-06"] * 4} | {
        "same": list(find_captures(index, set(urls), "", executor)) == alone
    }


def main() -> None:
    """Does everything on one cluster, which takes most of the time to start."""
    os.environ[MARK] = str(os.getpid())
    out = Path(sys.argv[1])
    import_ray(**LOOPBACK_ONLY)
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    first, second, _ = (cluster.add_node(num_cpus=1) for _ in range(3))
    cluster.wait_for_nodes()
    report: dict[str, Any] = {"sockets": list_sockets()}
    report["node"] = crawl_and_lose_node(
        out.parent, cluster.address, lambda: cluster.remove_node(first, allow_graceful=False)
    )
    first, fourth = (cluster.add_node(num_cpus=1) for _ in range(2))
    cluster.wait_for_nodes()
    report["builds"] = build_and_lose(
        out.parent / "builds", cluster.address, lambda: cluster.remove_node(fourth, allow_graceful=False)
    )
    report["removed"] = run_build(out, cluster, first, cluster.address)
    with make_executor("ray", address=cluster.address) as executor:
        results = executor.map(note_and_wait, [(str(out), number) for number in range(16)])
        report["results"] = [next(results) for _ in range(2)]
        cluster.remove_node(second, allow_graceful=False)
        report["results"] += list(results)
        report["captures"] = look_up_captures(out.parent / "captures", executor)
        make_linking_job("tfidf", "mini", out=out.parent / "run-on-ray", batch_size=40, executor=executor).run()
        try:
            list(executor.map(fail, range(6)))
        except InputError as error:
            report["error"] = str(error)
    try:
        make_executor("ray", address=cluster.address, gpus=0.5)
    except UsageError as error:
        report["gpus"] = str(error)
    cluster.shutdown()
    print(json.dumps(report))


if __name__ == "__main__":
    main()
