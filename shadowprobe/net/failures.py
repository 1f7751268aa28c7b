"""Why a request got no response.

NoResponseError           the text is the reason, in words that can be counted
├── RefusedError          a URL or an address that is not requested
├── RedirectError         a redirect that is not followed
│   └── OtherServerError  a redirect to another server, where that is not allowed
├── ConnectionFailedError no connection to the host
│   └── UnknownHostError  a host name without an address
├── TimeLimitError        the response took too long
├── BrokenResponseError   a response that is cut off or is not HTTP
└── TooLargeError         a body above the limit
"""

from __future__ import annotations

from shadowprobe.errors import shorten


class NoResponseError(Exception):
    """A request that got no response."""

    def __init__(self, reason: str, detail: str = "", *, passing: bool = False, silent: bool = False) -> None:
        super().__init__(reason)
        # Some details repeat what a server sent, in several lines and at any length.
        self.detail = shorten(detail)
        # `passing`: the next try may succeed. `silent`: nothing at all came from the host.
        self.passing, self.silent = passing, silent

    @property
    def message(self) -> str:
        """The reason with its details."""
        return f"{self} ({self.detail})" if self.detail else str(self)


class RefusedError(NoResponseError):
    """A URL or an address that is not requested."""


class RedirectError(NoResponseError):
    """A redirect that is not followed."""


class OtherServerError(RedirectError):
    """A redirect to another server, or from https to http, for a request that must stay with its server."""

    def __init__(self, target: str) -> None:
        super().__init__("a redirect to another server")
        self.target = target


class ConnectionFailedError(NoResponseError):
    """No connection to the host."""


class UnknownHostError(ConnectionFailedError):
    """A host name without an address; `passing` where that may be different later."""


class TimeLimitError(NoResponseError):
    """A response that took too long."""


class BrokenResponseError(NoResponseError):
    """A response that is cut off, is not HTTP, or cannot be decompressed."""


class TooLargeError(NoResponseError):
    """A body above the limit."""
