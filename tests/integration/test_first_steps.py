"""What a new user does with the README alone: a leaderboard of four systems on two datasets in three commands."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
SECTION = README.partition("## A leaderboard\n")[2].partition("\n## ")[0]
COMMANDS = re.findall(r"^shadowprobe ([^#\n]+)", SECTION, re.M)
PATIENCE = 300


def run(folder: Path, line: str) -> str:
    """What a command of the README prints; a shell would replace the star."""
    words = [
        word
        for given in shlex.split(line)
        for word in (sorted(str(p.relative_to(folder)) for p in folder.glob(given)) if "*" in given else [given])
    ]
    command = [sys.executable, "-m", "shadowprobe", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_three_commands_lead_to_a_leaderboard_of_four_systems_on_two_datasets(tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the extra [serve] is not installed")
    assert [line.split()[0] for line in COMMANDS] == ["run", "table", "view"]
    run(tmp_path, COMMANDS[0])
    summary = run(tmp_path, COMMANDS[1])
    for system in ("prior", "bm25", "tfidf", "blend"):
        for dataset in ("mini", "places"):
            assert re.search(rf"^{dataset} +{system} ", summary, re.M), (system, dataset)
    command = [sys.executable, "-m", "shadowprobe", *shlex.split(COMMANDS[2]), "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+/", server.stderr.readline() if server.stderr else "")
            assert found is not None
            with build_opener(ProxyHandler({})).open(f"{found[0]}runs.json", timeout=60) as reply:
                runs = json.load(reply)["runs"]
        finally:
            server.send_signal(signal.SIGINT)
    shown = sorted((one["system"].partition(" ")[0], one["data"], one["state"]) for one in runs)
    assert shown == sorted(
        (system, dataset, "finished")
        for system in ("prior", "bm25", "tfidf", "blend")
        for dataset in ("mini", "places")
    )
