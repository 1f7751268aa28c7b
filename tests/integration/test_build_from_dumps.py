"""The dumps of a real wiki give what its API gives."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from sqlite_dump import dump_sqlite
from wiki_world import Shadowland

from shadowprobe.base.languages import read_language
from shadowprobe.build.archive import Archive
from shadowprobe.build.backlinks import count_backlinks
from shadowprobe.build.dumps import count_backlinks_in_dumps, find_spaces_in_dumps
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.spaces import find_spaces
from shadowprobe.build.wiki.wiki_api import Wiki

pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'shadowprobe[dumps]'")
pytestmark = pytest.mark.slow


def test_spaces_and_commonness_of_the_dumps_equal_those_of_the_api(shadowland: Shadowland, tmp_path: Path) -> None:
    english = read_language("en")
    database = tmp_path / "dumps.duckdb"
    dump_sqlite(shadowland.world.database, tmp_path / "dumps")
    settings = BuildSettings(wiki=shadowland.url, name="", dumps=str(tmp_path / "dumps"))
    asked, read = Funnel("spaces"), Funnel("spaces")
    with closing(Archive(tmp_path / "wiki.warc.gz", software="tests")) as archive:
        wiki = Wiki(shadowland.url, archive, user_agent="tests (+nobody)")
        by_api = find_spaces(wiki, english, asked, settings)
        counted_by_api = list(count_backlinks(wiki, by_api.entities.values()))
    by_dumps = find_spaces_in_dumps(database, english, read, settings)
    assert len(by_api.spaces) > 30
    assert by_dumps.spaces == by_api.spaces
    assert by_dumps.entities == by_api.entities
    assert read == asked
    assert list(count_backlinks_in_dumps(database, by_dumps.entities.values())) == counted_by_api
    expected = shadowland.fixture.expected.commonness
    assert {entity.title: entity.commonness for entity in counted_by_api} == {
        entity.title: expected[entity.title] for entity in counted_by_api
    }
