"""`shadowprobe answer`, as a user types it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_models import saying, v1
from msgspec.structs import replace
from namesake_sets import (
    AVON,
    AVON_SAID,
    BERG,
    BERG_SAID,
    COMO,
    COMO_SAID,
    SETS,
    ambig_set,
    as_released,
    question_in,
    reader,
    write_sets,
)
from refusals import complaint, outcome
from service import Asked, Reply, Service, serving
from wire import as_json

from shadowprobe.catalogue.datasets import builtin_directory
from shadowprobe.queries.ambigdocs_sets import read_ambigdocs
from shadowprobe.systems.chat_answerer import make_prompt


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every command runs in a folder of its own, beside the three sets."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHADOWPROBE_LLM_TOKEN", raising=False)
    write_sets(tmp_path / "sets.json")
    return tmp_path


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(reader) as running:
        yield running


def arguments(service: Service, *more: str) -> list[str]:
    return ["answer", "--url", v1(service), "--model", "small", "--queries", "sets.json", "--out", "run", *more]


def stored(name: str = "run/answers.jsonl") -> dict[str, str]:
    """The answers of a file."""
    lines = [json.loads(line) for line in Path(name).read_text().splitlines()]
    return {line["id"]: line["answer"] for line in lines}


def results(name: str = "run") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(name) / "results.json").read_text())
    return found


def kinds(name: str = "run") -> dict[str, int]:
    """How many answers of each kind there are, without those of which there are none."""
    found = results(name)["probes"]["ambigdocs"]["categories"]
    return {kind: row["n"] for kind, row in found.items() if row["n"]}


def test_a_run_asks_measures_and_writes(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, *arguments(service))
    assert code == 0, err
    assert stored() == {"avon": AVON_SAID, "berg": BERG_SAID, "como": COMO_SAID}
    found = results()
    assert (found["schema"], found["missing"], found["model"]["name"]) == (1, 0, "small")
    assert found["queries"] | {"digest": ""} == {
        "name": "sets",
        "digest": "",
        "documents": None,
        "sets": 3,
        "limit": None,
    }
    # Recall of entity and answer: one half, one half, and all.
    assert found["probes"]["ambigdocs"]["entity_answer_recall"] == pytest.approx(2 / 3)
    assert kinds() == {"partial": 1, "merged": 1, "complete": 1}
    assert "small on sets" in out
    assert "66.7%" in out
    assert "3 answered in" in err
    assert not Path("run/failures.jsonl").exists()
    card = json.loads(Path("run/run.json").read_text())
    assert card["model"]["options"]["url"] == v1(service)


def test_json_is_what_results_holds(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = outcome(capsys, *arguments(service, "--json"))
    assert json.loads(out) == results()


def test_the_same_command_again_asks_nobody(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *arguments(service))
    before = Path("run/results.json").read_bytes()
    code, _, err = outcome(capsys, *arguments(service, "--concurrency", "2"))
    assert (code, len(service.requests)) == (0, 3)
    assert "3 taken from an earlier run" in err
    assert json.loads(before)["probes"] == results()["probes"]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(saying(""), id="empty"),
        pytest.param(lambda *_: (200, {"Content-Type": "text/html"}, b"<html></html>"), id="HTML"),
    ],
)
def test_a_set_that_fails_has_no_answer_and_is_asked_about_again(
    service: Service, capsys: pytest.CaptureFixture[str], reply: Callable[..., Reply]
) -> None:
    service.behaviour = lambda number, asked: (reply if "Berg" in question_in(asked) else reader)(number, asked)
    code, out, err = outcome(capsys, *arguments(service))
    assert code == 1
    assert set(stored()) == {"avon", "como"}
    (failed,) = [json.loads(line) for line in Path("run/failures.jsonl").read_text().splitlines()]
    assert failed["id"] == "berg"
    assert results()["missing"] == 1
    assert kinds() == {"partial": 1, "no_answer": 1, "complete": 1}
    assert "1 sets have no answer" in out
    assert "1 sets failed and count as not answered: run/failures.jsonl lists them" in err
    service.behaviour = reader
    asked_before = len(service.requests)
    code, _, _ = outcome(capsys, *arguments(service))
    assert (code, [question_in(asked) for asked in service.requests[asked_before:]]) == (0, [BERG.question])
    assert not Path("run/failures.jsonl").exists()


def test_a_run_that_was_stopped_goes_on_without_asking_again(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    service.behaviour = lambda number, asked: reader(number, asked) if number == 1 else (401, {}, b"")
    code, _, err = outcome(capsys, *arguments(service, "--concurrency", "1"))
    assert code == 2
    assert "is the token in SHADOWPROBE_LLM_TOKEN right?" in err
    with Path("run/answers.jsonl").open("a") as file:
        # What a kill in the middle of a write leaves.
        file.write('{"id":"berg","ans')
    service.behaviour = reader
    code, _, err = outcome(capsys, *arguments(service, "--concurrency", "1"))
    assert (code, "1 taken from an earlier run; 2 answered" in err) == (0, True)
    assert [question_in(asked) for asked in service.requests] == [
        AVON.question,
        BERG.question,
        BERG.question,
        COMO.question,
    ]
    assert list(stored()) == ["avon", "berg", "como"]


def test_a_run_that_was_killed_goes_on_without_asking_again(folder: Path) -> None:
    many = [replace(AVON, qid=number, question=f"What of Avon {number}?") for number in range(100)]
    write_sets(folder / "sets.json", *many)

    def slow(_: int, asked: Asked) -> Reply:
        time.sleep(0.01)
        return saying(question_in(asked))(_, asked)

    with serving(slow) as service:
        command = [sys.executable, "-m", "shadowprobe", *arguments(service)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        answers = folder / "run" / "answers.jsonl"
        while process.poll() is None and not (answers.exists() and answers.stat().st_size):
            time.sleep(0.001)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        kept = set(stored())
        before = len(service.requests)
        assert 1 <= len(kept) < 100
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        assert finished.returncode == 0, finished.stderr
        again = {question_in(asked) for asked in service.requests[before:]}
    assert not again & {f"What of Avon {number}?" for number in kept}
    assert stored() == {str(number): f"What of Avon {number}?" for number in range(100)}


def test_a_busy_server_is_waited_for(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    def busy_at_first(number: int, asked: Asked) -> Reply:
        return (429, {"Retry-After": "1"}, b"") if number == 1 else reader(number, asked)

    service.behaviour = busy_at_first
    code, _, _ = outcome(capsys, *arguments(service, "--concurrency", "1"))
    assert (code, len(service.requests), len(stored())) == (0, 4, 3)


def test_a_dead_server_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    dead = ["answer", "--url", "http://127.0.0.1:9/v1", "--model", "small", "--queries", "sets.json", "--out", "run"]
    code, out, err = outcome(capsys, *dead)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "http://127.0.0.1:9/v1/chat/completions: no connection" in err
    assert "--url ... names another address" in err


def test_a_model_that_never_answers_stops_the_run(
    service: Service, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sets(folder / "sets.json", *(replace(AVON, qid=number) for number in range(40)))
    service.behaviour = saying("")
    code, _, err = outcome(capsys, *arguments(service))
    assert code == 2
    message = re.search(r"model `small` failed on each of its first (\d+) sets, the last time with: the reply is", err)
    assert message is not None
    # Sixteen failures are enough; more may have arrived with the sixteenth.
    assert 16 <= int(message[1]) <= len(service.requests) <= 40


def test_another_model_does_not_go_on_with_the_answers_of_the_first(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome(capsys, *arguments(service))
    said = complaint(capsys, *arguments(service, "--model", "large"))
    assert said == (
        "run holds a run whose model name is 'small', not 'large'; give another --out, or --force to start it afresh"
    )
    assert "model options order_seed is 0, not 1;" in complaint(capsys, *arguments(service, "--order-seed", "1"))
    assert "queries documents is None, not 2" in complaint(capsys, *arguments(service, "--documents", "2"))
    code, _, _ = outcome(capsys, *arguments(service, "--model", "large", "--force"))
    assert (code, len(service.requests), results()["model"]["name"]) == (0, 6, "large")


def test_only_the_first_documents_and_sets_are_asked_about(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = outcome(capsys, *arguments(service, "--documents", "2", "--limit", "1"))
    assert (code, len(service.requests), results()["queries"]["sets"]) == (0, 1, 1)
    assert "only the first 2 documents of a set count" in out
    outcome(capsys, *arguments(service, "--documents", "2"))
    # The first is known by now; of Como the play is not shown, and not missed.
    (como,) = [asked for asked in service.requests if question_in(asked) == COMO.question]
    assert (len(service.requests), "Como (play)" in como.json["messages"][0]["content"]) == (3, False)
    assert results()["probes"]["ambigdocs"]["by_documents"].keys() == {"2"}


def prompts(service: Service) -> list[str]:
    return [asked.json["messages"][0]["content"] for asked in service.requests]


def card() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(Path("run/run.json").read_text())
    return read


def test_documents_are_shown_in_the_order_that_is_chosen(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, *arguments(service, "--order", "reversed"))
    assert code == 0
    for prompt in prompts(service):
        assert re.findall(r"Document 1: .*\((.*)\)", prompt) in (["ship"], ["play"])
    assert card()["model"]["options"]["order"] == "reversed"
    # Of Avon the last document of the file is shown first, and its answer is not given.
    ends = results()["probes"]["ambigdocs"]["positions"]["first_minus_last"]
    assert (ends["first_only"], ends["last_only"], ends["both"]) == (0, 1, 2)
    assert "Is the first document favoured? (AmbigDocs)" in out
    assert "small: first minus last document of a set -33.3 points" in out
    said = complaint(capsys, *arguments(service, "--order", "given"))
    assert said.startswith("run holds a run whose model options order is 'reversed', not 'given';")


def test_a_run_of_an_earlier_version_goes_on(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *arguments(service))
    options = card()["model"]["options"]
    assert (options["order_seed"], "order" in options, "shots" in options) == (0, False, False)
    assert card()["queries"].keys() == {"name", "digest", "documents"}


def test_a_run_is_scored_again_in_the_order_that_it_had(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *arguments(service, "--order", "reversed"))
    before = Path("run/results.json").read_bytes()
    outcome(capsys, *score(predictions="run"))
    assert Path("run/results.json").read_bytes() == before


def test_of_stored_answers_the_user_says_in_which_order_they_saw_the_documents(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_answers("said.jsonl", ("como", COMO_SAID), ("avon", AVON_SAID), ("berg", BERG_SAID))
    _, out, _ = outcome(capsys, *score("--out", "scored"))
    assert "Is the first document favoured?" not in out
    _, out, _ = outcome(capsys, *score("--out", "ordered", "--order", "given"))
    assert "Is the first document favoured?" in out
    ends = results("ordered")["probes"]["ambigdocs"]["positions"]["first_minus_last"]
    assert (ends["first_only"], ends["last_only"], ends["both"]) == (1, 0, 2)


def test_examples_come_from_names_that_nobody_is_asked_about(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    shots = ("--shots", "1", "--held-out", "1", "--shots-seed", "3")
    code, _, err = outcome(capsys, *arguments(service, *shots))
    assert (code, len(service.requests), results()["queries"]["sets"]) == (0, 2, 2), err
    assert results()["queries"]["held_out"] == {"names": 1, "seed": 3}
    (held,) = {one.id for one in SETS} - stored().keys()
    (example,) = [one for one in SETS if one.id == held]
    for asked in service.requests:
        assert f"Question: {example.question}\nAnswer: " in asked.json["messages"][0]["content"]
        assert question_in(asked) != example.question
    options = card()["model"]["options"]
    assert (options["shots"], options["shots_seed"]) == (1, 3)
    # The same command goes on, and a run is scored again without what was held out.
    outcome(capsys, *arguments(service, *shots))
    assert len(service.requests) == 2
    before = Path("run/results.json").read_bytes()
    code, _, err = outcome(capsys, *score(predictions="run"))
    assert (code, Path("run/results.json").read_bytes()) == (0, before), err
    said = complaint(capsys, *arguments(service, "--held-out", "1", "--shots-seed", "3"))
    assert "shots" in said


def test_runs_with_and_without_examples_are_compared_over_the_same_sets(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome(capsys, *arguments(service, "--shots", "1", "--held-out", "1"))
    asking = ["answer", "--url", v1(service), "--model", "small", "--queries", "sets.json"]
    outcome(capsys, *asking, "--out", "none")
    said = complaint(capsys, "compare", "run", "none")
    assert said == (
        "the runs are over different parts of `sets`: run over all but 1 names that are held out (seed 0), none over"
        " all of it; run both with the same --held-out"
    )
    outcome(capsys, *asking, "--held-out", "1", "--out", "plain")
    code, out, err = outcome(capsys, "compare", "run", "plain")
    assert code == 0, err
    assert "small (shots=1 shots_seed=0)" in out
    assert outcome(capsys, "report", "run", "plain")[0] == 0


def test_runs_with_other_examples_or_another_order_have_directories_of_their_own(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    asking = ["answer", "--url", v1(service), "--model", "small", "--queries", "sets.json"]
    for options in ((), ("--shots", "1", "--held-out", "1"), ("--held-out", "1"), ("--order", "given")):
        assert outcome(capsys, *asking, *options)[0] == 0
    names = {path.name for path in Path("runs").iterdir()}
    assert names == {"small-sets", "small-shots=1-sets", "small-held-out=1-sets", "small-order=given-sets"}


def test_examples_of_another_file_are_part_of_the_run(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    # A set about each name that is asked about is planted among the examples.
    other = ambig_set("x", "Xanadu", ("Xanadu (song)", "Oslo"), ("Xanadu (film)", "Rome"))
    leaks = [replace(one, qid=f"{one.id}-again", question="Leaked?") for one in SETS]
    write_sets(Path("train.json"), *leaks[:2], other)
    shots = ("--shots", "1", "--examples", "train.json")
    code, _, err = outcome(capsys, *arguments(service, *shots))
    assert (code, len(service.requests)) == (0, 3), err
    for asked, prompt in zip(service.requests, prompts(service), strict=True):
        if question_in(asked) != COMO.question:
            assert "Leaked?" not in prompt
            assert "Answer: Xanadu (" in prompt
    assert "held_out" not in results()["queries"]
    assert card()["model"]["examples"]["name"] == "train"
    write_sets(Path("train.json"), other)
    said = complaint(capsys, *arguments(service, *shots))
    assert said.startswith("run holds a run whose model examples digest is ")


def test_the_prompt_with_examples_can_be_seen(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, "answer", "--shots", "3", "--show-prompt")
    assert code == 0
    assert (out.count("\nAnswer: "), out.count("\nAnswer:\n")) == (3, 1)


def test_the_prompt_can_be_seen_and_nobody_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, "answer", "--queries", "sets.json", "--show-prompt")
    assert (code, out) == (0, f"{make_prompt(AVON)}\n")
    assert not Path("runs").exists()


def test_without_a_file_the_sets_of_the_package_are_asked_about(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, "answer", "--show-prompt")
    assert code == 0
    assert out.startswith("Answer the question from the documents below")


def test_the_run_directory_is_named_after_model_and_sets(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["answer", "--url", v1(service), "--model", "org/small:1b", "--queries", "sets.json"]
    assert outcome(capsys, *command)[0] == 0
    assert Path("runs/org_small_1b-sets/results.json").exists()


def write_answers(name: str, *answers: tuple[str, str]) -> None:
    Path(name).write_text("".join(json.dumps({"id": key, "answer": said}) + "\n" for key, said in answers))


def score(*more: str, predictions: str = "said.jsonl") -> list[str]:
    return ["answer", "--predictions", predictions, "--queries", "sets.json", *more]


def test_stored_answers_are_scored(capsys: pytest.CaptureFixture[str]) -> None:
    write_answers("said.jsonl", ("como", COMO_SAID), ("avon", AVON_SAID), ("berg", BERG_SAID))
    code, out, err = outcome(capsys, *score("--name", "mine"))
    assert (code, err) == (0, "Written to runs/mine-sets/\n")
    assert kinds("runs/mine-sets") == {"partial": 1, "merged": 1, "complete": 1}
    assert "mine on sets" in out
    assert stored("runs/mine-sets/answers.jsonl")["berg"] == BERG_SAID


def test_every_set_of_the_package_can_be_answered_completely(capsys: pytest.CaptureFixture[str]) -> None:
    sets = read_ambigdocs(builtin_directory("namesakes") / "ambigdocs.json")
    said = {one.id: " ".join(f"{each.title}: {each.answers[0]}." for each in one.documents) for one in sets}
    write_answers("said.jsonl", *said.items())
    code, _, err = outcome(capsys, "answer", "--predictions", "said.jsonl", "--out", "scored")
    assert code == 0, err
    assert kinds("scored") == {"complete": len(sets)}
    assert results("scored")["probes"]["ambigdocs"]["entity_answer_recall"] == pytest.approx(1.0)


def test_a_set_without_a_stored_answer_counts_as_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    write_answers("said.jsonl", ("avon", AVON_SAID))
    code, out, _ = outcome(capsys, *score("--out", "scored"))
    assert (code, results("scored")["missing"]) == (1, 2)
    assert kinds("scored") == {"partial": 1, "no_answer": 2}
    assert "2 sets have no answer (failed or not in the file); they count as no answer" in out


@pytest.mark.parametrize("numbered", [True, False])
def test_released_outputs_are_scored(capsys: pytest.CaptureFixture[str], numbered: bool) -> None:
    sets = SETS if numbered else [replace(one, qid=None) for one in SETS]
    said = zip(sets, (AVON_SAID, BERG_SAID, COMO_SAID), strict=True)
    Path("said.json").write_text(json.dumps([as_released(one, gen_answer=answer) for one, answer in said]))
    write_sets(Path("sets.json"), *sets)
    code, _, err = outcome(capsys, *score("--out", "scored", predictions="said.json"))
    assert code == 0, err
    assert kinds("scored") == {"partial": 1, "merged": 1, "complete": 1}


def test_released_outputs_are_a_file_of_sets_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("said.json").write_text(json.dumps([as_released(COMO, gen_answer=COMO_SAID)]))
    command = ["answer", "--predictions", "said.json", "--queries", "said.json", "--out", "scored"]
    assert (outcome(capsys, *command)[0], kinds("scored")) == (0, {"complete": 1})


def test_a_run_is_scored_again_in_its_place(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *arguments(service))
    before = Path("run/results.json").read_bytes()
    Path("run/results.json").unlink()
    code, _, err = outcome(capsys, *score(predictions="run"))
    assert (code, err, Path("run/results.json").read_bytes()) == (0, "Written to run/\n", before)
    write_sets(Path("other.json"), AVON)
    said = complaint(capsys, "answer", "--predictions", "run", "--queries", "other.json")
    assert said.startswith("run/run.json: field `queries`: the run is over `sets` (")


def test_markup_and_escapes_in_answers_are_printed_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    write_answers("said.jsonl", ("avon", "[bold]Avon[/bold] [/] ends in the Bristol\x1b[2J Channel"))
    code, out, err = outcome(capsys, *score("--out", "scored", "--name", "[red]mine[/red]"))
    assert code == 1, err
    assert "[red]mine[/red] on sets" in out
    assert "[bold]Avon[/bold] [/] ends in the Bristol [2J Channel" in out
    assert "\x1b[2J" not in out


def test_results_of_others_are_not_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    write_answers("said.jsonl", ("avon", AVON_SAID))
    outcome(capsys, *score("--out", "scored"))
    said = "scored/results.json exists; give another --out, or --force to write over it"
    assert complaint(capsys, *score("--out", "scored")) == said
    assert outcome(capsys, *score("--out", "scored", "--force"))[0] == 1
    asked = ["answer", "--url", "http://127.0.0.1:9", "--model", "small", "--queries", "sets.json", "--out", "scored"]
    assert complaint(capsys, *asked).startswith("scored holds a run whose model name is 'said', not 'small';")


REFUSED = [
    ('{"id": "avon"}', "said.jsonl:1: field `answer`: is missing"),
    ('{"answer": "x"}', "said.jsonl:1: field `id`: is missing; an answer has `id` and `answer`, or `qid` and"),
    ('{"id": "avon", "answer": 7}', "said.jsonl:1: field `answer`: Expected `str | null`, got `int`"),
    ('{"id": "avom", "answer": "x"}', "said.jsonl:1: field `id`: 'avom' is not one of the sets (did you mean"),
    (
        '{"id": "zzz", "answer": "x"}',
        "said.jsonl:1: field `id`: 'zzz' is not one of the sets: give the file of its set",
    ),
    ('{"id": "avon", "answer": "x"}\n' * 2, "said.jsonl:2: field `id`: 'avon' is answered twice"),
    ('[{"qid": "berg", "gen_answer": "x", "question": "Who?"}]', "said.jsonl: field `[0].question`: differs from"),
    ("no JSON", "said.jsonl:1: not valid JSON"),
]


@pytest.mark.parametrize(("content", "problem"), REFUSED, ids=[problem for _, problem in REFUSED])
def test_answers_that_cannot_be_are_refused(capsys: pytest.CaptureFixture[str], content: str, problem: str) -> None:
    Path("said.jsonl").write_text(content)
    assert complaint(capsys, *score()).startswith(problem)


URL = ("--url", "http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "--url: say which model is asked, by --url and --model, or give --predictions"),
        (URL, "--model: say which model is asked"),
        (
            ("--url", "nowhere", "--model", "m"),
            "`llm` needs the URL of its service, and 'nowhere' is none: add --url http",
        ),
        ((*URL, "--model", "m", "--temperature", "hot"), "--temperature: 'hot' is neither a number nor none"),
        ((*URL, "--model", "m", "--seed", "1.5"), "--seed: '1.5' is neither a whole number nor none"),
        ((*URL, "--model", "m", "--max-tokens", "0"), "max_tokens must be at least 1"),
        ((*URL, "--model", "m", "--timeout", "0"), "timeout must be a number above 0"),
        ((*URL, "--model", "m", "--name", "n"), "--name: goes with --predictions"),
        ((*URL, "--predictions", "said.jsonl"), "--predictions: no model is asked"),
        (("--queries", ""), "--queries: is empty"),
        (("--order", "given name"), "--order given name: choose from shuffled, given, reversed"),
        (("--shots", "3"), "--held-out 10: the sets are about 3 names, and none would be left to ask about"),
        (("--shots", "2", "--held-out", "1"), "--shots 2: 1 of the 1 examples are about other names"),
        (("--examples", "sets.json"), "--examples: goes with --shots K"),
        (("--shots", "1", "--examples", "none.json"), "none.json: no such file"),
        (("--shots", "1", "--predictions", "said.jsonl"), "--shots: no model is asked here"),
        (("--queries", "none.json"), "none.json: no such file"),
        (("--probe", "amber"), "`amber`: `AmberProbe` does not derive from"),
        (("--documents", "1"), "Invalid value for '--documents'"),
    ],
)
def test_options_that_cannot_be_are_refused(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], problem: str
) -> None:
    code, out, err = outcome(capsys, "answer", "--queries", "sets.json", "--out", "run", *options)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(f"shadowprobe: {problem}")


def test_a_file_of_sets_that_is_wrong_is_refused_before_anybody_is_asked(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("sets.json").write_text(json.dumps([as_released(AVON), as_released(BERG) | {"documents": []}]))
    said = complaint(capsys, *arguments(service))
    assert said == "sets.json: field `[1].documents`: expected at least two namesakes, got 0"
    assert service.requests == []


def test_a_token_is_in_no_file_of_a_run(
    service: Service, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWPROBE_LLM_TOKEN", "sk-5ecret-t0ken")
    service.behaviour = lambda number, asked: (
        as_json(400, {"error": {"message": asked.headers["authorization"]}}) if number == 1 else reader(number, asked)
    )
    code, out, err = outcome(capsys, *arguments(service))
    written = "".join(path.read_text() for path in Path("run").iterdir())
    assert (code, "5ecret" in out + err + written) == (1, False)
    assert "400 Bad Request" in Path("run/failures.jsonl").read_text()
