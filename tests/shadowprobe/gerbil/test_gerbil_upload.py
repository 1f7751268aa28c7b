"""What goes up to GERBIL: the gold as its reader sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from gerbil_server import Running
from gerbil_world import command, dbpedia, document_world, micro, refusal, rows, saying, small_gerbil
from refusals import outcome
from world import NAMES, snippet, top

from shadowprobe import Card, Entity, Snippet, UsageError, write_dataset
from shadowprobe.formats import nif_documents as nif
from shadowprobe.gerbil.upload import make_package, parse_annotator

Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    with small_gerbil(tmp_path, monkeypatch) as found:
        yield found


def test_an_upload_has_one_context_and_one_linked_phrase_for_each_snippet(running: Running, capsys: Capsys) -> None:
    outcome(capsys, *command(running, "AGDISTIS/MAG", "--subset", "shadow"))
    ((name, documents),) = running.gerbil.uploads.items()
    assert name.startswith("world_shadow_")
    assert [document.text for document in documents] == [
        f"The crew of {name} cut down both masts in the gale." for name in NAMES
    ]
    for document, name in zip(documents, NAMES, strict=True):
        assert document.uri.startswith("http://shadowprobe.example/")
        assert document.gold == {(12, 16): {f"http://dbpedia.org/resource/{name}_(ship)"}}


def test_mentions_of_one_document_go_up_as_one_and_stay_in_their_places(
    running: Running, tmp_path: Path, capsys: Capsys
) -> None:
    document_world(tmp_path / "docs")
    half = saying(Avon=dbpedia(top("Avon")), Berg=dbpedia("Berg"))
    running.gerbil.annotators["Half"] = half
    arguments = command(running, "Half", "--json", "--dataset", "docs")
    code, out, err = outcome(capsys, *arguments)
    assert code == 0, out + err
    ((name, documents),) = running.gerbil.uploads.items()
    # No bracket and no `-test` in the name: GERBIL would cut it there.
    assert name.startswith("docstest2_all_")
    assert [[document.surface(span) for span in sorted(document.gold)] for document in documents] == [
        ["Avon", "Berg"],
        ["Avon", "Berg"],
    ]
    assert micro(rows(out)["all"]) == (0.5, 0.5, 0.5)
    (note,) = json.loads(out)["notes"]
    assert note.startswith("2 texts contain characters beyond U+FFFF, which GERBIL miscounts")


def test_a_character_beyond_u_ffff_goes_up_as_one_that_counts_as_one(tmp_path: Path) -> None:
    dataset = document_world(tmp_path / "docs", 1)
    (sent,) = nif.parse(make_package(dataset, "all").turtle)
    assert sent.text.startswith("Über \ufffd: where Avon")
    first = next(dataset.snippets("all"))
    assert (sent.phrases[0].start, sent.phrases[0].end) == (first.start, first.end)


def test_snippets_of_one_document_with_other_texts_stay_apart(tmp_path: Path) -> None:
    snippets = [
        Snippet(f"s{number}", "all", text, 0, 4, gold=top("Avon"), document="same")
        for number, text in enumerate(("Avon one.", "Avon two, longer."))
    ]
    dataset = write_dataset(tmp_path / "d", Card(name="d"), [Entity(top("Avon"))], [], {"all": snippets})
    found = make_package(dataset, "all")
    assert (found.documents, found.mentions) == (2, 2)
    assert sorted(document.text for document in nif.parse(found.turtle)) == ["Avon one.", "Avon two, longer."]


def test_a_german_dataset_needs_qids_since_gerbil_knows_no_german_dbpedia(tmp_path: Path) -> None:
    dataset = document_world(tmp_path / "docs", language="de")
    with pytest.raises(UsageError, match=r"http://de\.dbpedia\.org/resource/.* every gold entity needs a QID"):
        make_package(dataset, "all")


def test_one_experiment_is_requested_over_all_gold_subsets(running: Running, capsys: Capsys) -> None:
    outcome(capsys, *command(running))
    (asked,) = running.asked("execute")
    wanted = json.loads(asked.query["experimentData"])
    assert (wanted["type"], wanted["matching"]) == ("D2KB", "Ma - strong annotation match")
    assert wanted["annotator"] == ["AGDISTIS/MAG"]
    assert [name.split("_")[:3] for name in wanted["dataset"]] == [
        ["NIFDS", "world", "top"],
        ["NIFDS", "world", "shadow"],
        ["NIFDS", "world", "tail"],
    ]
    assert [name.rpartition("(")[2] for name in wanted["dataset"]] == [f"{name})" for name in running.gerbil.uploads]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--subset", "neutral"],
            "--subset neutral: GERBIL needs a subset with gold answers; `world` has top, shadow, tail",
        ),
        (["--annotator", "AGDISTIS/MAG"], "--annotator AGDISTIS/MAG: is given twice"),
        (["--annotator", "http://localhost/a(b)"], "GERBIL does not accept an address with brackets"),
        (["--annotator", ""], "--annotator: the name is empty"),
        (["--url", "gerbil.aksw.org"], "--url gerbil.aksw.org: is no address such as http://gerbil.aksw.org/gerbil"),
        (["--out", ""], "--out: the name of the directory is empty"),
    ],
)
def test_invalid_options_are_refused_before_any_request(
    running: Running, capsys: Capsys, options: list[str], words: str
) -> None:
    assert words in refusal(capsys, *command(running, "AGDISTIS/MAG", *options))
    assert running.service.requests == []


def test_a_document_without_gold_stays_behind(tmp_path: Path) -> None:
    snippets = [
        snippet("a", "all", "Only Avon.", "Avon", gold=top("Avon")),
        snippet("b", "all", "Only Berg.", "Berg"),
    ]
    dataset = write_dataset(tmp_path / "d", Card(name="d"), [Entity(top("Avon"))], [], {"all": snippets})
    found = make_package(dataset, "all")
    assert (found.documents, found.mentions) == (1, 1)
    assert [document.text for document in nif.parse(found.turtle)] == ["Only Avon."]


def test_another_content_gets_another_file_name_and_the_same_the_same(tmp_path: Path) -> None:
    names = []
    for number, text in enumerate(("Only Avon.", "Only Avon!", "Only Avon.")):
        snippets = [snippet("a", "all", text, "Avon", gold=top("Avon"))]
        path = tmp_path / f"d{number}"
        names.append(
            make_package(write_dataset(path, Card(name="d"), [Entity(top("Avon"))], [], {"all": snippets}), "all").file
        )
    assert names[0] == names[2] != names[1]


def test_a_german_dataset_with_qids_goes_up_with_wikidatas_uris(tmp_path: Path) -> None:
    snippets = [snippet("a", "all", "Nur Avon.", "Avon", gold=top("Avon"))]
    entities = [Entity(top("Avon"), qid="Q42")]
    dataset = write_dataset(tmp_path / "d", Card(name="d", language="de"), entities, [], {"all": snippets})
    (sent,) = nif.parse(make_package(dataset, "all").turtle)
    assert "http://www.wikidata.org/entity/Q42" in sent.phrases[0].uris


@pytest.mark.parametrize(
    ("text", "name", "identifier"),
    [
        ("AGDISTIS/MAG", "AGDISTIS/MAG", "AGDISTIS/MAG"),
        ("mine=http://h.example/nif", "mine", "NIFWS_mine(http://h.example/nif)"),
        ("m y-1=http://h.example/nif", "my1", "NIFWS_my1(http://h.example/nif)"),
        ("http://h.example:80/nif", "hexample80nif", "NIFWS_hexample80nif(http://h.example:80/nif)"),
        ("=http://h.example/nif", "service", "NIFWS_service(http://h.example/nif)"),
        # A password goes to GERBIL, and is no part of a name.
        ("x=http://u:secret@h.example/nif", "x", "NIFWS_x(http://u:secret@h.example/nif)"),
    ],
)
def test_an_annotator_is_one_of_gerbils_or_a_service_at_an_address(text: str, name: str, identifier: str) -> None:
    annotator = parse_annotator(text)
    assert (annotator.name, annotator.identifier) == (name, identifier)


def test_a_password_is_no_part_of_the_name_of_a_service() -> None:
    assert "secret" not in parse_annotator("http://u:secret@h.example/nif").name


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" ", "--annotator: the name is empty"),
        (
            "http://h.example/nif(1",
            r"--annotator http://h\.example/nif\(1: GERBIL does not accept an address with brackets",
        ),
        ("http://h.example/nif1)", "GERBIL does not accept an address with brackets"),
        ("mine=http://", "--annotator"),
    ],
)
def test_an_annotator_that_gerbil_cannot_use_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_annotator(text)
