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
        (-101, "GERBIL says that the dataset does not fit D2KB"),
        (-104, "GERBIL could not load the dataset"),
        (-107, "GERBIL was stopped meanwhile"),
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
        ('[{"gerbil:statusCode": "soon"}]', "a status is 'soon'"),
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
    ],
)
def test_a_page_sends_nobody_to_other_addresses(block: str) -> None:
    with serving(lambda *_: (200, {"Content-Type": "application/ld+json"}, b'{"@context": {}}')) as other:
        page = f'<script type="application/ld+json">{block.replace("URL", other.url)}</script>'
        with pytest.raises(PageError, match=r"^its JSON-LD is not that of GERBIL$"):
            read_tasks(page)
        assert other.requests == []


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
