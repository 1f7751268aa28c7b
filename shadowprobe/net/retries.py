"""When a request is sent again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Statuses that may be gone at the next try.
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The pause in seconds that a response asks for, given as a number or as a date."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (OverflowError, TypeError, ValueError):
        return None


def pause_before(retry: int, first: float, longest: float) -> float:
    """A pause that doubles with every retry, from 0 on, up to a longest one; half of it is random."""
    return min(longest, first * 2.0**retry) * random.uniform(0.5, 1.5)
