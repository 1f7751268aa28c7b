"""The whole builder on a real MediaWiki and a web on loopback: what comes out, from the archive, and after kills."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from refusals import contents, outcome
from wiki_world import Shadowland

import shadowprobe
from shadowprobe import Dataset, Snippet
from shadowprobe.base.jsonl import read_lines
from shadowprobe.build.archive import Archive
from shadowprobe.build.records import Crawled
from shadowprobe.build.web.charset import decode_page
from shadowprobe.dataset.kept_pages import Cut

pytestmark = pytest.mark.slow

# Any day, so long as it is the same for two builds that are compared.
DAY = {"SOURCE_DATE_EPOCH": "1500000000"}
KILLS = 20
SHADOWPROBE = [sys.executable, "-m", "shadowprobe"]
WATCHED = [sys.executable, str(Path(__file__).parents[1] / "support" / "watched.py")]


def command(shadowland: Shadowland, out: Path) -> list[str]:
    """A build of the fixture."""
    return [
        "build",
        *("--wiki", shadowland.url, "--out", str(out), "--name", "shadowland"),
        *("--created-before", "2016-12-31", "--contact", "tests@example.org"),
        *("--allow-network", "127.0.0.0/8", "--delay", "0", "--timeout", "5"),
    ]


def run(arguments: list[str], cwd: Path, program: list[str] = SHADOWPROBE) -> subprocess.CompletedProcess[str]:
    # What Python keeps of the modules that it has read is none of the builder's.
    environment = {**os.environ, **DAY, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [*program, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


class Built:
    """A finished build, and what the wiki and the web were asked for it."""

    def __init__(self, shadowland: Shadowland, scratch: Path) -> None:
        self.out = scratch / "built"
        shadowland.web.begin_anew()
        before, log = len(shadowland.web.asked), scratch / "log"
        # In one process: what others do could not be watched.
        done = run([*command(shadowland, self.out), "--workers", "1"], scratch, [*WATCHED, str(log)])
        assert done.returncode == 0, done.stderr
        self.asked = shadowland.web.asked[before:]
        # What it wrote to, and whom it turned to.
        self.events: dict[str, set[Any]] = {}
        for kind, what in map(json.loads, log.read_text().splitlines()):
            self.events.setdefault(kind, set()).add(tuple(what) if isinstance(what, list) else what)
        self.dataset = Dataset.read(self.out)
        self.crawled = {page.url: page for _, page in read_lines(self.out / "build" / "crawled.jsonl", Crawled)}
        self.cuts = [cut for _, cut in read_lines(self.out / "build" / "cuts.jsonl", Cut)]

    @property
    def snippets(self) -> list[Snippet]:
        train = Dataset.read(self.out / "train")
        return [*self.dataset.snippets("top", "shadow", "tail"), *train.snippets()]


@pytest.fixture(scope="module")
def built(shadowland: Shadowland, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(shadowland, tmp_path_factory.mktemp("build"))


def dataset_files(out: Path) -> dict[str, bytes | None]:
    """What a build makes, without the archive, whose records stand in the order of the answers."""
    return {name: content for name, content in contents(out).items() if not name.startswith("build/archive")}


def differences(found: dict[str, bytes | None], expected: dict[str, bytes | None]) -> list[str]:
    """The files that differ, each with its first line that does: all of them would be too much to read."""
    told = []
    for name in sorted({*found, *expected}):
        ours, theirs = ((files.get(name) or b"").splitlines() for files in (found, expected))
        if found.get(name) != expected.get(name):
            line = next((pair for pair in zip_longest(ours, theirs) if pair[0] != pair[1]), None)
            told.append(f"{name}: {line}")
    return told


def test_the_dataset_has_every_name_that_has_what_it_takes(built: Built, shadowland: Shadowland) -> None:
    # A name of the fixture that has old articles has references to pages that name them.
    assert set(built.dataset.spaces) == set(shadowland.fixture.expected.old_spaces)
    assert built.dataset.count("top") == built.dataset.count("shadow") == len(built.dataset.spaces)
    assert built.dataset.count("neutral") == 7 * len(built.dataset.spaces)
    assert built.dataset.count("tail") > 0


def test_entities_have_the_commonness_that_the_fixture_says(built: Built, shadowland: Shadowland) -> None:
    expected = shadowland.fixture.expected.commonness
    found = {entity.title: entity.commonness for entity in built.dataset.entities.values() if entity.title in expected}
    assert found == {title: expected[title] for title in found}
    for space in built.dataset.spaces.values():
        counts = [expected[title] for title in space.entities]
        assert counts == sorted(counts, reverse=True)


def test_every_span_is_right_and_its_sentence_is_on_the_page(built: Built) -> None:
    cuts = {cut.text: cut for cut in built.cuts}
    with_tail = [cut for _, cut in read_lines(built.out / "build" / "tail-cuts.jsonl", Cut)]
    cuts |= {cut.text: cut for cut in with_tail}
    archive = Archive(built.out / "build" / "archive" / "web.warc.gz", software="tests", read_only=True)
    assert len(built.snippets) > 100
    for snippet in built.snippets:
        name = snippet.space or snippet.gold or ""
        assert snippet.mention == name
        around = snippet.text[: snippet.start][-1:] + snippet.text[snippet.end :][:1]
        assert not re.search(r"[^\W_]", around), snippet.text
        cut = cuts[snippet.text]
        assert snippet.text[: snippet.start] + cut.written + snippet.text[snippet.end :] == cut.original or cut.also
        page = archive.get(_key(built, snippet.source or ""))
        assert page is not None
        # Read without the builder: the words of the page, as a browser has them.
        assert _plain(cut.original) in _plain(BeautifulSoup(decode_page(page), "lxml").get_text(" "))
    archive.close()


def _plain(text: str) -> str:
    """A text without regard to white space and to characters that have no width, such as the joints of an emoji."""
    return " ".join("".join(char for char in text if unicodedata.category(char) != "Cf").split())


def _key(built: Built, url: str) -> str:
    crawled = built.crawled.get(url)
    return crawled.page or "" if crawled is not None else f"GET {url}"


def trap(shadowland: Shadowland, name: str) -> str:
    """The URL of a trap on the web."""
    _, (host, path) = shadowland.fixture.traps[name]
    return f"http://{host}{path}"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("robots.txt forbids", "robots.txt forbids it"),
        ("a redirect loop", "redirect loop"),
        ("a redirect to an inner address", "a private address"),
        ("a gzip bomb", "too large"),
        ("an endless answer", "too large"),
        ("not HTML", "not HTML: application/json"),
        ("dead", "404"),
        ("broken", "500"),
    ],
)
def test_a_page_that_cannot_be_had_is_left_out_with_its_reason(
    built: Built, shadowland: Shadowland, name: str, why: str
) -> None:
    found = built.crawled[trap(shadowland, name)]
    assert (found.page, found.failed) == (None, why)


@pytest.mark.parametrize("name", ["a crawl delay", "a crawl delay again", "429 once", "a redirect", "a wrong charset"])
def test_a_page_that_is_hard_to_have_is_had(built: Built, shadowland: Shadowland, name: str) -> None:
    assert built.crawled[trap(shadowland, name)].page is not None


def test_a_crawl_delay_is_kept(built: Built, shadowland: Shadowland) -> None:
    host = trap(shadowland, "a crawl delay").split("/")[2].partition(":")[0]
    moments = sorted(asked.began for asked in built.asked if asked.host == host)
    assert len(moments) > 2
    assert min(later - earlier for earlier, later in pairwise(moments[1:])) > 0.9


def test_a_dead_page_is_read_in_its_archived_copy(built: Built) -> None:
    copies = [page.page for page in built.crawled.values() if page.page and "/web/2015" in page.page]
    assert len(copies) == 2
    assert any("has no door" in cut.text for cut in built.cuts)


def cuts_from(built: Built, shadowland: Shadowland, name: str) -> list[str]:
    """The snippets of a page, the mention in square brackets."""
    url = trap(shadowland, name)
    return [
        f"{cut.text[: cut.start]}[{cut.text[cut.start : cut.end]}]{cut.text[cut.end :]}"
        for cut in built.cuts
        if cut.url == url
    ]


@pytest.mark.parametrize(
    "name",
    [
        "another language",
        "the name inside another word",
        "a diacritic left out",
        "a hyphen",
        "the other case",
        "two entities of one space in one sentence",
        "a longer name that the wiki knows",
        "a page that both entities cite",
        "a word that points elsewhere",
        "a qualifier that the wiki knows",
    ],
)
def test_a_text_that_does_not_name_the_entity_gives_no_snippet(built: Built, shadowland: Shadowland, name: str) -> None:
    entity, _ = shadowland.fixture.traps[name]
    assert not [cut for cut in built.cuts if cut.url == trap(shadowland, name) and cut.entity == entity]


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("the name twice", r"^Whoever has seen \[Harlow\] in the snow knows why Harlow was never taken"),
        ("a possessive", r"\]['’]s "),
        ("a diacritic", r"\["),
        ("an emoji before it", r"[\U0001F300-\U0001FAFF].*\["),
        ("an abbreviation at the end of a sentence", r"^\[Fenwick\] opened .* at 6 a\.m\.$"),
        ("an apostrophe in the title", r"\["),
        ("an ampersand in the title", r"\["),
        ("a plus in the title", r"\[Vega\+\] can be counted"),
        ("two entities of one space in one page", r"^The gate of \[Wexley\] was painted by a pupil"),
        (
            "the title with its qualifier",
            r"^The mayor of \[Sorrel\], keeps a goat in the garden, and all of Sorrel knows",
        ),
        ("at the very start and at the very end", r"^\[Thorne\] woke to the sound of bells\.$"),
    ],
)
def test_a_mention_in_odd_company_is_found_where_it_stands(
    built: Built, shadowland: Shadowland, name: str, mark: str
) -> None:
    found = cuts_from(built, shadowland, name)
    assert found
    assert any(re.search(mark, text) for text in found), found


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Bramley Park (Ostland)", "Bramley Park"),
        ("Bramley Park (Brennia)", "Bramley Park"),
        ("Lena Sorrel (painter)", "Lena Sorrel"),
        ("Sorrel (band)", "Sorrel"),
        ("Sorrel, Nordmark", "Sorrel"),
    ],
)
def test_a_title_is_found_without_its_qualifier(built: Built, title: str, name: str) -> None:
    written = [cut.written for cut in built.cuts if cut.entity == title]
    # Three sentences of the ordinary pages; for the last one there is a page with the full title too.
    expected = {name: 3, title: 1} if title == "Sorrel, Nordmark" else {name: 3}
    assert Counter(written) == expected


def test_the_card_counts_snippets_by_the_kind_of_their_mention(built: Built) -> None:
    card = json.loads((built.out / "dataset.json").read_text())["build"]
    # The more common park and the painter, with three sentences each; three times three of the others.
    assert card["mentions"]["top"]["without qualifier"] == 6
    assert card["mentions"]["shadow"]["without qualifier"] == 9
    for subset, counts in card["mentions"].items():
        assert sum(counts.values()) == card["table_1"][subset]["snippets"]


def test_the_card_accounts_for_what_was_made(built: Built) -> None:
    card = json.loads((built.out / "dataset.json").read_text())["build"]
    assert card["date"] == "2017-07-14"
    assert card["settings"]["created_before"] == "2016-12-31"
    assert card["versions"]["wiki"].startswith("MediaWiki 1.")
    assert [stage["stage"] for stage in card["funnel"]][-1] == "assemble"
    for stage in card["funnel"]:
        assert stage["seen"] == stage["kept"] + sum(stage["dropped"].values())
    top = card["table_1"]["top"]
    assert top["snippets"] == built.dataset.count("top") + Dataset.read(built.out / "train").count("top")
    assert sum(card["commonness"]["top"]["counts"]) == len(built.dataset.spaces)


def test_no_request_goes_anywhere_but_to_the_wiki_and_the_references(built: Built, shadowland: Shadowland) -> None:
    known = {f"{host.partition(':')[0]}{path}" for host, path in shadowland.fixture.pages}
    strangers = {f"{a.host}{a.path}" for a in built.asked} - known - {f"{a.host}/robots.txt" for a in built.asked}
    assert strangers == set()
    # Nor did it so much as turn to anybody else.
    port, wiki = shadowland.web.port, shadowland.url.removeprefix("http://").split(":")
    web = {(host, port) for host in shadowland.web.hosts}
    assert built.events["address"] == {(wiki[0], int(wiki[1])), *web}
    assert built.events.get("host", set()) <= {wiki[0], *shadowland.web.hosts}
    archive = Archive(built.out / "build" / "archive" / "wiki.warc.gz", software="tests", read_only=True)
    assert {key.split(" ")[1].split("/")[2] for key in archive.keys()} == {shadowland.url.split("/")[2]}  # noqa: SIM118
    archive.close()


def test_every_page_is_asked_for_once_but_those_that_ask_to_come_again(built: Built) -> None:
    asked = Counter(f"{each.host}{each.path}" for each in built.asked)
    assert {url.partition("/")[2]: count for url, count in asked.items() if count > 1} == {"busy": 2, "broken": 3}


def test_every_request_says_who_asks(built: Built) -> None:
    assert {asked.headers["user-agent"] for asked in built.asked} == {
        f"shadowprobe/{shadowprobe.__version__} (+tests@example.org)"
    }


def test_nothing_is_written_outside_the_directory(built: Built) -> None:
    written = {Path(path) for path in built.events["file"]}
    assert {built.out / "dataset.json", built.out / "build" / "archive" / "web.warc.gz"} <= written
    elsewhere = {path for path in written if path != built.out and built.out not in path.parents}
    # The model that knows languages is decompressed into a temporary file, which is gone at once.
    temporary = Path(tempfile.gettempdir())
    gone = {path for path in elsewhere if path.parent == temporary and not path.exists()}
    assert elsewhere - gone - {temporary, Path(os.devnull)} == set()


def test_from_the_archive_comes_the_same_dataset_byte_for_byte_and_nobody_is_asked(
    built: Built, shadowland: Shadowland, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    (copy / "build").mkdir(parents=True)
    shutil.copytree(built.out / "build" / "archive", copy / "build" / "archive")
    shutil.copy(built.out / "build" / "settings.json", copy / "build")
    asked = len(shadowland.web.asked)
    done = run(["build", "--out", str(copy), "--from-archive"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(shadowland.web.asked) == asked
    assert differences(dataset_files(copy), dataset_files(built.out)) == []


def test_a_build_that_is_done_asks_nothing_again(built: Built, shadowland: Shadowland, tmp_path: Path) -> None:
    shutil.copytree(built.out, tmp_path / "built")
    before, asked = dataset_files(tmp_path / "built"), len(shadowland.web.asked)
    done = run(["build", "crawl", "--out", str(tmp_path / "built"), "--contact", "tests@example.org"], tmp_path)
    assert done.returncode == 0, done.stderr
    done = run(["build", "--out", str(tmp_path / "built"), "--contact", "tests@example.org"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(shadowland.web.asked) == asked
    assert differences(dataset_files(tmp_path / "built"), before) == []


def test_killed_twenty_times_it_ends_as_one_that_was_never_killed(
    built: Built, shadowland: Shadowland, tmp_path: Path
) -> None:
    out = tmp_path / "built"
    arguments = [*SHADOWPROBE, *command(shadowland, out)]
    lottery = random.Random(20)
    kills, asked_before = 0, len(shadowland.web.asked)
    # What a kill in the middle of an atomic write leaves; that moment is too short to be hit every time.
    (out / "build").mkdir(parents=True)
    for half in (out / ".dataset.json.abc12345.half", out / "build" / ".cuts.jsonl.abc12345.half"):
        half.write_bytes(b"{")
    stored: dict[str, int] = {}
    for attempt in range(10 * KILLS):
        process = subprocess.Popen(
            arguments, cwd=tmp_path, env={**os.environ, **DAY}, stderr=subprocess.PIPE, text=True
        )
        try:
            # Each may work a little longer than the one before, or none would ever come to the last stages.
            _, error = process.communicate(timeout=lottery.uniform(0.5, 2.5 + 0.4 * attempt) if kills < KILLS else 300)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
            for key in _stored(out):
                stored.setdefault(key, len(shadowland.web.asked))
            continue
        assert process.returncode == 0, error
        if kills >= KILLS:
            break
        # It was done before all kills were: the next ones hit a build that runs its stages anew.
        for funnel in (out / "build").glob("*.json"):
            if funnel.name != "settings.json":
                funnel.unlink()
    assert kills == KILLS
    assert len(shadowland.web.asked) > asked_before
    for key, when in stored.items():
        later = [a for a in shadowland.web.asked[when:] if key == f"GET http://{a.host}:{shadowland.web.port}{a.path}"]
        assert not later, f"{key} was stored, and asked for again"
    assert differences(dataset_files(out), dataset_files(built.out)) == []


def _stored(out: Path) -> list[str]:
    index = out / "build" / "archive" / "web.warc.gz.index"
    if not index.exists():
        return []
    lines = [line for line in index.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [json.loads(line)["key"] for line in lines]


def test_another_setting_in_the_same_directory_is_refused(built: Built, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = outcome(capsys, "build", "--out", str(built.out), "--contact", "x@example.org", "--seed", "8")
    assert code == 2
    assert "holds a build whose seed is 7, not 8" in err


def test_the_status_shows_the_funnel(built: Built, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, "build", "status", "--out", str(built.out), "--json")
    assert code == 0
    stages: list[dict[str, Any]] = json.loads(out)
    assert [stage["stage"] for stage in stages] == [
        "spaces",
        "commonness",
        "references",
        "crawl",
        "snippets",
        "tail",
        "assemble",
    ]


def test_a_linker_can_be_run_on_it(built: Built, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = outcome(capsys, "run", "-l", "prior", "-d", str(built.out), "--out", str(tmp_path / "r"), "--json")
    assert code == 0
    subsets = json.loads(out)["subsets"]
    assert (subsets["top"]["recall"], subsets["shadow"]["recall"]) == (1.0, 0.0)
