"""The limits of one request, the same for every user of the client."""

from __future__ import annotations

from msgspec import Struct

MEGABYTE = 2**20


class Limits(Struct, frozen=True, kw_only=True):
    """How much one request may cost; times are in seconds."""

    # Of the body, as it is sent and again as it is decompressed.
    max_bytes: int = 32 * MEGABYTE
    # For everything: looking up the host, connecting, all redirects and the last byte.
    seconds: float = 60.0
    # For each pause in the middle of a response; None where only the whole time counts.
    idle_seconds: float | None = None
    redirects: int = 10
