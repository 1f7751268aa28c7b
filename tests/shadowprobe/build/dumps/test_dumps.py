"""Spaces and commonness from the dumps of a wiki's tables."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from collected_spaces import Spaces, collect_spaces
from dump_world import COUNTED, DROPPED, PREFIX, SPACES, Schema, write, write_tables
from sqlite_dump import Value

from shadowprobe.base.languages import Language
from shadowprobe.build.dumps import commonness
from shadowprobe.build.dumps.commonness import count_backlinks_in_dumps
from shadowprobe.build.dumps.dump_files import find_dump_files
from shadowprobe.build.dumps.source import find_spaces_in_dumps
from shadowprobe.build.dumps.store import connect, read_notes
from shadowprobe.build.funnel import Funnel, Progress, ignore_progress
from shadowprobe.build.machine import LEAST, Machine
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.settings import BuildSettings
from shadowprobe.errors import BuildError, InputError

ENGLISH = Language(
    "en",
    suffixes=("disambiguation",),
    lists=("List of ",),
    categories=("All disambiguation pages", "Disambiguation pages"),
)


class Build:
    """A directory of dumps, and the database that is made of it."""

    def __init__(self, directory: Path, out: Path) -> None:
        self.directory, self.database = directory, out / "dumps.duckdb"
        self.funnel = Funnel("spaces")

    def find(self, progress: Progress = ignore_progress, **options: Any) -> Spaces:
        self.funnel = Funnel("spaces")
        settings = BuildSettings(wiki="", name="", dumps=str(self.directory), **options)
        return collect_spaces(find_spaces_in_dumps(self.database, ENGLISH, self.funnel, settings, progress))

    def count(self, *entities: FoundEntity) -> list[FoundEntity]:
        return list(count_backlinks_in_dumps(self.database, entities))


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return Build(write_tables(tmp_path / "dumps"), tmp_path / "out" / "build")


@pytest.mark.parametrize("schema", ["new", "old", "both"])
def test_spaces_and_commonness_are_the_same_in_every_schema_of_links(tmp_path: Path, schema: Schema) -> None:
    build = Build(write_tables(tmp_path / "dumps", schema), tmp_path / "out")
    found = build.find()
    assert found.spaces == SPACES
    assert (build.funnel.seen, build.funnel.kept, build.funnel.dropped) == (4, 2, DROPPED)
    assert {entity.title: entity for entity in build.count(*found.entities.values())} == COUNTED


def test_without_categories_a_note_says_what_that_may_miss(build: Build) -> None:
    build.find()
    (note,) = read_notes(build.database)
    assert note.startswith("disambiguation pages are known by their property alone")
    write_categories(build.directory)
    build.find()
    assert read_notes(build.database) == []


def test_a_page_that_only_its_category_tells_is_no_article(build: Build) -> None:
    rows: list[tuple[Value, ...]] = [(10, "Disambiguation_pages", b"", "page"), (11, "Bands", b"", "page")]
    write(build.directory, "categorylinks", "*cl_from cl_to cl_sortkey cl_type", rows)
    assert build.find().spaces == SPACES[:1]
    assert build.funnel.dropped == {**DROPPED, "fewer than two articles bear the name: a disambiguation page": 1}


def test_entities_have_their_number_and_item(build: Build) -> None:
    found = build.find()
    assert found.entities["Mercury (planet)"] == FoundEntity("Mercury (planet)", 2, qid="Q308")
    assert found.entities["Shaun O'Neill"] == FoundEntity("Shaun O'Neill", 11)
    assert list(found.entities) == list(COUNTED)


def test_the_number_of_spaces_is_limited(build: Build) -> None:
    found = build.find(limit=1)
    assert found.spaces == SPACES[:1]
    assert set(found.entities) == set(SPACES[0].entities)
    assert build.funnel.seen == 1
    assert build.find(limit=0).spaces == []


def test_commonness_comes_in_the_order_of_the_question_for_articles_of_no_space_too(build: Build) -> None:
    build.find()
    # 1 links to both; nothing links to the page of quotes.
    asked = [FoundEntity("Venus", 8), FoundEntity('Back\\slash "quoted"', 12), FoundEntity("Mercurytown", 7)]
    assert [(entity.title, entity.commonness) for entity in build.count(*asked)] == [
        ("Venus", 1),
        ('Back\\slash "quoted"', 0),
        ("Mercurytown", 1),
    ]
    assert build.count() == []


def write_categories(directory: Path, *, numbered: bool = False) -> None:
    """Mercury, O'Neill and a talk page in one category, Lone in another; the sort keys turn the order round."""
    names = {"Disambiguation_pages": 900, "Other": 901}
    rows: list[tuple[int, str, bytes, str]] = [
        (1, "Disambiguation_pages", b"\xff\x01", "page"),
        (9, "Disambiguation_pages", b"\x7f'\\", "page"),
        (14, "Disambiguation_pages", b"\x00", "page"),
        (15, "Disambiguation_pages", b"\xff\x02", "page"),
        (19, "Other", b"\x00", "page"),
        (10, "Other", b"\x00", "page"),
        (2, "All_disambiguation_pages", b"\x00", "subcat"),
    ]
    if not numbered:
        write(directory, "categorylinks", "*cl_from cl_to cl_sortkey cl_type", list(rows))
        return
    written: list[tuple[Value, ...]] = [(page, key, kind, names.get(name, 902)) for page, name, key, kind in rows]
    # A number that means an article of the category's name.
    written.append((8, b"", "page", 902))
    write(directory, "categorylinks", "*cl_from cl_sortkey cl_type *cl_target_id", written)
    targets = directory / f"{PREFIX}-linktarget.sql.gz"
    rest = b"(900,14,'Disambiguation_pages'),(901,14,'Other'),(902,0,'Disambiguation_pages')"
    more = b"INSERT INTO `linktarget` VALUES " + rest + b";\n"
    targets.write_bytes(gzip.compress(gzip.decompress(targets.read_bytes()) + more))


@pytest.mark.parametrize("numbered", [False, True])
def test_without_the_property_pages_are_listed_by_their_category_and_its_sort_keys(
    tmp_path: Path, numbered: bool
) -> None:
    directory = write_tables(tmp_path / "dumps", properties=False)
    write_categories(directory, numbered=numbered)
    build = Build(directory, tmp_path / "out")
    # Of the two categories the first has no pages. 7f comes before ff 01.
    assert build.find().spaces == SPACES[::-1]
    assert build.funnel.dropped == {"the name of another disambiguation page": 1}


def test_a_given_category_is_used_instead_of_the_property(build: Build) -> None:
    write_categories(build.directory)
    # Of Lone's page both links are red, and of the band's page none bears the name.
    assert build.find(category="Other").spaces == []
    assert build.funnel.dropped == {
        "fewer than two articles bear the name: no such page": 1,
        "no linked article bears the name": 1,
    }
    assert build.find(category="Disambiguation pages").spaces == SPACES[::-1]
    # As the property says, all is as before.
    assert build.find().spaces == SPACES


def test_a_category_may_be_given_with_its_namespace(build: Build) -> None:
    write_categories(build.directory)
    assert build.find(category="Category:Disambiguation pages").spaces == SPACES[::-1]


@pytest.mark.parametrize("category", ["Dis pages", "Talk only"])
def test_a_category_without_articles_is_named(build: Build, category: str) -> None:
    rows: list[tuple[Value, ...]] = [(14, "Talk_only", b"", "page")]
    write(build.directory, "categorylinks", "*cl_from cl_to cl_sortkey cl_type", rows)
    with pytest.raises(BuildError, match=rf"dumps: the category `{category}` has no pages; give --category without"):
        build.find(category=category)


def test_the_error_names_the_categories_that_were_tried(tmp_path: Path) -> None:
    directory = write_tables(tmp_path / "dumps", properties=False)
    write(directory, "categorylinks", "*cl_from cl_to cl_sortkey cl_type", [(9, "Bands", b"", "page")])
    tried = r"\(tried: All disambiguation pages, Disambiguation pages\); name it with --category"
    with pytest.raises(BuildError, match=rf"no category of disambiguation pages was found {tried}"):
        Build(directory, tmp_path / "out").find()


def test_without_property_and_categories_the_file_that_would_help_is_named(tmp_path: Path) -> None:
    build = Build(write_tables(tmp_path / "dumps", properties=False), tmp_path / "out")
    with pytest.raises(InputError, match=r"dumps: lacks \*-categorylinks\.sql\.gz"):
        build.find()


def test_numbered_links_need_their_titles(build: Build) -> None:
    (build.directory / f"{PREFIX}-linktarget.sql.gz").unlink()
    with pytest.raises(InputError, match=r"lacks \*-linktarget\.sql\.gz, without which pagelinks has no titles"):
        build.find()


def test_a_table_that_is_missing_is_named(build: Build) -> None:
    (build.directory / f"{PREFIX}-redirect.sql.gz").unlink()
    (build.directory / f"{PREFIX}-page.sql.gz").unlink()
    with pytest.raises(
        InputError, match=r"lacks \*-page\.sql\.gz and \*-redirect\.sql\.gz, and has no \*-pages-articles"
    ):
        build.find()


def test_links_with_neither_title_nor_number_are_wrong_columns(build: Build) -> None:
    write(build.directory, "pagelinks", "*pl_from *pl_to", [(1, 2)])
    with pytest.raises(InputError, match=r"pagelinks\.sql\.gz: has no column `pl_target_id`, only pl_from, pl_to"):
        build.find()


def test_days_of_first_revisions_are_not_guessed(build: Build) -> None:
    with pytest.raises(InputError, match=r"--created-before needs \*-stub-meta-history\*\.xml\.gz"):
        build.find(created_before="2016-12-31")


def test_a_directory_that_is_missing_or_without_dumps_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such directory"):
        Build(tmp_path / "nowhere", tmp_path / "out").find()
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match=r"holds no dumps such as enwiki-20240101-page\.sql\.gz"):
        Build(tmp_path, tmp_path / "out").find()


def test_dumps_of_two_days_are_not_mixed(build: Build) -> None:
    (build.directory / f"{PREFIX}-page.sql.gz").rename(build.directory / "testwiki-20250101-page.sql.gz")
    with pytest.raises(InputError, match=r"more than one wiki or day \(testwiki-20250101, testwiki-20260101\)"):
        build.find()


def test_parts_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    parts = [f"w-1-pages-articles{part}" for part in ("2.xml-p10p99.bz2", "2.xml-p100p199.bz2", "10.xml-p200p300.bz2")]
    for name in (*parts, "w-1-pages-articles-multistream.xml.bz2", "w-1-pages-articles-multistream-index.txt.bz2"):
        (tmp_path / name).touch()
    assert [path.name for path in find_dump_files(tmp_path).articles] == parts
    (tmp_path / "w-1-pages-articles.xml.bz2").touch()
    assert [path.name for path in find_dump_files(tmp_path).articles] == ["w-1-pages-articles.xml.bz2"]


def test_two_files_of_one_table_are_refused(build: Build) -> None:
    write(build.directory, "page", "*page_id", [], suffix="")
    with pytest.raises(InputError, match=r"page\.sql\.gz: is the second file of its table beside .*page\.sql$"):
        build.find()


def test_dumps_are_read_once(build: Build) -> None:
    assert build.find().spaces == SPACES
    page = build.directory / f"{PREFIX}-page.sql.gz"
    said = page.stat()
    page.write_bytes(b"x" * said.st_size)
    os.utime(page, ns=(said.st_atime_ns, said.st_mtime_ns))
    assert build.find().spaces == SPACES


def test_dumps_that_have_changed_are_read_again(build: Build) -> None:
    assert build.find().spaces == SPACES
    write(build.directory, "page_props", "*pp_page pp_propname pp_value", [(9, "disambiguation", "")])
    assert build.find().spaces == SPACES[1:]


def test_a_database_that_was_not_finished_is_begun_anew(build: Build) -> None:
    build.database.parent.mkdir(parents=True)
    for rest in (".part", ".part.wal"):
        build.database.with_name(build.database.name + rest).write_bytes(b"half of it")
    assert build.find().spaces == SPACES
    assert [path.name for path in build.database.parent.iterdir()] == ["dumps.duckdb"]


def test_a_dump_that_is_cut_off_leaves_no_database(build: Build) -> None:
    links = build.directory / f"{PREFIX}-pagelinks.sql.gz"
    links.write_bytes(links.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"pagelinks\.sql\.gz: is cut off: fetch it again"):
        build.find()
    assert not build.database.exists()


def test_the_database_keeps_within_its_memory_and_directory_and_fetches_nothing(tmp_path: Path) -> None:
    asked = ("memory_limit", "temp_directory", "autoinstall_known_extensions", "autoload_known_extensions")
    with connect(tmp_path / "dumps.duckdb", Machine(memory=10**9), read_only=False) as connection:
        query = f"SELECT {', '.join(f'current_setting({name!r})' for name in asked)}"
        (found,) = connection.execute(query).fetchall()
    # A gigabyte is 953.67 times 2 to the 20th.
    assert found == ("953.6 MiB", str(tmp_path / "dumps.duckdb.overflow"), False, False)


def test_too_little_memory_is_said_and_what_to_do_about_it(tmp_path: Path) -> None:
    expected = r"db: the 0\.2 GB of memory that the database may use are not enough .*; give it more with --memory"
    with (
        pytest.raises(BuildError, match=expected),
        connect(tmp_path / "db", Machine(memory=LEAST), read_only=False) as connection,
    ):
        # A list cannot be written to a temporary file.
        connection.execute("SELECT list(i::VARCHAR) FROM range(20_000_000) t(i)").fetchall()


def test_a_disk_without_room_for_temporary_files_is_not_called_a_lack_of_memory(tmp_path: Path) -> None:
    expected = r"db: the disk has no room for the temporary files in .*db\.overflow .*; free some, and try again"
    with (
        pytest.raises(BuildError, match=expected),
        connect(tmp_path / "db", Machine(memory=LEAST), read_only=False) as connection,
    ):
        connection.execute(
            """SET max_temp_directory_size = '1MB';
            CREATE TEMP TABLE many AS SELECT hash(i) AS a, hash(i + 1) AS b FROM range(30_000_000) t(i)"""
        )


def test_links_are_counted_alike_in_any_number_of_steps(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    found = build.find()
    # Every link is thought to fill the memory, so that each range of sources is counted alone.
    monkeypatch.setattr(commonness, "LINK_BYTES", 10**12)
    assert {entity.title: entity for entity in build.count(*found.entities.values())} == COUNTED


def test_a_file_that_is_not_a_database_is_named(build: Build) -> None:
    build.database.parent.mkdir(parents=True)
    build.database.write_bytes(b"rubbish" * 1000)
    with pytest.raises(BuildError, match=r"dumps\.duckdb: the database of the dumps cannot be used .*; remove it"):
        build.find()


def test_without_its_extra_it_says_what_to_type(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(BuildError, match=r"--dumps needs its extra: pip install 'shadowprobe\[dumps\]'"):
        build.find()


def test_progress_names_files_and_rows_and_then_spaces(build: Build) -> None:
    steps: list[tuple[str, int, int | None]] = []
    build.find(lambda work, done, total: steps.append((work, done, total)), limit=5)
    assert steps[-2:] == [("spaces", 1, 5), ("spaces", 2, 5)]
    assert (f"{PREFIX}-redirect.sql.gz", 4, None) in steps
    assert (f"{PREFIX}-page.sql.gz", 18, None) in steps
