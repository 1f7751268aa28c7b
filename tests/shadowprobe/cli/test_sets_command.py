"""`shadowprobe sets amber` and `shadowprobe sets entity-questions`, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import complaint, outcome, single_line
from service import serving
from wikibase_standin import COUNTER, Both, refused
from wikidata_world import NAMES, write_documents, write_dump, write_views
from world import write_world

from shadowprobe.queries.amber_sets import read_amber_sets
from shadowprobe.queries.question_files import read_questions

Printed = pytest.CaptureFixture[str]
AMBER = ("sets", "amber", "--out", "out", "--documents", "documents.jsonl")
QUESTIONS = ("sets", "entity-questions", "--out", "out")
DUMP, VIEWS = ("--dump", "dump.json.gz"), ("--pageviews", "views.tsv")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a dump, articles, page views, names and triples."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHADOWPROBE_CONTACT", raising=False)
    write_dump(tmp_path / "dump.json.gz")
    write_documents(tmp_path / "documents.jsonl")
    write_views(tmp_path / "views.tsv")
    (tmp_path / "names.txt").write_text("".join(f"{name}\n" for name in NAMES))
    (tmp_path / "triples.tsv").write_text("Ada Quill\tP19\tPorthgain\t7\n")
    return tmp_path


def test_sets_alone_show_what_there_is(capsys: Printed) -> None:
    code, out, _ = outcome(capsys, "sets")
    assert code == 0
    assert "amber" in out
    assert "entity-questions" in out


def test_amber_sets_from_a_dump(capsys: Printed) -> None:
    code, out, err = outcome(capsys, *AMBER, *DUMP, *VIEWS)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "human: 2 sets, 4 entities, 4 of them with properties; queries: fc 8, sf 4, qa 4",
        "nonhuman: 2 sets, 5 entities, 4 of them with properties; queries: fc 4, sf 4, qa 4",
        "left out: 1 entities without a document",
        "left out: 1 entities without a name in the language",
        "left out: 1 entities without an article in the language",
        "left out: 1 facts that the beginning of no article states",
        "left out: 6 facts whose property a namesake has too",
        "left out: 1 names of which fewer than two entities have a property of their own",
        "left out: 1 names whose head is hardly more popular than the next entity",
        "left out: 1 values without a name in the language",
        "Written to out/",
    ]
    assert len(read_amber_sets(Path("out"))) == 6


def test_the_card_as_json(capsys: Printed) -> None:
    code, out, _ = outcome(capsys, *AMBER, *DUMP, *VIEWS, "--json")
    assert code == 0
    assert json.loads(out) == json.loads(Path("out/amber.json").read_text())


def test_a_directory_that_is_named_like_markup_is_named_as_it_is(capsys: Printed) -> None:
    code, out, _ = outcome(capsys, *AMBER, *DUMP, *VIEWS, "--out", "[red]out[/red]")
    assert code == 0
    assert out.endswith("Written to [red]out[/red]/\n")


def test_amber_sets_from_an_api_with_page_views_from_another(capsys: Printed) -> None:
    with serving(Both()) as running:
        host = running.url.removesuffix("/api")
        asked = (
            "--api",
            host,
            "--names",
            "names.txt",
            "--pageviews-api",
            host + COUNTER,
            "--contact",
            "me@example.org",
        )
        code, out, err = outcome(capsys, *AMBER, *asked)
        assert (code, err) == (0, "")
        agents = {each.headers["user-agent"] for each in running.requests}
        first = len(running.requests)
        assert outcome(capsys, *AMBER, *asked, "--force")[0] == 0
        assert len(running.requests) == first
    assert len(agents) == 1
    assert agents.pop().endswith("(+me@example.org)")
    assert "nonhuman: 2 sets, 5 entities" in out


def test_a_limit_asks_an_api_for_the_first_names_only(capsys: Printed) -> None:
    with serving(Both()) as running:
        host = running.url.removesuffix("/api")
        asked = ("--api", host, "--names", "names.txt", "--limit", "2", "--contact", "me@example.org")
        code, out, _ = outcome(capsys, *AMBER, *asked, *VIEWS)
        searched = {each.query["search"] for each in running.requests if "search" in each.query}
    assert code == 0
    assert searched == {"Ada Quill", "Bo Tarn"}
    assert out.startswith("human: 2 sets")


def test_the_names_of_a_dataset_and_its_backlinks_can_be_used(capsys: Printed) -> None:
    write_world(Path("world"))
    # None of its four rivers and ships is in the dump.
    line = single_line(*outcome(capsys, *AMBER, *DUMP, "--dataset", "world", "--backlinks", "world"))
    assert line.startswith("no AmbER set could be made (")
    assert "4 names that no two entities of a collection share" in line


def test_questions_from_triples(capsys: Printed) -> None:
    code, out, err = outcome(capsys, *QUESTIONS, "--triples", "triples.tsv")
    assert (code, err) == (0, "")
    assert out.splitlines() == ["1 questions about 1 relations", "P19 1", "Written to out/"]
    (question,) = read_questions(Path("out"))["P19"]
    assert (question.question, question.answers, question.frequency) == (
        "Where was Ada Quill born?",
        ("Porthgain",),
        7,
    )


def test_questions_from_a_dump(capsys: Printed) -> None:
    code, out, _ = outcome(capsys, *QUESTIONS, *DUMP, *VIEWS, "--per-relation", "1", "--seed", "3", "--json")
    card = json.loads(out)
    assert code == 0
    assert (card["counts"], card["per_relation"], card["seed"]) == ({"P19": 1, "P175": 1, "P264": 1}, 1, 3)
    assert card["popularity"] == {"measure": "page views", "file": "views.tsv"}


def test_what_was_made_is_not_written_over_without_force(capsys: Printed) -> None:
    for made, command in (("AmbER sets", (*AMBER, *DUMP, *VIEWS)), ("entity questions", (*QUESTIONS, *DUMP))):
        assert outcome(capsys, *command)[0] == 0
        assert complaint(capsys, *command) == f"out holds {made} already; --force writes over them"
        assert outcome(capsys, *command, "--force")[0] == 0


API = ("--api", "http://127.0.0.1:9", "--names", "names.txt")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((*AMBER, *VIEWS), "give one source of facts: --dump FILE or --api URL, and one of them only"),
        ((*AMBER, *VIEWS, *DUMP, *API), "give one source of facts: --dump FILE or --api URL"),
        ((*AMBER, *VIEWS, "--api", "http://127.0.0.1:9"), "--api: give the names to look up, with --names FILE or"),
        ((*AMBER, *VIEWS, *API), "--contact: say who is asking"),
        ((*AMBER, *VIEWS, *API, "--api", "wikidata"), "--api wikidata: is no address such as https://www.wikidata.org"),
        ((*AMBER, *DUMP), "--pageviews, --pageviews-api or --backlinks: without popularity, no entity is the head"),
        ((*AMBER, *DUMP, *VIEWS, "--backlinks", "mini"), "--pageviews, --pageviews-api and --backlinks: give one"),
        ((*AMBER, *DUMP, "--pageviews-api", "http://127.0.0.1:9"), "--contact: say who is asking"),
        ((*AMBER, *DUMP, "--pageviews-api", "rest", "--contact", "me"), "--pageviews-api rest: is no address such as"),
        (
            (*AMBER, *DUMP, "--pageviews-api", "http://127.0.0.1:9", "--month", "10/2019", "--contact", "me"),
            "--month 10/2019: a month is written as 2019-10",
        ),
        ((*AMBER, *DUMP, "--pageviews", "none.tsv"), "none.tsv: no such file"),
        ((*AMBER, *VIEWS, "--dump", "none.json"), "none.json: no such file"),
        ((*AMBER, *VIEWS, "--dump", "."), ".: is a directory, not a file"),
        ((*AMBER, *DUMP, *VIEWS, "--documents", "none.jsonl"), "none.jsonl: no such file"),
        ((*AMBER, *DUMP, *VIEWS, "--names", "none.txt"), "none.txt: no such file"),
        ((*AMBER, *DUMP, *VIEWS, "--names", "empty.txt"), "empty.txt: holds no name: write one name per line"),
        ((*AMBER, *DUMP, *VIEWS, "--names", "latin.txt"), "latin.txt:2: is not UTF-8 (byte 3"),
        ((*AMBER, *DUMP, *VIEWS, "--names", "names.txt", "--dataset", "mini"), "--names and --dataset: give one of"),
        ((*AMBER, *DUMP, *VIEWS, "--dataset", "nothing"), "unknown dataset `nothing`"),
        ((*AMBER, *DUMP, *VIEWS, "--language", "English"), "--language English: expected the code of a Wikipedia"),
        ((*AMBER, *DUMP, *VIEWS, "--out", ""), "--out: the name of the directory is empty"),
        ((*AMBER, *DUMP, *VIEWS, "--out", "names.txt"), "names.txt is a file; give a directory"),
        (QUESTIONS, "give one source of facts: --dump FILE or --api URL or --triples FILE, and one of them only"),
        ((*QUESTIONS, "--triples", "triples.tsv", *DUMP), "--triples contains everything: give it without options"),
        ((*QUESTIONS, "--triples", "none.tsv"), "none.tsv: no such file"),
        ((*QUESTIONS, "--triples", "names.txt"), "names.txt:1: has 1 columns"),
        ((*QUESTIONS, *API), "--contact: say who is asking"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line_and_nothing_is_written(
    arguments: tuple[str, ...], problem: str, capsys: Printed
) -> None:
    Path("empty.txt").write_text("\n \n")
    Path("latin.txt").write_bytes(b"Varn\nCaf\xe9\n")
    assert complaint(capsys, *arguments).startswith(problem)


def test_a_broken_dump_is_named_with_its_line(capsys: Printed) -> None:
    Path("bad.json").write_text('[\n{"id": "Q1"},\n{"id": "Q2"\n]\n')
    line = single_line(*outcome(capsys, *AMBER, *VIEWS, "--dump", "bad.json"))
    assert line.startswith("bad.json:3: not valid JSON (")


def test_a_broken_article_is_named_with_its_line(capsys: Printed) -> None:
    Path("documents.jsonl").write_text('{"id": "1", "title": "A", "text": "B"}\n{"id": 2}\n')
    line = single_line(*outcome(capsys, *AMBER, *DUMP, *VIEWS))
    assert line.startswith("documents.jsonl:2: field `id`: ")


def test_an_api_that_refuses_is_told_in_one_line(capsys: Printed) -> None:
    both = Both()
    both.wikibase.instead = [refused("badvalue", "Unrecognized value for parameter language.")]
    with serving(both) as running:
        host = running.url.removesuffix("/api")
        asked = ("--api", host, "--names", "names.txt", "--contact", "me@example.org")
        line = single_line(*outcome(capsys, *AMBER, *VIEWS, *asked))
    assert line == f"{host}/w/api.php: the API says badvalue: Unrecognized value for parameter language."
