"""The commands that send requests, each as a process of its own, against a few of the hostile servers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_clients import TOKEN
from hostile_server import Behaviour, behaving, read_behaviours
from world import write_world

COMMANDS = {
    "a linker": "run -l tagme -d world -o url=URL -o timeout=5 -o retries=0 --keep-replies --out run",
    "an annotator": "run -l nif -d world -o url=URL -o timeout=5 -o retries=0 --out run",
    "a chat": "run -l llm -d world -o url=URL -o model=small -o timeout=5 -o retries=0 --out run",
    "gerbil": "gerbil run --url URL -a AGDISTIS -d world --timeout 5 --out run",
    "a wiki": "describe --wiki URL -d world --out run --contact tests@example.org",
    "a download": "run -l prior -d shadowlink --out run",
}
BEHAVIOURS = ("a body without an end", "100,000 objects in each other")
# An idle process of ours with all its libraries has 150.
MOST_MEGABYTES = 600


# In a small process of its own: to the memory of a process counts that of the one it was forked from.
WATCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL).returncode
with open(sys.argv[1], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""


def measure(command: list[str], directory: Path, environment: dict[str, str]) -> tuple[int, str, float]:
    """Runs a command; returns its exit code, what it wrote to stderr, and its peak of memory in megabytes."""
    peak = directory / "peak"
    watched = [sys.executable, "-c", WATCHER, str(peak), *command]
    ended = subprocess.run(
        watched, cwd=directory, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stderr, int(peak.read_text()) / 1024


@pytest.mark.parametrize("command", COMMANDS)
def test_no_server_can_harm_a_command(command: str, tmp_path: Path) -> None:
    behaviours = {behaviour.name: behaviour for behaviour in read_behaviours()}
    useful = Behaviour("useful", body="{}")
    for name in BEHAVIOURS:
        directory = tmp_path / name
        directory.mkdir()
        write_world(directory / "world")
        with (
            behaving(useful, {}, host="127.0.0.2") as elsewhere,
            behaving(behaviours[name], {"ELSEWHERE": elsewhere.url, "TOKEN": TOKEN}) as server,
        ):
            arguments = COMMANDS[command].replace("URL", server.url).split()
            environment = {
                "SHADOWPROBE_SHADOWLINK_URL": server.url,
                "SHADOWPROBE_CACHE": str(directory / "cache"),
                **{f"SHADOWPROBE_{linker}_TOKEN": TOKEN for linker in ("TAGME", "LLM")},
            }
            code, stderr, peak = measure([sys.executable, "-m", "shadowprobe", *arguments], directory, environment)
            assert server.requests
            assert elsewhere.requests == []
        assert code in {1, 2}, stderr
        assert "Traceback" not in stderr
        assert stderr.splitlines()
        assert max(map(len, stderr.splitlines())) < 700, stderr
        assert peak < MOST_MEGABYTES
        if command in {"a linker", "a chat"}:
            written = [path for path in (directory / "run").rglob("*") if path.is_file()]
            assert TOKEN not in stderr + "".join(path.read_text() for path in written)
