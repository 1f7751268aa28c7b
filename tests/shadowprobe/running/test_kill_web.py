"""A run against a web service that is killed again and again ends as if it had never been."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from killing import WebRun, kill_repeatedly, make_victim


@pytest.mark.slow
def test_kill_9_in_the_middle_of_a_run_against_a_service_loses_no_answer_and_asks_for_none_twice(
    tmp_path: Path,
) -> None:
    with make_victim(WebRun.name, tmp_path) as victim:
        report = kill_repeatedly(victim, 10, Random(7))
    assert report.problems == ()
    # Some answers got through and not all of them: the kills were in the middle.
    assert WebRun.concurrency < max(report.stored) < report.needed
    assert not list(tmp_path.glob("*/failures.jsonl"))
