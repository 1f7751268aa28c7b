"""`shadowprobe build` as a user types it: one line for every mistake, and a whole build of the small world."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from build_world import FUNNELS, SAID, Small, made, page, small
from capture_world import CaptureWorld
from ftp_storage import serving_ftp
from refusals import complaint, contents, outcome, single_line

import shadowprobe
from shadowprobe import Dataset
from shadowprobe.base.jsonl import read_json
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.status import STAGES, read_funnels

# Nobody listens there.
NOWHERE = "http://127.0.0.1:9"
BEGIN = ("build", "--wiki", NOWHERE, "--out", "out", "--contact", "me@example.org")
QUICK = ("--allow-network", "127.0.0.0/8", "--delay", "0")
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of its own, in which nobody has said who is asking."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHADOWPROBE_CONTACT", raising=False)


@pytest.fixture(scope="module")
def world() -> Iterator[Small]:
    with small() as running:
        yield running


def build(world: Small, *more: str) -> list[str]:
    """A build of the small world."""
    given = ["build", "--wiki", world.url, "--out", "out", "--name", "small", "--contact", "me@example.org"]
    return [*given, *QUICK, *more]


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        pytest.param(
            ["build", "--out", "out", "--contact", "me"],
            "--wiki: name the wiki, such as https://en.wikipedia.org",
            id="no wiki",
        ),
        pytest.param(["build", "--wiki", NOWHERE], "Missing option '--out'.", id="no directory"),
        pytest.param(
            ["build", "--wiki", NOWHERE, "--out", ""], "--out: the name of the directory is empty", id="empty directory"
        ),
        pytest.param(
            ["build", "--wiki", NOWHERE, "--out", "out"],
            "--contact: say who is asking, by mail or web address, or set SHADOWPROBE_CONTACT; every host that is asked"
            " sees it",
            id="no contact",
        ),
        pytest.param(
            [*BEGIN, "--contact", "  "],
            "--contact: say who is asking, by mail or web address, or set SHADOWPROBE_CONTACT; every host that is asked"
            " sees it",
            id="blank contact",
        ),
        pytest.param(
            [*BEGIN, "--created-before", "31.12.2016"],
            "--created-before 31.12.2016: a day is written as 2016-12-31",
            id="another way to write a day",
        ),
        pytest.param(
            [*BEGIN, "--created-before", "2015-02-29"],
            "--created-before 2015-02-29: a day is written as 2016-12-31",
            id="no such day",
        ),
        pytest.param(
            [*BEGIN, "--common-crawl", "x", "--captured-before", "2024"],
            "--captured-before 2024: a day is written as 2016-12-31",
            id="no day of a capture",
        ),
        pytest.param(
            [*BEGIN, "--captured-before", "2024-01-01"],
            "--captured-before: needs --common-crawl INDEX",
            id="captures of no crawl",
        ),
        pytest.param(
            [*BEGIN, "--common-crawl", "http://me:secret@127.0.0.1/index.cdxj"],
            "--common-crawl: the address must not hold a user or password",
            id="an index with a password",
        ),
        pytest.param(
            [*BEGIN, "--storage", "ftp://me:secret@127.0.0.1/pages"],
            "--storage: the address must not hold a user or password; set FSSPEC_FTP_USERNAME and FSSPEC_FTP_PASSWORD,"
            " or what else fsspec needs for ftp",
            id="a storage with a password",
        ),
        pytest.param(
            [*BEGIN, "--storage", "nosuch://host/pages"],
            "--storage nosuch://host/pages: Protocol not known: nosuch",
            id="an unknown kind of storage",
        ),
        pytest.param(
            [*BEGIN, "--storage", "\udcff"], r"--storage: '\udcff' is not UTF-8; give another", id="no storage"
        ),
        # As Python reads a byte of the command line that is no UTF-8.
        pytest.param([*BEGIN, "--name", "l\udcff"], r"--name: 'l\udcff' is not UTF-8; give another", id="no name"),
        pytest.param(
            ["build", "--wiki", NOWHERE, "--out", "l\udcff", "--contact", "me@example.org"],
            r"--name: 'l\udcff' is not UTF-8; give another",
            id="a directory whose name is none",
        ),
        pytest.param(
            [*BEGIN, "--category", "\udcff"], r"--category: '\udcff' is not UTF-8; give another", id="no category"
        ),
        pytest.param(
            [*BEGIN, "--from-archive"],
            "--from-archive: out holds no archive; a build without this option makes one",
            id="no archive",
        ),
        pytest.param(
            ["build", "status", "--out", "out"],
            "out holds no build; `shadowprobe build --wiki URL --out out` starts one",
            id="no build",
        ),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line_and_nothing_is_written(
    capsys: Captured, arguments: list[str], refusal: str
) -> None:
    assert complaint(capsys, *arguments) == refusal


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--limit", "0"),
        ("--tail", "-1"),
        ("--references", "0"),
        ("--snippets", "0"),
        ("--sentences", "2"),
        ("--seed", "-1"),
        ("--concurrency", "0"),
        ("--concurrency", "301"),
        ("--delay", "-0.5"),
        ("--delay", "inf"),
        ("--timeout", "0"),
        ("--timeout", "inf"),
        ("--max-bytes", "10"),
        ("--limit", "many"),
    ],
)
def test_a_number_that_cannot_be_is_refused_by_the_name_of_its_option(
    capsys: Captured, option: str, value: str
) -> None:
    assert f"'{option}'" in complaint(capsys, *BEGIN, option, value)


@pytest.mark.parametrize(("stage", "meant"), [("snipets", "snippets"), ("crawling", "crawl"), ("asemble", "assemble")])
def test_an_unknown_stage_is_refused_with_the_one_that_may_be_meant(capsys: Captured, stage: str, meant: str) -> None:
    refusal = single_line(*outcome(capsys, *BEGIN, stage))
    assert refusal == (
        f"unknown stage `{stage}` (did you mean `{meant}`?): choose from spaces, commonness, references, crawl,"
        " snippets, tail, assemble"
    )


def test_a_stage_out_of_order_is_refused_with_the_one_to_begin_with(capsys: Captured) -> None:
    refusal = single_line(*outcome(capsys, *BEGIN, "crawl"))
    assert refusal == "`crawl` needs what `spaces` makes: run `shadowprobe build spaces --out out` first"


def test_a_file_in_the_place_of_the_directory_is_named_and_kept(capsys: Captured) -> None:
    Path("out").write_text("mine")
    assert complaint(capsys, *BEGIN) == "out is a file; give a directory"
    assert complaint(capsys, "build", "status", "--out", "out").startswith("out holds no build; ")


def test_a_wiki_that_is_not_there_is_one_line(capsys: Captured) -> None:
    assert single_line(*outcome(capsys, *BEGIN)) == f"{NOWHERE}: no connection; is the address right?"


def test_a_build_prints_its_funnel_and_says_what_to_do_next(world: Small, capsys: Captured) -> None:
    world.forget()
    code, out, err = outcome(capsys, *build(world, "--json"))
    assert (code, err) == (0, "Written to out/: shadowprobe run --dataset out\n")
    assert [Funnel(**stage) for stage in json.loads(out)] == FUNNELS
    assert list(Dataset.read(Path("out")).spaces) == ["Harlow", "Kestrel"]
    assert world.agents() == {f"shadowprobe/{shadowprobe.__version__} (+me@example.org)"}


def test_the_same_command_again_and_the_status_ask_nobody(world: Small, capsys: Captured) -> None:
    _, first, _ = outcome(capsys, *build(world, "--json"))
    asked = world.asked
    # What was given at the beginning need not be given again.
    for again in (["build", "--contact", "me"], ["build", "--from-archive"], ["build", "status"]):
        code, out, _ = outcome(capsys, *again, "--out", "out", "--json")
        assert (code, out) == (0, first)
    assert world.asked == asked


def test_other_settings_are_refused_and_those_of_speed_are_not(world: Small, capsys: Captured) -> None:
    outcome(capsys, *build(world, "spaces"))
    assert complaint(capsys, *build(world, "--seed", "8")) == (
        "out holds a build whose seed is 7, not 8; give the settings that it began with, or another --out (a copy of"
        " its build/archive there spares most requests)"
    )
    assert "whose name is 'small', not 'other'" in complaint(capsys, *build(world, "--name", "other"))
    assert outcome(capsys, *build(world, "--concurrency", "2", "--timeout", "9"))[0] == 0


def test_a_last_slash_makes_no_other_wiki(world: Small, capsys: Captured) -> None:
    outcome(capsys, *build(world, "spaces"))
    assert outcome(capsys, *build(world, "commonness", "--wiki", f"{world.url}/"))[0] == 0


def test_a_dataset_is_called_as_its_directory_unless_it_is_named(world: Small, capsys: Captured) -> None:
    given = ("build", "--wiki", world.url, "--contact", "me", *QUICK)
    assert outcome(capsys, *given, "--out", "taste")[0] == 0
    assert Dataset.read(Path("taste")).name == "taste"


def test_one_stage_leaves_the_others_to_do(world: Small, capsys: Captured) -> None:
    code, out, err = outcome(capsys, *build(world, "spaces"))
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line for line in out.splitlines() if line.split()[:1] and line.split()[0] in STAGES}
    assert list(rows) == list(STAGES)
    assert rows["spaces"].split()[:5] == ["spaces", "disambiguation", "pages", "7", "5"]
    assert [stage for stage, row in rows.items() if row.rstrip().endswith("not done yet")] == list(STAGES[1:])


def test_the_contact_may_come_from_the_environment(
    world: Small, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.forget()
    monkeypatch.setenv("SHADOWPROBE_CONTACT", "https://example.org/us")
    assert outcome(capsys, "build", "spaces", "--wiki", world.url, "--out", "out")[0] == 0
    assert world.agents() == {f"shadowprobe/{shadowprobe.__version__} (+https://example.org/us)"}


def test_two_builds_of_one_day_differ_in_nothing(
    world: Small, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1500000000")
    for out in ("one", "two"):
        assert outcome(capsys, *build(world, "--out", out))[0] == 0
    assert Path("one/dataset.json").read_bytes() == Path("two/dataset.json").read_bytes()
    assert json.loads(Path("one/dataset.json").read_text())["build"]["date"] == "2017-07-14"


def test_without_leave_no_page_of_a_private_network_is_asked_for(world: Small, capsys: Captured) -> None:
    pages = len(world.web.asked)
    given = ("build", "--wiki", world.url, "--out", "out", "--contact", "me", "--delay", "0")
    refusal = single_line(*outcome(capsys, *given))
    assert refusal.startswith("no name has snippets of its most common entity and of another")
    assert read_json(Path("out/build/crawl.json"), Funnel).dropped == {"a private address": 8}
    assert len(world.web.asked) == pages


@pytest.mark.parametrize(
    "leave", [["--allow-private"], ["--allow-network", "10.0.0.0/8", "--allow-network", "127.0.0.1"]]
)
def test_with_leave_they_are(world: Small, capsys: Captured, leave: list[str]) -> None:
    given = ("build", "--wiki", world.url, "--out", "out", "--contact", "me", "--delay", "0")
    assert outcome(capsys, *given, *leave)[0] == 0
    assert read_json(Path("out/build/crawl.json"), Funnel).kept == 7


def test_leave_that_comes_later_is_used_by_a_retry(world: Small, capsys: Captured) -> None:
    given = ("build", "--wiki", world.url, "--out", "out", "--contact", "me", "--delay", "0")
    assert outcome(capsys, *given)[0] == 2
    assert outcome(capsys, *given, "--allow-private", "--retry")[0] == 0
    assert read_json(Path("out/build/crawl.json"), Funnel).kept == 7


def test_a_terminal_shows_a_bar_for_each_stage(world: Small, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    code, _, err = outcome(capsys, *build(world))
    assert code == 0
    bars = {"spaces": "5/?", "commonness": "11/11", "crawl": "8/8", "snippets": "7/7", "tail ": "1/2"}
    for stage, counts in bars.items():
        assert any(stage in line and counts in line for line in err.splitlines()), stage


def test_templates_that_cannot_be_read_are_named(world: Small, capsys: Captured) -> None:
    Path("templates.txt").write_text("Nothing in its place.\n")
    assert single_line(*outcome(capsys, *build(world, "--templates", "templates.txt"))) == (
        "templates.txt:1: must hold {name} once"
    )


def test_a_language_without_neutral_contexts_asks_for_them(world: Small, capsys: Captured) -> None:
    refusal = single_line(*outcome(capsys, *build(world, "--language", "xx")))
    assert refusal.startswith("no neutral contexts are known for `xx` (only for ")
    assert refusal.endswith("{name} in the place of the name, by --templates")


def test_a_dataset_that_no_build_has_made_is_not_written_over(world: Small, capsys: Captured) -> None:
    Path("out").mkdir()
    Path("out/dataset.json").write_text("{}")
    assert complaint(capsys, *build(world)) == "out holds a dataset that no build has made; give another --out"


def test_a_mistyped_wiki_leaves_no_settings_behind(world: Small, capsys: Captured) -> None:
    outcome(capsys, *BEGIN)
    assert outcome(capsys, *build(world, "spaces"))[0] == 0


def test_the_users_own_neutral_contexts_are_part_of_the_build(world: Small, capsys: Captured) -> None:
    Path("own.txt").write_text("Grüße aus {name}!\n", encoding="utf-8")
    assert outcome(capsys, *build(world, "--templates", "own.txt"))[0] == 0
    Path("own.txt").unlink()
    assert outcome(capsys, *build(world, "assemble"))[0] == 0
    assert {snippet.text for snippet in Dataset.read(Path("out")).snippets("neutral")} == {
        "Grüße aus Harlow!",
        "Grüße aus Kestrel!",
    }


def test_the_largest_page_is_that_of_the_beginning(world: Small, capsys: Captured) -> None:
    assert outcome(capsys, *build(world, "spaces", "--max-bytes", "1000"))[0] == 0
    settings = Path("out/build/settings.json")
    # Smaller than any page of this world, and than the option allows.
    settings.write_text(settings.read_text().replace('"max_bytes": 1000', '"max_bytes": 100'))
    outcome(capsys, *build(world))
    stages = {funnel.stage: funnel for funnel in read_funnels(Path("out"))}
    assert stages["crawl"].dropped["too large"] > 0


@pytest.mark.parametrize("network", ["nonsense", "300.1.2.3/8", ""])
def test_a_network_that_is_none_is_refused_before_anything_is_asked(capsys: Captured, network: str) -> None:
    refusal = complaint(capsys, *BEGIN, "--allow-network", network)
    assert refusal.startswith("--allow-network: ")
    assert refusal.endswith("; a network is written as 10.1.0.0/16")


@pytest.mark.parametrize("contact", ["Jörg", "me\nyou", "\N{CLAPPER BOARD}"])
def test_a_contact_that_no_header_can_carry_is_refused(capsys: Captured, contact: str) -> None:
    assert complaint(capsys, *BEGIN, "--contact", contact).startswith("--contact: a header carries nothing but ASCII")


def test_two_builds_into_one_directory_are_one_too_many(world: Small, capsys: Captured) -> None:
    import fcntl

    outcome(capsys, *build(world, "spaces"))
    with Path("out/build/.lock").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        before = contents(Path("out"))
        for more in ((), ("spaces",), ("--from-archive",)):
            assert complaint(capsys, *build(world, *more)) == "another shadowprobe is building into out"
        assert contents(Path("out")) == before


def test_pages_may_be_on_a_storage_which_the_next_command_finds_by_itself(world: Small, capsys: Captured) -> None:
    assert outcome(capsys, *build(world))[0] == 0
    plain = made(Path("out"))
    for name, storage in (("elsewhere", "shared"), ("remote", "")):
        with serving_ftp(Path("ftp").resolve()) as ftp:
            place = storage or f"{ftp.url}/pages"
            command = build(world, "--storage", place)
            command[command.index("out")] = name
            assert outcome(capsys, *command)[0] == 0
            assert not list((Path(name) / "build" / "archive").glob("web*"))
            assert made(Path(name)) == plain
            code, _, message = outcome(capsys, *command, "--storage", "another")
            assert (code, "the pages of this build are at" in message) == (2, True)
            before = world.asked
            assert outcome(capsys, "build", "--out", name, "--from-archive")[0] == 0
            assert (made(Path(name)), world.asked) == (plain, before)
    assert [path.name for path in Path("shared").glob("*.gz")] == ["web.warc.gz"]


def test_pages_of_an_existing_crawl_are_counted_on_the_screen(world: Small, capsys: Captured) -> None:
    crawl = CaptureWorld(Path("crawl"))
    crawl.add(world.web.url("/bridge"), page(*SAID["/bridge"]).partition(b"\r\n\r\n")[2])
    crawl.write_table()
    options = ("--common-crawl", "crawl/cc-index", "--captured-before", "2024-06-01")
    code, shown, _ = outcome(capsys, *build(world, *options))
    assert code == 0
    # Eight pages are cited, and the crawl has one of them.
    (line,) = (line for line in shown.splitlines() if line.startswith("captures"))
    assert line.split() == ["captures", "pages", "cited", "8", "1", "7", "no", "capture", "in", "the", "index"]
    # The same command continues from elsewhere, and without the options.
    assert outcome(capsys, *build(world))[0] == 0
