"""GERBIL's page of an experiment, in every form that it comes in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from gerbil_server import Running
from gerbil_world import command, micro, rows, small_gerbil
from refusals import outcome
from service import serving

from shadowprobe.gerbil.gerbil_page import PageError, Task, read_tasks, shown_name, status_words

Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    with small_gerbil(tmp_path, monkeypatch) as found:
        yield found


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "done"),
        (-1, "running"),
        (-101, "GERBIL says that the dataset does not fit D2KB"),
        (-102, "GERBIL says that the annotator cannot do D2KB"),
        (-103, "GERBIL says that the matching does not fit D2KB"),
        (-104, "GERBIL could not load the dataset"),
        (-105, "GERBIL could not load the annotator"),
        (-106, "GERBIL met an error of its own"),
        (-107, "GERBIL was stopped meanwhile"),
        (-108, "the annotator failed on too many documents"),
        (-109, "the annotator took too long"),
        (-110, "GERBIL found no document in the dataset"),
        (-2, "unknown to GERBIL"),
        (-999, "failed with status -999"),
        (None, "not started by GERBIL"),
    ],
)
def test_every_status_has_words(code: int | None, words: str) -> None:
    assert status_words(code) == words


def test_the_page_cuts_names_where_gerbil_does() -> None:
    assert shown_name("AGDISTIS/MAG") == "AGDISTIS_MAG"
    assert shown_name("AIDA/CoNLL-Test B") == "AIDA_CoNLL"
    assert shown_name("OKE 2015_training set") == "OKE_2015"
    assert shown_name("world_tail_0123") == "world_tail_0123"


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        (None, "it has no results in JSON-LD"),
        ("{", "its JSON-LD is no JSON"),
        ("7", "its JSON-LD is not that of GERBIL"),
        ("[" * 100_000, "its JSON-LD is no JSON"),
        # Python reads this deep, and a function that calls itself does not.
        ('{"a":' * 400 + "1" + "}" * 400 + "7", "its JSON-LD is no JSON"),
        ("9" * 6000, "its JSON-LD is no JSON"),
        (f"&#{'9' * 6000};", "its JSON-LD is no JSON"),
        ('[{"gerbil:statusCode": "soon"}]', "a status is 'soon'"),
        (f'[{{"gerbil:statusCode": "{"9" * 6000}"}}]', f"a status is '{'9' * 40}...'"),
    ],
)
def test_a_page_that_is_none_is_refused_in_a_few_words(block: str | None, problem: str) -> None:
    page = f'<script type="application/ld+json">{block}</script>' if block is not None else "<p>nothing</p>"
    with pytest.raises(PageError) as refused:
        read_tasks(page)
    assert str(refused.value) == problem


@pytest.mark.parametrize(
    "block",
    [
        '{"@context": "URL", "gerbil:statusCode": 0}',
        '{"@context": [{"a": "b"}, "URL"], "gerbil:statusCode": 0}',
        '[{"@context": "URL", "gerbil:statusCode": 0}]',
        '{"@graph": [{"@context": "URL", "gerbil:statusCode": 0}]}',
        '{"@context": {"@import": "URL"}, "gerbil:statusCode": 0}',
        '{"@context": {"x": {"@id": "http://x.example/", "@context": "URL"}}, "x": {"gerbil:statusCode": 0}}',
        '{"@included": [{"@context": "URL", "gerbil:statusCode": 0}]}',
        '{"gerbil:dataset": {"@context": [null, ["URL"]]}, "gerbil:statusCode": 0}',
        '{"@context": [{"@version": 1.1, "@import": "URL"}], "gerbil:statusCode": 0}',
    ],
)
def test_a_page_sends_nobody_to_other_addresses(block: str) -> None:
    with serving(lambda *_: (200, {"Content-Type": "application/ld+json"}, b'{"@context": {}}')) as other:
        page = f'<script type="application/ld+json">{block.replace("URL", other.url)}</script>'
        with pytest.raises(PageError, match=r"^its JSON-LD is not that of GERBIL$"):
            read_tasks(page)
        assert other.requests == []


def test_a_page_makes_nobody_read_a_local_file(tmp_path: Path) -> None:
    local = tmp_path / "local.json"
    # If this context were read, the node would be a task.
    local.write_text('{"@context": {"state": "http://w3id.org/gerbil/vocab#statusCode"}}')
    for context in (f'"{local.as_uri()}"', f'["{local.as_uri()}"]', f'"{local}"'):
        block = f'{{"@context": {{}}, "@graph": [{{"@context": {context}, "state": 0}}]}}'
        with pytest.raises(PageError, match=r"^its JSON-LD is not that of GERBIL$"):
            read_tasks(f'<script type="application/ld+json">{block}</script>')


def test_a_deep_document_is_read() -> None:
    deep = '{"a": ' * 400 + '{"gerbil:statusCode": 0}' + "}" * 400
    assert len(read_tasks(f'<script type="application/ld+json">{deep}</script>')) == 1


def test_a_page_is_searched_once_whatever_it_holds() -> None:
    # Each took minutes: from every tag the search went on to the end of the page.
    for page in ("<script " * 400_000, "<script>" * 400_000, "<script application/ld+json " * 100_000):
        with pytest.raises(PageError, match="it has no results in JSON-LD"):
            read_tasks(page)


def test_a_page_with_very_many_tasks_is_read() -> None:
    nodes = [
        {
            "@id": f"http://g/task_{number}",
            "gerbil:statusCode": "0",
            "score": "0.5",
            "gerbil:dataset": f"http://g/{number}",
        }
        for number in range(20_000)
    ]
    document = {"@context": {"score": {"@id": "http://w3id.org/gerbil/vocab#Micro_Recall"}}, "@graph": nodes}
    tasks = read_tasks(f'<script type="application/ld+json">{json.dumps(document)}</script>')
    assert len(tasks) == 20_000
    assert {task.scores["Micro_Recall"] for task in tasks} == {0.5}


def test_names_that_gerbil_would_not_give_to_a_score_are_left_out() -> None:
    said: dict[str, object] = {
        "gerbil:statusCode": 0,
        "gerbil:\ud800": 0.5,
        "gerbil:\x1b[2J": 0.5,
        "gerbil:avg_millis/doc": 12.5,
    }
    said["gerbil:dataset"] = "http://g/dataId/corpora/half\ud800"
    (task,) = read_tasks(f'<script type="application/ld+json">{json.dumps(said)}</script>')
    assert task.scores == {"avg_millis/doc": 12.5}
    assert "half?" in {task.annotator, task.dataset}


def test_numbers_may_be_numbers_and_those_that_are_none_are_left_out() -> None:
    said = {
        "gerbil:annotator": "http://g/dataId/annotators/x_(uploaded)",
        "gerbil:dataset": "http://g/dataId/corpora/Y_(NIF_WS)",
        "gerbil:statusCode": 0,
        "gerbil:Micro_F1_score": 0.25,
        "gerbil:Micro_Recall": "1.0E-4",
        "gerbil:Micro_Precision": "NaN",
    }
    page = f"<SCRIPT type='application/ld+json'>{json.dumps(said)}</SCRIPT>"
    assert read_tasks(page) == [Task("Y", "x", 0, {"Micro_F1_score": 0.25, "Micro_Recall": 0.0001})]
    part = {**said, "gerbil:subExperimentOf": "http://g/task_1"}
    assert read_tasks(page.replace(json.dumps(said), json.dumps(part))) == []


def test_where_no_name_tells_which_is_which_gerbils_own_order_is_believed() -> None:
    said = {
        "gerbil:annotator": "http://g/dataId/annotators/KORE50",
        "gerbil:dataset": "http://g/dataId/corpora/AIDA",
        "gerbil:statusCode": 0,
    }
    page = f'<script type="application/ld+json">{json.dumps(said)}</script>'
    # Swapped, as every GERBIL up to 1.2.9 has it.
    assert read_tasks(page) == [Task("AIDA", "KORE50", 0, {})]
    assert read_tasks(page, ["KORE50"]) == [Task("KORE50", "AIDA", 0, {})]


@pytest.mark.parametrize("quirk", ["escaped", "expanded", "straight"])
def test_the_page_is_read_in_every_form(running: Running, capsys: Capsys, quirk: str) -> None:
    setattr(running.gerbil, quirk, True)
    code, out, _ = outcome(capsys, *command(running, "AGDISTIS/MAG", "--json"))
    assert code == 0
    assert micro(rows(out)["shadow"]) == (0.5, 0.5, 0.5)
