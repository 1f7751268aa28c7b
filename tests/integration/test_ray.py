"""Work on a real Ray cluster: several nodes on this machine, of which some are killed, and so is the driver."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from build_world import DAY, made, small

from shadowprobe import run

SUPPORT = Path(__file__).resolve().parents[1] / "support"
PATIENCE = 600.0
# Addresses as the kernel writes them: 127.0.0.1, and the same as an IPv6 address.
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def has_ray() -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'shadowprobe[ray]'")
    pytest.importorskip("pyftpdlib", reason="pyftpdlib is not installed: pip install 'shadowprobe[test]'")


class Done(NamedTuple):
    """A build without Ray, one on a cluster, and what the cluster did besides."""

    plain: dict[str, bytes | None]
    on_ray: dict[str, bytes | None]
    report: dict[str, Any]
    begun: list[int]
    stderr: str


def run_on_this_machine(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    # A worker of Ray imports what the driver imports.
    path = os.pathsep.join([str(SUPPORT), *filter(None, [os.environ.get("PYTHONPATH")])])
    inherited = {**os.environ, "PYTHONPATH": path, "SOURCE_DATE_EPOCH": DAY, **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=inherited, check=False)


def copy_archive(out: Path, copy: Path) -> Path:
    shutil.copytree(out / "build" / "archive", copy / "build" / "archive")
    shutil.copy(out / "build" / "settings.json", copy / "build")
    return copy


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("ray") / "plain"
    with small() as world:
        world.build(out)
    return out


@pytest.fixture(scope="module")
def done(built: Path) -> Done:
    copy = copy_archive(built, built.parent / "copy")
    found = run_on_this_machine([sys.executable, str(SUPPORT / "ray_work.py"), str(copy)])
    assert found.returncode == 0, found.stderr
    begun = [int(line) for line in (copy / "begun.txt").read_text().split()]
    (copy / "begun.txt").unlink()
    return Done(made(built), made(copy), json.loads(found.stdout), begun, found.stderr)


def test_a_build_on_a_cluster_that_loses_a_node_makes_the_same_bytes(done: Done) -> None:
    assert done.report["removed"]
    assert done.on_ray == done.plain


def test_a_crawl_on_a_cluster_that_loses_a_node_has_the_outcomes_of_one_process(done: Done) -> None:
    crawl = done.report["node"]
    assert crawl["same outcomes"]
    # Pages, a redirect loop over two workers, rules and copies of another worker, and a silent host are among them.
    expected = {"", "404", "404, its copy too", "redirect loop", "robots.txt forbids it", "no answer in 2 s"}
    assert expected <= set(crawl["failures"])


@pytest.mark.parametrize("where", [("node",), ("builds", "shared"), ("builds", "stored")])
def test_after_a_kill_no_stored_page_is_requested_again_and_hosts_have_their_delay(
    done: Done, where: tuple[str, ...]
) -> None:
    crawl = done.report
    for name in where:
        crawl = crawl[name]
    assert crawl["stored"] > 0
    assert crawl["repeated"] == 0
    # One request to a host at a time, and its delay in between, over all workers, rounds and kills.
    assert (crawl["overlaps"], crawl["too early"]) == (0, 0)


@pytest.mark.parametrize("where", ["shared", "stored"])
def test_a_command_that_is_killed_while_a_cluster_crawls_makes_the_same_bytes_in_the_end(
    done: Done, where: str
) -> None:
    build = done.report["builds"][where]
    assert build["killed"]
    assert build["error"] == ""
    assert build["bytes"]
    # What a dead worker had not stored yet is requested once more.
    assert build["most requests"] <= 2


def test_a_node_that_dies_while_it_crawls_into_a_storage_changes_no_byte(done: Done) -> None:
    assert done.report["builds"]["node"] == {"killed": True, "bytes": True}


def test_workers_without_a_shared_directory_store_and_read_the_pages_by_a_url(done: Done) -> None:
    report = done.report["builds"]
    assert [name for name in report["shared"]["files"] if name.startswith("web")]
    assert report["stored"]["files"] == ["storage.txt", "wiki.warc.gz", "wiki.warc.gz.index"]
    # The next command finds the storage by itself.
    assert report["from archive"] == {"requests": 0, "bytes": True}


def test_each_part_has_one_result_in_order_though_a_node_dies(done: Done) -> None:
    assert done.report["results"] == [number * 10 for number in range(16)]
    # Only what the dead node was doing is done again: at most one part at a time.
    assert sorted(set(done.begun)) == list(range(16))
    assert len(done.begun) <= 16 + 1


def test_a_run_on_a_cluster_writes_the_same_predictions(done: Done, built: Path, tmp_path: Path) -> None:
    run("tfidf", "mini", out=tmp_path / "run", batch_size=40)
    for name in ("predictions.jsonl", "results.json"):
        assert (built.parent / "run-on-ray" / name).read_bytes() == (tmp_path / "run" / name).read_bytes()


def test_an_index_of_captures_is_looked_up_on_a_cluster_with_the_same_choice(done: Done) -> None:
    assert done.report["captures"] == {"found": True, "same": True}


def test_an_error_of_a_part_is_the_one_that_a_single_process_would_raise(done: Done) -> None:
    assert done.report["error"] == "pages.jsonl:7: field `url`: is wrong"


def test_gpus_that_the_cluster_does_not_have_are_refused(done: Done) -> None:
    assert done.report["gpus"] == "--gpus 0.5: the Ray cluster has 0 GPUs"


def test_ray_listens_on_this_machine_only_and_prints_nothing(done: Done) -> None:
    assert done.report["sockets"]
    assert set(done.report["sockets"]) <= LOOPBACK
    assert done.stderr == ""


def test_the_command_line_starts_ray_and_ends_it(built: Path, tmp_path: Path) -> None:
    copy = copy_archive(built, tmp_path / "copy")
    command = [sys.executable, "-m", "shadowprobe", "build", "--out", str(copy), "--from-archive", "--json"]
    found = run_on_this_machine([*command, "--executor", "ray", "--workers", "2"])
    assert found.returncode == 0, found.stderr
    assert [stage["stage"] for stage in json.loads(found.stdout)][-1] == "assemble"
    assert len(found.stderr.splitlines()) == 1
    assert made(copy) == made(built)
