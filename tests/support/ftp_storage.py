"""A storage that is no file system: an FTP server on loopback, which takes whole files and sends parts of files."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class Ftp:
    """A running server, and the folder that it serves."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url

    @property
    def files(self) -> list[str]:
        """The names of all files that it has taken so far, in the order of their last bytes."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return [str(path.relative_to(self.folder)) for path in sorted(files, key=lambda path: path.stat().st_mtime_ns)]


@contextmanager
def serving_ftp(folder: Path) -> Iterator[Ftp]:
    """Serves a folder while the block runs; everyone may write to it."""
    pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'shadowprobe[ray]'")
    with warnings.catch_warnings():
        # It imports modules that Python no longer recommends.
        warnings.simplefilter("ignore", DeprecationWarning)
        pytest.importorskip("pyftpdlib", reason="pyftpdlib is not installed: pip install 'shadowprobe[test]'")
        from pyftpdlib.authorizers import DummyAuthorizer
        from pyftpdlib.handlers import FTPHandler
        from pyftpdlib.ioloop import IOLoop
        from pyftpdlib.servers import FTPServer
    # Without a handler it would write to the standard error.
    logging.getLogger("pyftpdlib").addHandler(logging.NullHandler())
    folder.mkdir(parents=True, exist_ok=True)

    class Handler(FTPHandler):  # type: ignore[misc]
        """Has settings of its own."""

    with warnings.catch_warnings():
        # The permission to write without a password is what it warns of.
        warnings.simplefilter("ignore")
        authorizer: Any = DummyAuthorizer()
        authorizer.add_anonymous(str(folder), perm="elradfmwMT")
    Handler.authorizer, Handler.use_sendfile = authorizer, False
    loop = IOLoop()
    server = FTPServer(("127.0.0.1", 0), Handler, ioloop=loop)
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            loop.loop(timeout=0.05, blocking=False)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield Ftp(folder, f"ftp://127.0.0.1:{server.address[1]}")
    finally:
        ended.set()
        thread.join()
        server.close_all()
