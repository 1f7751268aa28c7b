"""Raw replies of a service on disk, to be parsed again when a wrapper has learned to read more of them."""

from __future__ import annotations

import base64
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from shadowprobe.base.files import drop_torn_line, write_out
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.base.model import Snippet
from shadowprobe.dataset.index import digest_question
from shadowprobe.errors import InputError
from shadowprobe.net.charsets import set_encoding

if TYPE_CHECKING:
    import httpx


# The raw replies of a service, if the user wants to keep them.
REPLIES = "replies.jsonl"


class Reply(Struct, frozen=True, omit_defaults=True):
    """A reply with a status of 2xx, and who gave it."""

    linker: str
    url: str
    # A digest of text and mention; the id is for the reader's eye.
    asked: str = ""
    # A digest of what was sent for it.
    request: str = ""
    id: str = ""
    status: int = 200
    content_type: str = ""
    text: str | None = None
    # In place of the text where that is not UTF-8.
    base64: str | None = None

    @classmethod
    def of(cls, linker: str, url: str, status: int, content_type: str, content: bytes) -> Reply:
        """A reply that has just come."""
        try:
            return cls(linker, url, status=status, content_type=content_type, text=content.decode("utf-8"))
        except UnicodeDecodeError:
            encoded = base64.b64encode(content).decode()
            return cls(linker, url, status=status, content_type=content_type, base64=encoded)

    @property
    def content(self) -> bytes:
        """The body as the service sent it."""
        return self.text.encode() if self.text is not None else base64.b64decode(self.base64 or "")

    def response(self) -> httpx.Response:
        """The reply as a wrapper parses it."""
        import httpx

        # As bytes: a service may well put other than ASCII there, which httpx reads and does not write.
        headers = {b"Content-Type": self.content_type.encode()}
        response = set_encoding(httpx.Response(self.status, headers=headers, content=self.content))
        response.elapsed = timedelta(0)
        return response


class ReplyWriter:
    """Appends replies to a file; a kill in between can tear the last line and nothing else."""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, path.open("a+b")
        drop_torn_line(self._file)

    def add(self, snippet: Snippet, reply: Reply) -> None:
        """Keeps the reply to a snippet."""
        write_out(self._file, encode_lines([replace(reply, asked=question_key(snippet), id=snippet.id)]), self._path)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def question_key(snippet: Snippet) -> str:
    """The key of a question to a service, the same in every dataset."""
    return digest_question(snippet).hex()


def read_replies(path: Path) -> dict[str, Reply]:
    """The replies of a file, or of a run directory, by question; of several to one question the last."""
    file = path / REPLIES if path.is_dir() else path
    if not file.exists():
        raise InputError(file, "no such file: it is made by a run with --keep-replies")
    replies = {reply.asked: reply for _, reply in read_lines(file, Reply, torn=True)}
    if not replies:
        raise InputError(file, "holds no reply")
    return replies
