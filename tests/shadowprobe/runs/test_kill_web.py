"""A run against a web service that is killed again and again ends as if it had never been."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from service import Asked, Reply, Service, serving

from shadowprobe import Prediction, open_dataset
from shadowprobe.base.jsonl import read_lines

KILLS, CONCURRENCY, SPACES = 10, 8, 80


def rel(_: int, asked: Asked) -> Reply:
    """Takes a moment, then answers with the name itself, or not at all, as the length of the text has it."""
    time.sleep(0.004)
    if not whole(asked):
        return 400, {}, b""
    text, ((start, length),) = asked.json["text"], asked.json["spans"]
    name, score = text[start : start + length], 0.25 + len(text) % 64 / 128
    rows = [[start, length, name, name, score, 0.0, "NULL"]] if len(text) % 5 else []
    return 200, {}, json.dumps(rows).encode()


def whole(asked: Asked) -> bool:
    """False for a request in the midst of which its sender was killed."""
    return len(asked.body) == int(asked.headers["content-length"])


def command(url: str, out: str) -> list[str]:
    options = ["--linker", "rel", "-o", f"url={url}", "-o", f"concurrency={CONCURRENCY}"]
    dataset = ["--dataset", "mini", "--limit", str(SPACES)]
    return [sys.executable, "-m", "shadowprobe", "run", *options, *dataset, "--out", out]


def whole_lines(path: Path) -> bytes:
    """What a file holds up to the end of its last whole line."""
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1]


def read_lines_of(run: Path) -> list[bytes]:
    return (run / "predictions.jsonl").read_bytes().splitlines()


def killed_at(moment: int, process: subprocess.Popen[bytes], service: Service, wait: float) -> bool:
    """Kills a run some time after its service was asked so often; False where it had ended by then."""
    while process.poll() is None and len(service.requests) < moment:
        time.sleep(0.001)
    # The point is one of its work, so that a slow machine gets as far as a fast one; the rest is chance.
    time.sleep(wait)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_kill_9_in_the_middle_of_a_run_against_a_service_loses_no_answer_and_asks_for_none_twice(
    tmp_path: Path,
) -> None:
    snippets = list(open_dataset("mini").first(SPACES).snippets())
    text_of = {snippet.id: snippet.text for snippet in snippets}
    predictions = tmp_path / "killed" / "predictions.jsonl"
    generator = random.Random(7)
    with serving(rel) as service:
        kept = b""
        for _ in range(KILLS):
            before = len(service.requests)
            process = subprocess.Popen(
                command(service.url, "killed"), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            assert killed_at(before + generator.randrange(1, 100), process, service, generator.uniform(0, 0.03))
            earlier = {text_of[json.loads(line)["id"]] for line in kept.splitlines()}
            assert not earlier & {asked.json["text"] for asked in service.requests[before:] if whole(asked)}
            found = whole_lines(predictions)
            assert found.startswith(kept)
            kept = found
        # Some answers got through and not all of them: the kills were in the middle.
        assert CONCURRENCY < kept.count(b"\n") < len(snippets)
        for out in ("killed", "undisturbed"):
            finished = subprocess.run(
                command(service.url, out), cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert finished.returncode == 0, finished.stderr
        # Each kill may cost the requests under way and a few answers that were not yet written.
        assert len(service.requests) <= 2 * len(snippets) + KILLS * 3 * CONCURRENCY
    assert whole_lines(predictions).startswith(kept)
    stored = [prediction.id for _, prediction in read_lines(predictions, Prediction)]
    assert sorted(stored) == sorted(snippet.id for snippet in snippets)
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    # The lines are in the order in which the answers arrived.
    assert sorted(read_lines_of(killed)) == sorted(read_lines_of(undisturbed))
    assert (killed / "results.json").read_bytes() == (undisturbed / "results.json").read_bytes()
    assert not (tmp_path / "killed" / "failures.jsonl").exists()
