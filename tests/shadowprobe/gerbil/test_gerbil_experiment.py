"""Experiments on GERBIL, against a stand-in that reads what is uploaded and computes the scores."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from gerbil_server import Answer, Document, Running
from gerbil_world import breaks, command, dbpedia, document_world, micro, refusal, rows, saying, small_gerbil
from refusals import outcome
from service import Asked, Reply
from world import shadow, snippet, top

from shadowprobe import Card, Dataset, Entity, UsageError, write_dataset
from shadowprobe.base.files import lock_file
from shadowprobe.gerbil import experiment as gerbil
from shadowprobe.gerbil.experiment import GerbilJob
from shadowprobe.gerbil.gerbil_client import Instance

Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    with small_gerbil(tmp_path, monkeypatch) as found:
        yield found


def test_the_table_has_the_scores_worked_out_by_hand(running: Running, capsys: Capsys) -> None:
    code, out, err = outcome(capsys, *command(running))
    assert code == 0, out + err
    lines = [line.split() for line in out.splitlines() if line.split()]
    assert " ".join(lines[0]) == "AGDISTIS/MAG on world, by GERBIL (D2KB)"
    # Shadow: TP 2, FP 2, FN 2. Top: TP 2, FP 1, FN 2, so P 2/3, R 2/4, F 4/7. Tail: TP 1.
    assert ["Shadow", "0.500", "0.500", "0.500", "0.500", "0", "done"] in lines
    assert ["Top", "0.667", "0.500", "0.571", "0.500", "0", "done"] in lines
    assert ["Tail", "1.000", "1.000", "1.000", "1.000", "0", "done"] in lines
    assert "threshold" not in out
    assert f"experiment 202111070000 started: {running.url}/experiment?id=202111070000" in err
    assert "Written to runs/gerbil-AGDISTIS_MAG-world/" in err


def test_a_directory_holds_the_experiment_that_is_named_and_no_other(running: Running, capsys: Capsys) -> None:
    outcome(capsys, *command(running))
    path = "runs/gerbil-AGDISTIS_MAG-world/gerbil.json"
    assert refusal(capsys, *command(running, "AGDISTIS/MAG", "--experiment", "202111079999")) == (
        f"{path} holds experiment 202111070000; give another --out, or --force to replace it"
    )
    code, _, err = outcome(capsys, *command(running, "AGDISTIS/MAG", "--experiment", "202111070000"))
    assert code == 0
    assert "experiment 202111070000 is done: " in err
    assert len(running.asked("execute")) == 1


def test_the_card_holds_the_experiment_and_all_its_numbers(running: Running, capsys: Capsys) -> None:
    code, out, _ = outcome(capsys, *command(running, "AGDISTIS/MAG", "--json"))
    assert code == 0
    card = json.loads(Path("runs/gerbil-AGDISTIS_MAG-world/gerbil.json").read_text())
    assert card == json.loads(out)
    assert (card["schema"], card["experiment"]) == (1, "202111070000")
    assert card["page"] == f"{running.url}/experiment?id=202111070000"
    assert card["annotators"] == [{"name": "AGDISTIS/MAG", "url": None}]
    assert card["dataset"]["name"] == "world"
    assert card["subsets"]["top"]["documents"] == card["subsets"]["top"]["mentions"] == 4
    assert {row["subset"] for row in card["rows"]} == {"top", "shadow", "tail"}
    assert rows(out)["top"]["scores"]["avg_millis/doc"] == 12.5


def test_two_commands_at_the_same_time_start_one_experiment(running: Running, capsys: Capsys) -> None:
    out = Path("runs/gerbil-AGDISTIS_MAG-world")
    out.mkdir(parents=True)
    with lock_file(out, ".lock"):
        assert refusal(capsys, *command(running)) == f"another shadowprobe is writing to {out}"
    assert not (out / "gerbil.json").exists()
    assert outcome(capsys, *command(running))[0] == 0


def test_macro_is_the_mean_over_documents(running: Running, tmp_path: Path, capsys: Capsys) -> None:
    texts = {"a": ("Avon meets Berg.", ("Avon", "Berg")), "b": ("Only Avon.", ("Avon",))}
    snippets = [
        snippet(f"{key}{name}", "all", text, name, gold=top(name), document=key)
        for key, (text, names) in texts.items()
        for name in names
    ]
    entities = [Entity(top("Avon")), Entity(top("Berg"))]
    write_dataset(tmp_path / "two", Card(name="two"), entities, [], {"all": snippets})
    running.gerbil.annotators["Half"] = saying(Avon=dbpedia(top("Avon")), Berg=dbpedia("Berg"))
    _, out, _ = outcome(capsys, *command(running, "Half", "--json", "--dataset", "two"))
    row = rows(out)["all"]
    # Micro: TP 2, FP 1, FN 1. Macro: 1/2 for the first document and 1 for the second.
    assert micro(row) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert row["scores"]["Macro_F1_score"] == 0.75


def test_scores_at_a_threshold_are_called_so(running: Running, capsys: Capsys) -> None:
    code, out, _ = outcome(capsys, *command(running, "AIDA"))
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    # Above 0.3 there are TP 2, FP 0, FN 2: P 1, R 1/2, F 2/3, where all answers together have F 4/7.
    assert ["Top", "1.000", "0.500", "0.667", "0.500", "0", "0.300", "done"] in lines
    # It knows no ships, so nothing is cut and nothing is right.
    assert ["Shadow", "0.000", "0.000", "0.000", "0.000", "0", "done"] in lines
    words = " ".join(out.split())
    assert "note: the scores are at the confidence threshold with the best micro F1 on this test set" in words


def test_a_note_says_that_gerbils_own_rel_finds_its_own_mentions(running: Running, capsys: Capsys) -> None:
    _, out, _ = outcome(capsys, *command(running, "REL"))
    assert "GERBIL's own REL does not get the mentions" in " ".join(out.split())
    _, out, _ = outcome(capsys, *command(running, "AGDISTIS/MAG"))
    assert "REL" not in out


def test_a_note_reports_gold_that_gerbil_does_not_know(running: Running, capsys: Capsys) -> None:
    running.gerbil.unheard = {dbpedia(shadow("Como"))}
    _, out, _ = outcome(capsys, *command(running, "AGDISTIS/MAG", "--json"))
    # The explicit NIL for Como is now right: TP 3, FP 1, FN 1. Without Como: TP 2, FP 1, FN 1.
    assert micro(rows(out)["shadow"]) == (0.75, 0.75, 0.75)
    (note,) = json.loads(out)["notes"]
    assert note == (
        "GERBIL does not find some gold entities of shadow in a knowledge base, and counts an explicit NIL as correct"
        " there: over the others AGDISTIS/MAG has a micro F1 of 0.667"
    )


def test_documents_that_failed_are_counted_and_called_empty_answers(
    running: Running, tmp_path: Path, capsys: Capsys
) -> None:
    document_world(tmp_path / "docs", 5)
    calls = iter(range(5))

    def fails_once(document: Document) -> list[Answer]:
        return breaks(document) if next(calls) == 2 else saying(Avon=dbpedia(top("Avon")))(document)

    running.gerbil.annotators["Shaky"] = fails_once
    code, out, _ = outcome(capsys, *command(running, "Shaky", "--json", "--dataset", "docs"))
    assert code == 0
    row = rows(out)["all"]
    assert row["scores"]["Error_Count"] == 1
    # Four of ten mentions are answered, all rightly: F = 2 * 0.4 / 1.4.
    assert micro(row) == pytest.approx((1.0, 0.4, 0.8 / 1.4))
    assert "Shaky failed on 1 documents of all: GERBIL counts them as empty answers" in json.loads(out)["notes"]


def test_a_task_that_failed_has_words_in_place_of_numbers_and_exit_code_1(running: Running, capsys: Capsys) -> None:
    code, out, err = outcome(capsys, *command(running, "Broken"))
    assert code == 1
    assert out.count("the annotator failed on too many documents") == 3
    assert "not every task is done (see the status); --force starts all of them again" in err
    card = json.loads(Path("runs/gerbil-Broken-world/gerbil.json").read_text())
    assert {row["status"] for row in card["rows"]} == {-108}
    assert all("scores" not in row or not row["scores"] for row in card["rows"])


def test_several_annotators_share_an_experiment_and_a_table(running: Running, capsys: Capsys) -> None:
    code, out, _ = outcome(capsys, *command(running, "AGDISTIS/MAG", "--annotator", "Broken"))
    assert code == 1
    assert len(running.asked("execute")) == 1
    lines = [line.split() for line in out.splitlines()]
    assert ["AGDISTIS/MAG", "Top", "0.667", "0.500", "0.571", "0.500", "0", "done"] in lines
    assert ["Broken", "Top", "the", "annotator", "failed", "on", "too", "many", "documents"] in lines


def test_a_running_task_is_polled_until_it_is_done(running: Running, capsys: Capsys) -> None:
    running.gerbil.slow = 3
    code, out, _ = outcome(capsys, *command(running, "AGDISTIS/MAG", "--json"))
    assert code == 0
    assert len(running.asked("experiment")) == 4
    assert micro(rows(out)["top"]) == pytest.approx((2 / 3, 1 / 2, 4 / 7))


def test_there_is_the_given_pause_between_two_polls(running: Running, capsys: Capsys) -> None:
    running.gerbil.slow = 2
    assert outcome(capsys, *command(running, "AGDISTIS/MAG", "--poll", "0.3"))[0] == 0
    moments = [asked.moment for asked in running.asked("experiment")]
    pauses = [later - earlier for earlier, later in pairwise(moments)]
    assert [pause >= 0.29 for pause in pauses] == [True, True]


def test_a_poll_that_fails_does_not_lose_the_experiment(running: Running, capsys: Capsys) -> None:
    faults = iter([503, 502])

    def flaky(number: int, asked: Asked) -> Reply:
        if asked.path.endswith("/experiment") and (status := next(faults, None)) is not None:
            return status, {}, b"restarting"
        return running.gerbil(number, asked)

    running.service.behaviour = flaky
    code, _, err = outcome(capsys, *command(running))
    assert code == 0, err
    assert len(running.asked("experiment")) == 3
    assert len(running.asked("execute")) == 1


def test_an_instance_that_stays_away_is_given_up_with_a_way_back(
    running: Running, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gerbil, "MAX_SILENT_POLLS", 3)

    def gone(number: int, asked: Asked) -> Reply:
        return (503, {}, b"") if asked.path.endswith("/experiment") else running.gerbil(number, asked)

    running.service.behaviour = gone
    code, _, err = outcome(capsys, *command(running))
    assert code == 2
    assert err.splitlines()[-1] == (
        f"shadowprobe: {running.url}/experiment: 503 Service Unavailable; experiment 202111070000 may still be running:"
        " repeat the command to read it"
    )
    assert len(running.asked("experiment")) == 3
    running.service.behaviour = running.gerbil
    assert outcome(capsys, *command(running))[0] == 0
    assert len(running.asked("execute")) == 1


def test_a_time_out_says_how_to_go_on_and_keeps_the_experiment(running: Running, capsys: Capsys) -> None:
    running.gerbil.slow = 10**6
    code, out, err = outcome(capsys, *command(running, "AGDISTIS/MAG", "--timeout", "1"))
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == (
        "shadowprobe: experiment 202111070000 has no result after 1 s: repeat the command to continue waiting;"
        f" {running.url}/experiment?id=202111070000 shows its state"
    )
    running.gerbil.slow = 0
    code, _, err = outcome(capsys, *command(running))
    assert code == 0
    assert "experiment 202111070000 goes on: " in err
    assert len(running.asked("execute")) == 1


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_a_command_ended_while_it_waits_goes_on_with_the_same_experiment(
    running: Running, capsys: Capsys, blow: signal.Signals
) -> None:
    running.gerbil.slow = 10**6
    # A shell makes the jobs that it starts in the background deaf to Ctrl-C, and their children too.
    hearing = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    script = f"{hearing}; from shadowprobe.cli import main; main()"
    arguments = [sys.executable, "-c", script, *command(running)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and len(running.asked("experiment")) < 2:
        time.sleep(0.01)
    process.send_signal(blow)
    _, err = process.communicate()
    if blow == signal.SIGINT:
        assert process.returncode == 130
        assert f"experiment 202111070000 goes on at GERBIL: {running.url}/experiment?id=202111070000" in err
        assert err.splitlines()[-1] == "shadowprobe: interrupted; the same command goes on where it stopped"
    running.gerbil.slow = 0
    code, out, err = outcome(capsys, *command(running, "AGDISTIS/MAG", "--json"))
    assert code == 0, out + err
    assert json.loads(out)["experiment"] == "202111070000"
    assert len(running.asked("execute")) == 1
    assert len(running.asked("file/upload")) == 3


def test_a_finished_experiment_is_printed_again_without_gerbil(running: Running, capsys: Capsys) -> None:
    _, first, _ = outcome(capsys, *command(running, "AIDA", "--json"))
    running.service.behaviour = lambda *_: (503, {}, b"")
    asked = len(running.service.requests)
    code, again, err = outcome(capsys, *command(running, "AIDA", "--json"))
    assert (code, again) == (0, first)
    assert "experiment 202111070000 is done: " in err
    assert len(running.service.requests) == asked


def test_progress_counts_the_finished_tasks(running: Running, capsys: Capsys) -> None:
    outcome(capsys, *command(running))
    running.gerbil.slow = running.gerbil.looks + 2
    steps: list[tuple[int, int]] = []
    gerbil.wait_for_tasks(
        Instance(running.url),
        "202111070000",
        poll=0.01,
        timeout=60,
        watch=lambda *counts: steps.append(counts),
        annotators=(),
    )
    assert steps == [(0, 3), (0, 3), (3, 3)]


def test_force_starts_anew(running: Running, capsys: Capsys) -> None:
    outcome(capsys, *command(running))
    _, out, _ = outcome(capsys, *command(running, "AGDISTIS/MAG", "--force", "--json"))
    assert json.loads(out)["experiment"] == "202111070001"


@pytest.mark.parametrize(
    ("other", "option"),
    [(("--annotator", "AIDA"), "--annotator"), (("--subset", "top"), "--subset"), (("--dataset", "docs"), "--dataset")],
)
def test_a_directory_with_another_experiment_is_left_alone(
    running: Running, tmp_path: Path, capsys: Capsys, other: tuple[str, str], option: str
) -> None:
    document_world(tmp_path / "docs")
    outcome(capsys, *command(running, "AGDISTIS/MAG", "--out", "mine"))
    before = Path("mine/gerbil.json").read_bytes()
    assert refusal(capsys, *command(running, "AGDISTIS/MAG", "--out", "mine", *other)) == (
        f"mine/gerbil.json holds an experiment with another {option}; give another --out, or --force to replace it"
    )
    assert Path("mine/gerbil.json").read_bytes() == before


def test_an_experiment_whose_card_is_lost_can_be_read_by_its_id(running: Running, capsys: Capsys) -> None:
    outcome(capsys, *command(running))
    Path("runs/gerbil-AGDISTIS_MAG-world/gerbil.json").unlink()
    code, out, err = outcome(capsys, *command(running, "AGDISTIS/MAG", "--experiment", "202111070000", "--json"))
    assert code == 0
    assert "experiment 202111070000 goes on: " in err
    assert micro(rows(out)["top"]) == pytest.approx((2 / 3, 1 / 2, 4 / 7))
    assert len(running.asked("execute")) == 1


def test_an_experiment_whose_card_cannot_be_written_is_named(running: Running, capsys: Capsys) -> None:
    Path("mine/gerbil.json").mkdir(parents=True)
    assert refusal(capsys, *command(running, "AGDISTIS/MAG", "--out", "mine", "--force")) == (
        "mine/gerbil.json: cannot be written (Is a directory); experiment 202111070000 is running:"
        " read it with --experiment 202111070000 and another --out"
    )
    assert outcome(capsys, *command(running, "AGDISTIS/MAG", "--experiment", "202111070000"))[0] == 0
    assert len(running.asked("execute")) == 1


def test_the_id_of_another_experiment_is_refused(running: Running, capsys: Capsys) -> None:
    outcome(capsys, *command(running, "AIDA", "--subset", "tail"))
    name = next(iter(running.gerbil.uploads)).removesuffix(".ttl")
    code, _, err = outcome(capsys, *command(running, "AGDISTIS/MAG", "--experiment", "202111070000"))
    assert code == 2
    assert err.splitlines()[-1] == (
        f"shadowprobe: {running.url}/experiment?id=202111070000 is another experiment: AIDA on {name};"
        " `shadowprobe gerbil show` reads it"
    )


def test_show_prints_any_experiment_and_writes_nothing(running: Running, capsys: Capsys) -> None:
    outcome(capsys, *command(running, "AIDA", "--subset", "top", "--out", "first"))
    files = sorted(Path.cwd().rglob("*"))
    running.gerbil.straight = True
    code, out, _ = outcome(capsys, "gerbil", "show", "202111070000", "--url", f"{running.url}/", "--json")
    assert code == 0
    (row,) = json.loads(out)["rows"]
    assert row["annotator"] == "AIDA"
    assert row["subset"].startswith("world_top_")
    assert micro(row) == pytest.approx((1.0, 1 / 2, 2 / 3))
    assert sorted(Path.cwd().rglob("*")) == files
    running.gerbil.slow = 10**6
    code, out, _ = outcome(capsys, "gerbil", "show", "202111070000", "--url", running.url)
    assert (code, "running" in out) == (1, True)


def test_an_experiment_that_gerbil_does_not_know_is_one_line(running: Running, capsys: Capsys) -> None:
    assert refusal(capsys, "gerbil", "show", "199901010000", "--url", running.url) == (
        f"{running.url} knows no experiment 199901010000; `shadowprobe gerbil run --force` starts a new one"
    )


def test_a_damaged_card_is_refused_by_name(running: Running, capsys: Capsys) -> None:
    outcome(capsys, *command(running, "AIDA", "--out", "mine"))
    path = Path("mine/gerbil.json")
    path.write_text(path.read_text().replace('"url"', '"address"', 1))
    assert refusal(capsys, *command(running, "AIDA", "--out", "mine")).startswith("mine/gerbil.json: field `url`: ")


@pytest.mark.parametrize(
    ("annotators", "words"),
    [
        ([], "--annotator: name one of GERBIL's annotators, or the URL of a NIF service"),
        (["AIDA", "AIDA"], "--annotator AIDA: is given twice"),
        # GERBIL's page shows both as A_B.
        (["A B", "WAT", "A/B"], "--annotator A B: is given twice, or GERBIL shows two of them with the same name"),
    ],
)
def test_annotators_are_told_apart_before_anything_is_asked(world: Dataset, annotators: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        GerbilJob("http://127.0.0.1:9/gerbil", annotators, world)
    assert GerbilJob("http://127.0.0.1:9/gerbil", ["AIDA", "WAT"], world).out == Path("runs/gerbil-AIDA+WAT-world")
