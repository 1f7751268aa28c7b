"""Predictions, redirects and run directories with a fault are refused, and what an earlier run has stays as it is."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from refusals import Damage, change, complaint, contents, drop, ids, outcome, put, spoil, whole, world_to_edit, write
from world import hand_predictions

from shadowprobe.base.jsonl import encode_lines

RUN = ("run", "--linker", "random", "--dataset", "world", "--out", "run")
SCORE = ("score", "--dataset", "world", "--out", "scored")


@pytest.fixture(autouse=True)
def _in_a_directory_with_a_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world_to_edit(tmp_path / "world")
    (tmp_path / "answers.jsonl").write_bytes(encode_lines(hand_predictions()))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def finished(capsys: pytest.CaptureFixture[str]) -> Path:
    """The directory of a finished run."""
    code, _, err = outcome(capsys, *RUN)
    assert code == 0, err
    return Path("run")


# Line 6 of the file answers tBerg with "Berg (river)" and a score of 0.7.
PREDICTIONS = [
    (put(6, b'{"id": "tBerg", "answer": "Berg (ri'), "", "not valid JSON"),
    (put(6, b"tBerg\tBerg (river)"), "", "not valid JSON"),
    (put(6, b'"Berg (river)"'), "", "Expected `object`, got `str`"),
    (write(6, "answer", b'"B\xe9rg"'), "", "is not UTF-8"),
    (write(6, "answer", b'"\\udc00 is half of a character"'), "", "not valid JSON"),
    (write(6, "more", b"[" * 100_000 + b"]" * 100_000), "", "nested too deeply"),
    (drop(6, "id"), "id", "missing"),
    (change(6, id=6), "id", "Expected `str`, got `int`"),
    (change(6, id="aida-testb-12"), "id", "'aida-testb-12' is no snippet of the dataset `world`"),
    (change(6, id="tAvon"), "id", "'tAvon' is answered twice"),
    (change(6, status="NIL"), "status", "'NIL'"),
    (change(6, status="nil"), "status", "is nil, and there is an answer too"),
    (drop(6, "answer"), "answer", "is missing"),
    (change(6, answer="  "), "answer", "is empty"),
    (change(6, answer=["Berg (river)"]), "answer", "Expected `str | null`, got `array`"),
    (change(6, page_id="101"), "page_id", "Expected `int | null`, got `str`"),
    (change(6, page_id=10.5), "page_id", "Expected `int | null`, got `float`"),
    (write(6, "page_id", b"9" * 5000), "page_id", "out of range"),
    (change(6, score="0.7"), "score", "Expected `float | null`, got `str`"),
    (write(6, "score", b"NaN"), "", "not valid JSON"),
    (write(6, "score", b"-Infinity"), "", "not valid JSON"),
    (write(6, "score", b"1e999"), "score", "out of range"),
    (change(6, candidates={"Berg (river)": 0.7}), "candidates", "Expected `array`, got `object`"),
    (change(6, candidates=[{"answer": 5}]), "candidates[0].answer", "Expected `str | null`, got `int`"),
]


@pytest.mark.parametrize(("damage", "field", "words"), PREDICTIONS, ids=ids(PREDICTIONS))
def test_a_wrong_prediction_is_refused_with_its_line_and_field(
    capsys: pytest.CaptureFixture[str], damage: Damage, field: str, words: str
) -> None:
    spoil(Path("answers.jsonl"), damage)
    said = complaint(capsys, *SCORE, "--predictions", "answers.jsonl")
    assert said.startswith("answers.jsonl:6: " + (f"field `{field}`: " if field else ""))
    assert words in said


NOT_PREDICTIONS = [
    (whole(gzip.compress(b"{}", mtime=0)), ":1: is not UTF-8"),
    (whole('{"id": "tAvon"}'.encode("utf-16")), ":1: is not UTF-8"),
    (whole(b'[\n  {"id": "tAvon"}\n]\n'), ":1: Expected `object`, got `array`"),
    (whole(b"id,answer\ntAvon,Avon (river)\n"), ":1: not valid JSON"),
]


@pytest.mark.parametrize(("damage", "place"), NOT_PREDICTIONS, ids=["gzip", "utf-16", "one array", "csv"])
def test_a_file_of_another_kind_is_refused_at_its_first_line(
    capsys: pytest.CaptureFixture[str], damage: Damage, place: str
) -> None:
    spoil(Path("answers.jsonl"), damage)
    assert complaint(capsys, *SCORE, "--predictions", "answers.jsonl").startswith(f"answers.jsonl{place}")


def test_a_file_of_the_dataset_is_not_taken_for_predictions(capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, *SCORE, "--predictions", "world/top.jsonl")
    assert said.startswith("world/top.jsonl:1: field `answer`: is missing")


def test_predictions_that_are_not_there_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, *SCORE, "-p", "no/answers.jsonl") == "no/answers.jsonl: no such file"
    assert complaint(capsys, *SCORE, "-p", "world") == "world/predictions.jsonl: no such file"


def test_the_predictions_of_a_run_over_another_dataset_are_refused(
    capsys: pytest.CaptureFixture[str], finished: Path
) -> None:
    world_to_edit(Path("other"))
    spoil(Path("other/tail.jsonl"), change(1, source="https://example.org"))
    said = complaint(capsys, "score", "--dataset", "other", "--predictions", str(finished), "--out", "scored")
    assert said.startswith("run/run.json: field `dataset`: the run is over `world` (")


def test_results_that_are_there_are_not_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, _ = outcome(capsys, *SCORE, "--predictions", "answers.jsonl")
    assert code == 0
    said = complaint(capsys, *SCORE, "--predictions", "answers.jsonl")
    assert said == "scored/results.json exists; give another --out, or --force to write over it"
    said = complaint(capsys, "run", "--linker", "random", "--dataset", "world", "--out", "scored")
    assert said.startswith("scored holds a run whose linker name is 'answers', not 'random'; give another --out")


def test_results_beside_a_predictions_file_are_not_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    Path("results.json").write_text("{}")
    said = complaint(capsys, "score", "--dataset", "world", "--predictions", "answers.jsonl", "--out", ".")
    assert said == "results.json exists; give another --out, or --force to write over it"


REDIRECTS = [
    ("old.tsv", b"Avon\tAvon (river)\nBerg\n", ":2: expected two titles with a tab between them"),
    ("old.tsv", b"Avon\tAvon (river)\tand more\n", ":1: expected two titles with a tab between them"),
    ("old.tsv", b"Avon\t \n", ":1: expected two titles with a tab between them"),
    ("old.tsv", b"\nB\xe9rg\tBerg (river)\n", ":2: is not UTF-8"),
    ("old.json", b'{\n"Avon": "Avon (river)",\n}', ":3: not valid JSON"),
    ("old.json", b'["Avon"]', ": Expected `object`, got `array`"),
    ("old.json", b'{"Avon": "Avon (river)", "Berg": 101}', ": field `Berg`: expected a title, got 101"),
]


@pytest.mark.parametrize(("name", "content", "words"), REDIRECTS)
def test_a_wrong_table_of_redirects_is_refused(
    capsys: pytest.CaptureFixture[str], name: str, content: bytes, words: str
) -> None:
    Path(name).write_bytes(content)
    for command in (RUN, (*SCORE, "--predictions", "answers.jsonl")):
        assert complaint(capsys, *command, "--redirects", name).startswith(f"{name}{words}")


def test_a_table_of_redirects_must_be_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, *RUN, "--redirects", "old.tsv") == "old.tsv: no such file"
    assert complaint(capsys, *RUN, "--redirects", "world") == "world: is a directory, not a file"


# Line 2 of a run's predictions answers tBerg.
STORED = [
    (put(2, b'{"id": "tBerg", "answ'), "", "not valid JSON"),
    (put(2, b"\0" * 40), "", "not valid JSON"),
    (change(2, score="high"), "score", "Expected `float | null`, got `str`"),
    (change(2, id="tAvon"), "id", "'tAvon' is answered twice"),
    (change(2, id="elsewhere"), "id", "'elsewhere' is no snippet of the dataset `world`"),
    (drop(2, "answer"), "answer", "is missing"),
]


@pytest.mark.parametrize(("damage", "field", "words"), STORED, ids=ids(STORED))
def test_a_run_does_not_go_on_after_a_broken_line_in_the_middle(
    capsys: pytest.CaptureFixture[str], finished: Path, damage: Damage, field: str, words: str
) -> None:
    spoil(finished / "predictions.jsonl", damage)
    # The half line at the end, which alone would be cut off, must stay too.
    spoil(finished / "predictions.jsonl", lambda content: content[:-10])
    said = complaint(capsys, *RUN)
    assert said.startswith("run/predictions.jsonl:2: " + (f"field `{field}`: " if field else ""))
    assert words in said


# A run card has "linker": {"name", "version", "options": {"seed": 7}} and "dataset": {"name", "digest", ...}.
RUN_CARDS = [
    (whole(b""), "run/run.json:1: not valid JSON"),
    (whole(b'{\n"linker": {},\n'), "run/run.json:3: not valid JSON"),
    (whole(b"[]"), "run/run.json: Expected `object`, got `array`"),
    (whole(b'{"dataset": {}}'), "run/run.json: describes no system: it has none of linker, retriever, reader, model"),
    (put(1, b'{"schema": 2,'), "run/run.json: field `schema`: is 2, and this shadowprobe reads 1"),
    (lambda content: content.replace(b'"random"', b"5"), "run/run.json: field `linker.name`: expected a name, got 5"),
    (
        lambda content: content.replace(b'"options": {', b'"options": [], "o": {'),
        "run/run.json: field `linker.options`",
    ),
]


@pytest.mark.parametrize(("damage", "words"), RUN_CARDS, ids=ids(RUN_CARDS))
def test_a_broken_run_card_is_refused_by_run_and_by_score(
    capsys: pytest.CaptureFixture[str], finished: Path, damage: Damage, words: str
) -> None:
    spoil(finished / "run.json", damage)
    assert complaint(capsys, *RUN).startswith(words)
    assert complaint(capsys, *SCORE, "--predictions", "run").startswith(words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--linker prior --dataset world", "run holds a run whose linker name is 'random', not 'prior'"),
        ("--linker random --dataset world -o seed=8", "run holds a run whose linker options seed is 7, not 8"),
        ("--linker random --dataset other", "run holds a run whose dataset digest is "),
    ],
)
def test_the_directory_of_another_run_is_left_alone(
    capsys: pytest.CaptureFixture[str], finished: Path, arguments: str, words: str
) -> None:
    world_to_edit(Path("other"))
    spoil(Path("other/tail.jsonl"), change(1, source="https://example.org"))
    said = complaint(capsys, "run", "--out", "run", *arguments.split())
    assert said.startswith(words)
    assert said.endswith("give another --out, or --force to start it afresh")


def test_answers_of_a_linker_file_that_has_changed_are_not_taken_for_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = (
        "from shadowprobe import Linker\nclass Mute(Linker):\n    def link(self, s):\n        return [%s for x in s]\n"
    )
    run = ("run", "--linker", "mute.py:Mute", "--dataset", "world", "--out", "run")
    Path("mute.py").write_text(source % "self.skip(x)")
    assert outcome(capsys, *run)[0] == 0
    Path("mute.py").write_text(source % "self.nil(x)")
    assert complaint(capsys, *run).startswith("run holds a run whose linker version is 'sha256:")


def test_predictions_without_a_run_card_are_left_alone(capsys: pytest.CaptureFixture[str], finished: Path) -> None:
    (finished / "run.json").unlink()
    assert (
        complaint(capsys, *RUN)
        == "run holds predictions.jsonl without run.json; give another --out, or --force to write over it"
    )


@pytest.mark.parametrize("name", ["predictions.jsonl", "run.json"])
def test_a_directory_in_the_place_of_a_file_of_the_run_is_refused(
    capsys: pytest.CaptureFixture[str], finished: Path, name: str
) -> None:
    (finished / name).unlink()
    (finished / name).mkdir()
    assert complaint(capsys, *RUN).startswith(f"run/{name}: ")


def test_a_run_that_is_forced_but_cannot_start_leaves_the_earlier_one(
    capsys: pytest.CaptureFixture[str], finished: Path
) -> None:
    Path("dead.py").write_text(
        "from shadowprobe import Linker\n"
        "class Dead(Linker):\n"
        "    def setup(self):\n"
        "        raise OSError('no model\\nhere')\n"
    )
    assert (finished / "results.json").exists()
    said = complaint(capsys, "run", "-l", "dead.py:Dead", "-d", "world", "--out", "run", "--force")
    assert said == "linker `Dead` failed to start: OSError: no model here at dead.py:4 (--debug shows where)"


def test_force_starts_over_where_a_broken_run_stands(capsys: pytest.CaptureFixture[str], finished: Path) -> None:
    before = contents(finished)
    spoil(finished / "predictions.jsonl", put(2, b"broken"))
    (finished / "run.json").write_text("broken")
    code, _, err = outcome(capsys, *RUN, "--force")
    assert code == 0, err
    assert contents(finished)["predictions.jsonl"] == before["predictions.jsonl"]
    assert json.loads((finished / "run.json").read_text())["linker"]["name"] == "random"
