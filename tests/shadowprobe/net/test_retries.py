"""When a request is sent again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from shadowprobe.net.retries import pause_before, retry_after


def test_retry_after_is_a_number_or_a_date() -> None:
    assert retry_after({"retry-after": "17"}) == 17.0
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    assert 3590 < (retry_after({"retry-after": later}) or 0) <= 3600
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    for rubbish in ("soon", "Mon, 01 Jan 2020 00:00:00 +99999999999999999999"):
        assert retry_after({"retry-after": rubbish}) is None
    assert retry_after({}) is None


def test_a_pause_doubles_up_to_the_longest_and_half_of_it_is_random(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def uniform(low: float, high: float) -> float:
        limits.append((low, high))
        return 1.0

    monkeypatch.setattr("random.uniform", uniform)
    assert [pause_before(retry, first=0.5, longest=3.0) for retry in range(4)] == [0.5, 1.0, 2.0, 3.0]
    assert limits == [(0.5, 1.5)] * 4
