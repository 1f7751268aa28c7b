"""Parquet files on a server, for DuckDB: it reads only the columns that it needs, through the client of `net/`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fsspec import AbstractFileSystem

from shadowprobe.net.blocking import BlockingClient
from shadowprobe.net.parts_of_files import RemoteFile

# In front of the URLs that DuckDB gets, so that it asks us for these files.
SCHEME = "shadowprobe-remote"


class RemoteTables(AbstractFileSystem):  # type: ignore[misc]
    """The files of servers by their URLs; without listings, which HTTP does not have."""

    protocol = SCHEME
    cachable = False

    def __init__(self, client: BlockingClient) -> None:
        super().__init__()
        self._client = client

    def open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        """Opens a file."""
        return RemoteFile(self._client, path.removeprefix(f"{SCHEME}://"))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Says the size of a file."""
        size = RemoteFile(self._client, path.removeprefix(f"{SCHEME}://")).size
        return {"name": path, "size": size, "type": "file"}

    def modified(self, path: str) -> datetime:
        """Returns always the same day: the files of an index do not change."""
        return datetime.fromtimestamp(0, UTC)

    def glob(self, path: str, *_: Any, **__: Any) -> list[str]:
        """Returns the path itself."""
        return [path]
