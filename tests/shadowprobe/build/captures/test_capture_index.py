"""Looking pages up in the index of a crawl: which capture is taken, in which kind of file."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest
from capture_world import COLUMNS, CRAWL, TABLE, CaptureWorld, serving_files

from shadowprobe.build.captures.capture_index import check_index, find_base, find_captures
from shadowprobe.compute.executor import SerialExecutor
from shadowprobe.errors import BuildError, InputError, UsageError

PAGE = "https://www.example.org/news/page"


@pytest.fixture
def world(tmp_path: Path) -> CaptureWorld:
    return CaptureWorld(tmp_path)


def find(index: str, *urls: str, before: str = "") -> dict[str, tuple[str, str]]:
    """The captured URL and the day for each URL that was found."""
    return {url: (each.url, each.time[:10]) for url, each in find_captures(index, set(urls), before, SerialExecutor())}


@pytest.mark.parametrize("kind", ["write_table", "write_cdxj", "write_cdx"])
def test_the_newest_successful_capture_is_taken_in_every_kind_of_index(world: CaptureWorld, kind: str) -> None:
    world.add(PAGE, b"old", "2023-05-01")
    world.add(PAGE, b"new", "2024-02-21")
    world.add(PAGE, b"gone", "2024-03-01", status=404)
    world.add(PAGE, b"%PDF", "2024-03-02", content_mime_type="application/pdf", content_mime_detected="application/pdf")
    world.add("https://www.example.org/other", b"other", "2024-03-03")
    index = getattr(world, kind)()
    assert find(index, PAGE, "https://example.net/") == {PAGE: (PAGE, "2024-02-21")}
    assert find(index, PAGE, before="2024-02-21") == {PAGE: (PAGE, "2023-05-01")}
    assert find(index, PAGE, before="2023-05-01") == {}


@pytest.mark.parametrize("kind", ["write_table", "write_cdxj", "write_cdx"])
def test_the_same_url_comes_before_a_newer_capture_of_another_spelling(world: CaptureWorld, kind: str) -> None:
    other = "http://example.org/news/page/"
    world.add(PAGE, b"same", "2023-05-01")
    world.add(other, b"newer", "2024-02-21")
    index = getattr(world, kind)()
    assert find(index, PAGE) == {PAGE: (PAGE, "2023-05-01")}
    # Neither spelling is in the index: the key decides, and then the newest.
    assert find(index, "http://www.example.org/news/page") == {
        "http://www.example.org/news/page": (other, "2024-02-21")
    }


def test_a_url_is_found_even_if_the_index_has_a_key_of_its_own(world: CaptureWorld) -> None:
    world.add(PAGE, b"page", url_surtkey="another kind of key")
    assert find(world.write_table(), PAGE) == find(world.write_cdx(letters="a b a m s k r M S V g"), PAGE)


def test_only_the_subset_of_pages_is_read(world: CaptureWorld) -> None:
    world.add(PAGE, b"page", "2023-05-01")
    world.write_table()
    world.rows.clear()
    world.add(PAGE, b"page", "2024-02-21")
    world.write_table("cc-index/table/cc-main/warc/crawl=CC-MAIN-2024-10/subset=robotstxt/part.parquet")
    assert find(str(world.top / "cc-index"), PAGE) == {PAGE: (PAGE, "2023-05-01")}
    assert find(str(world.top / "cc-index/**/*.parquet"), PAGE) == {PAGE: (PAGE, "2023-05-01")}


def test_compressed_indexes_and_broken_lines_are_read(world: CaptureWorld) -> None:
    world.add(PAGE, b"page")
    text = Path(world.write_cdxj()).read_bytes()
    key = text.split(b" ")[0]
    broken = [b"", b"\xff\xfe", key, key + b" 2024 {}", key + b' 20240221123000 {"status": "200", "mime": "text/html"}']
    path = world.top / "cdx-00000.gz"
    # Common Crawl's files consist of several compressed parts.
    path.write_bytes(gzip.compress(b"\n".join(broken) + b"\n") + gzip.compress(text))
    assert find(str(path), PAGE) == {PAGE: (PAGE, "2024-02-21")}
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="cannot be read"):
        find(str(path), PAGE)


def test_a_table_without_a_column_is_refused_with_its_name(world: CaptureWorld) -> None:
    world.add(PAGE, b"page")
    index = world.write_table("table.parquet", [column for column in COLUMNS if column != "warc_filename"])
    with pytest.raises(BuildError, match="lacks the column warc_filename"):
        find(index, PAGE)


def test_a_damaged_table_is_one_line(world: CaptureWorld) -> None:
    world.add(PAGE, b"page")
    path = Path(world.write_table("table.parquet"))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(BuildError, match=r"table\.parquet: the index cannot be read") as refused:
        find(str(path), PAGE)
    assert "\n" not in str(refused.value)


def test_an_index_without_files_is_refused_before_any_work(tmp_path: Path) -> None:
    for index in (tmp_path, tmp_path / "*.parquet", tmp_path / "none.cdx"):
        with pytest.raises(UsageError, match="no such file"):
            check_index(str(index))


def test_without_duckdb_the_command_that_installs_it_is_named(
    world: CaptureWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add(PAGE, b"page")
    table, lines = world.write_table(), world.write_cdxj()
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(BuildError, match=r"pip install 'shadowprobe\[dumps\]'"):
        check_index(table)
    # CDX needs none.
    check_index(lines)


def test_warc_files_are_found_from_the_top_of_the_layout_or_beside_the_index(world: CaptureWorld) -> None:
    world.add(PAGE, b"page")
    table, lines, top = world.write_table(), world.write_cdxj(), str(world.top)
    for index in (table, lines, f"{table}/**/*.parquet", f"{top}/crawl-data/x/*.cdxj", top, f"{top}/*.cdxj"):
        assert find_base(index) == top


def test_an_index_on_a_server_is_read_in_parts(world: CaptureWorld) -> None:
    world.add(PAGE, b"page")
    world.write_table()
    lines = Path(world.write_cdxj()).name
    # Common Crawl's list of the files of a crawl: other subsets are left out.
    listed = f"crawl-data/{CRAWL}/cc-index-table.paths.gz"
    (world.top / listed).write_bytes(gzip.compress(f"{TABLE}\n{TABLE.replace('=warc', '=robotstxt')}\n".encode()))
    with serving_files(world.top) as served:
        for name in (TABLE, lines, listed):
            check_index(f"{served.url}/{name}")
            assert find(f"{served.url}/{name}", PAGE, "https://example.net/") == {PAGE: (PAGE, "2024-02-21")}
            assert find_base(f"{served.url}/{name}") == served.url
        assert all("range" in asked.headers for asked in served.requests)
        assert not any("robotstxt" in asked.path for asked in served.requests)


@pytest.mark.parametrize("name", ["none.cdxj", "none.paths.gz", "none.parquet"])
def test_an_index_that_a_server_does_not_have_is_one_line(world: CaptureWorld, name: str) -> None:
    with serving_files(world.top) as served, pytest.raises((BuildError, InputError)) as refused:
        find(f"{served.url}/{name}", PAGE)
    with serving_files(world.top) as served, pytest.raises(InputError, match="404"):
        check_index(f"{served.url}/{name}")
    assert "404" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "changed",
    ['"offset": 1e999', '"offset": []', '"mime": ["text/html"]', '"status": {}', '"url": null', '"length": "x"'],
)
def test_a_line_with_a_wrong_value_is_skipped(world: CaptureWorld, changed: str) -> None:
    world.add(PAGE, b"page")
    path = Path(world.write_cdxj())
    assert find(str(path), PAGE)
    # Of a field that comes twice the last counts.
    path.write_text(path.read_text().replace("}\n", f", {changed}}}\n"))
    assert find(str(path), PAGE) == {}


@pytest.mark.parametrize("kind", ["write_table", "write_cdxj"])
def test_a_day_begins_at_midnight_in_greenwich(world: CaptureWorld, kind: str) -> None:
    world.add(PAGE, b"before", fetch_time="2024-02-20T23:59:59Z")
    world.add(PAGE, b"first", fetch_time="2024-02-21T00:00:00Z")
    index = getattr(world, kind)()
    assert find(index, PAGE, before="2024-02-21") == {PAGE: (PAGE, "2024-02-20")}
    assert find(index, PAGE, before="2024-02-22") == {PAGE: (PAGE, "2024-02-21")}
    assert find(index, PAGE) == {PAGE: (PAGE, "2024-02-21")}


def test_a_time_before_1970_is_no_capture(world: CaptureWorld) -> None:
    world.add(PAGE, b"old", fetch_time="1969-12-31T23:59:59Z")
    assert find(world.write_table(), PAGE) == find(world.write_cdxj(), PAGE) == {}
    world.add(PAGE, b"first", fetch_time="1970-01-01T00:00:00Z")
    assert find(world.write_table(), PAGE) == find(world.write_cdxj(), PAGE) == {PAGE: (PAGE, "1970-01-01")}
