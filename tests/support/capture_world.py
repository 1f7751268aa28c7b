"""An existing crawl on disk: WARC files, and an index of them with the columns and the layout of Common Crawl."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
from service import Asked, Reply, Service, serving
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from shadowprobe.build.captures.surt import make_surt

CRAWL = "CC-MAIN-2024-10"
WARC = f"crawl-data/{CRAWL}/segments/1707947473347.0/warc/{CRAWL}-00000.warc.gz"
TABLE = f"cc-index/table/cc-main/warc/crawl={CRAWL}/subset=warc/part-00000.gz.parquet"
# The columns of the table with their types, in its order; `crawl` and `subset` are the names of its folders.
COLUMNS = {
    "url_surtkey": "VARCHAR",
    "url": "VARCHAR",
    "url_host_name": "VARCHAR",
    "fetch_time": "TIMESTAMPTZ",
    "fetch_status": "SMALLINT",
    "content_digest": "VARCHAR",
    "content_mime_type": "VARCHAR",
    "content_mime_detected": "VARCHAR",
    "content_charset": "VARCHAR",
    "content_languages": "VARCHAR",
    "warc_filename": "VARCHAR",
    "warc_record_offset": "INTEGER",
    "warc_record_length": "INTEGER",
    "warc_segment": "VARCHAR",
}
Row = dict[str, Any]


class CaptureWorld:
    """A crawl in a folder; captures are added one by one, then its index is written."""

    def __init__(self, top: Path) -> None:
        self.top, self.rows = top, list[Row]()

    def add(
        self,
        url: str,
        body: bytes,
        day: str = "2024-02-21",
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        gzip: bool = True,
        warc: str = WARC,
        **changed: Any,
    ) -> Row:
        """Stores a page and its row; `changed` are other values of the row."""
        fields = {"Content-Type": "text/html; charset=utf-8", **(headers or {})}
        content = make_record(url, body, day, status=status, headers=fields, gzip=gzip)
        path = self.top / warc
        path.parent.mkdir(parents=True, exist_ok=True)
        offset = path.stat().st_size if path.exists() else 0
        with path.open("ab") as file:
            file.write(content)
        row = {
            **dict.fromkeys(COLUMNS),
            "url_surtkey": make_surt(url),
            "url": url,
            "fetch_time": f"{day}T12:30:00Z",
            "fetch_status": status,
            "content_mime_type": "text/html",
            "content_mime_detected": "text/html",
            "warc_filename": warc,
            "warc_record_offset": offset,
            "warc_record_length": len(content),
            **changed,
        }
        self.rows.append(row)
        return row

    def write_table(self, name: str = TABLE, columns: Sequence[str] = tuple(COLUMNS)) -> str:
        """Writes the rows as Parquet; returns the folder of the index."""
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with duckdb.connect() as connection:
            typed = ", ".join(f"{column} {kind}" for column, kind in COLUMNS.items())
            connection.execute(f"CREATE TABLE captures ({typed})")
            marks = ", ".join("?" for _ in COLUMNS)
            connection.executemany(f"INSERT INTO captures VALUES ({marks})", [list(row.values()) for row in self.rows])
            chosen = ", ".join(columns)
            connection.execute(f"COPY (SELECT {chosen} FROM captures) TO '{path}' (FORMAT parquet, COMPRESSION gzip)")
        return str(self.top / "cc-index" if name == TABLE else path)

    def write_cdxj(self, name: str = "index.cdxj") -> str:
        """Writes the rows as CDXJ, sorted as such files are."""
        lines = []
        for row in self.rows:
            fields = {
                "url": row["url"],
                "mime": row["content_mime_type"],
                "status": str(row["fetch_status"]),
                "length": str(row["warc_record_length"]),
                "offset": str(row["warc_record_offset"]),
                "filename": row["warc_filename"],
            }
            lines.append(f"{row['url_surtkey']} {make_stamp(row)} {json.dumps(fields)}\n")
        (self.top / name).write_text("".join(sorted(lines)), encoding="utf-8")
        return str(self.top / name)

    def write_cdx(self, name: str = "index.cdx", letters: str = "N b a m s k r M S V g") -> str:
        """Writes the rows as CDX with the fields of these letters."""
        lines = [f" CDX {letters}\n"]
        for row in self.rows:
            values = {"N": row["url_surtkey"], "b": make_stamp(row), "a": row["url"], "m": row["content_mime_type"]}
            values |= {"s": row["fetch_status"], "S": row["warc_record_length"], "V": row["warc_record_offset"]}
            values["g"] = row["warc_filename"]
            lines.append(" ".join(str(values.get(letter, "-")) for letter in letters.split()) + "\n")
        (self.top / name).write_text("".join(lines), encoding="utf-8")
        return str(self.top / name)


def make_stamp(row: Row) -> str:
    """The time of a capture as CDX has it."""
    return "".join(character for character in row["fetch_time"] if character.isdecimal())


def make_record(
    url: str, body: bytes, day: str, *, status: int = 200, headers: Mapping[str, str], gzip: bool = True
) -> bytes:
    """A response as warcio writes it."""
    out = BytesIO()
    writer = WARCWriter(out, gzip=gzip)
    head = StatusAndHeaders(f"{status} OK", list(headers.items()), protocol="HTTP/1.1")
    dated = {"WARC-Date": f"{day}T12:30:00Z"}
    record = writer.create_warc_record(url, "response", BytesIO(body), http_headers=head, warc_headers_dict=dated)
    writer.write_record(record)
    # A file of warcio's own, which it leaves open.
    record.raw_stream.close()
    return out.getvalue()


class FileServer:
    """Behaves as a server of files that can send parts of them; `status` replaces every answer."""

    def __init__(self, top: Path, *, parts: bool, status: int) -> None:
        self.top, self.parts, self.status = top, parts, status

    def __call__(self, number: int, asked: Asked) -> Reply:
        """The part of a file that a request names."""
        path = self.top / asked.path.lstrip("/")
        if self.status or not path.is_file():
            return self.status or 404, {}, b""
        content, wanted = path.read_bytes(), re.fullmatch(r"bytes=(\d+)-(\d+)", asked.headers.get("range", ""))
        if not self.parts or wanted is None:
            return 200, {}, content
        first, last = map(int, wanted.groups())
        size = len(content)
        if first >= size:
            return 416, {"Content-Range": f"bytes */{size}"}, b""
        part = content[first : last + 1]
        return 206, {"Content-Range": f"bytes {first}-{first + len(part) - 1}/{size}"}, part


class _Served:
    """A running server of files."""

    def __init__(self, service: Service) -> None:
        self.url, self.requests = service.url.removesuffix("/api"), service.requests


@contextmanager
def serving_files(top: Path, *, parts: bool = True, status: int = 0) -> Iterator[_Served]:
    """Serves a folder on loopback while the block runs."""
    with serving(FileServer(top, parts=parts, status=status)) as service:
        yield _Served(service)
