"""`shadowprobe run` with several linkers and datasets: all combinations, one summary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import complaint, contents, outcome, world_to_edit
from world import write_world

from shadowprobe.running.study import assign_options

BREAKS = '''
from pathlib import Path

from shadowprobe import Linker, LinkerError

class Breaks(Linker):
    """Fails on one snippet, or starts only where a token is."""

    name = "breaks"

    def __init__(self, is_strict: bool = False):
        self.is_strict = is_strict

    def setup(self):
        Path("started.txt").write_text("x" if not Path("started.txt").exists() else "xx")
        if self.is_strict and not Path("token").exists():
            raise LinkerError("breaks: there is no token")

    def link(self, snippets):
        if not self.is_strict and any(s.id == "tBerg" for s in snippets):
            raise RuntimeError("time-out")
        return [self.answer(s, self.knowledge.candidates(s.mention)[0]) for s in snippets]
'''
MATRIX = ["run", "-l", "prior", "-l", "blend", "-d", "world", "-d", "other"]


def names_in(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


@pytest.fixture(autouse=True)
def worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two datasets and a linker in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    write_world(tmp_path / "world")
    card = json.loads((world_to_edit(tmp_path / "other") / "dataset.json").read_text())
    Path("other/dataset.json").write_text(json.dumps({**card, "name": "other"}))
    entities = Path("other/entities.jsonl")
    entities.write_text(entities.read_text().replace("Fresh water", "Salt water"))
    Path("breaks.py").write_text(BREAKS)


def test_every_linker_is_run_on_every_dataset(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, *MATRIX)
    assert code == 0
    assert names_in("runs") == ["blend-other", "blend-world", "prior-other", "prior-world"]
    assert err.splitlines()[0] == "[1/4] prior on world: begins"
    assert err.splitlines()[1].startswith("[1/4] prior on world: 21 answered in ")
    assert err.splitlines()[-1].endswith("Written to runs/blend-other/")
    # One table in place of four screens, the runs of a dataset below each other.
    rows = [line.split()[:2] for line in out.splitlines() if line.startswith(("world", "other"))]
    assert rows == [["world", "prior"], ["world", "blend"], ["other", "prior"], ["other", "blend"]]
    assert out.startswith("Summary of 4 runs of linkers (%)")
    assert max(map(len, out.splitlines())) <= 80


def test_a_linker_and_a_dataset_alone_print_their_screen(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, "run", "-l", "prior", "-l", "prior", "-d", "world", "-d", "world")
    assert (code, out.splitlines()[0]) == (0, "prior on world")
    assert err.startswith("21 answered in ")


def test_the_same_command_asks_only_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, *MATRIX)[0] == 0
    before = contents(Path("runs"))
    Path("runs/blend-other/results.json").unlink()
    file = Path("runs/blend-other/predictions.jsonl")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:20]))
    code, _, err = outcome(capsys, *MATRIX)
    assert code == 0
    ends = [line for line in err.splitlines() if "begins" not in line]
    assert [line.partition(": ")[2].partition(".")[0] for line in ends[:3]] == ["21 taken from an earlier run"] * 3
    assert ends[3].startswith("[4/4] blend on other: 20 taken from an earlier run; 1 answered in ")
    after = contents(Path("runs"))
    changed = {path for path in after if after[path] != before[path]}
    # Only the times of the run that went on are new.
    assert {str(path) for path in changed} == {"blend-other/run.json"}


def test_json_is_a_list_with_the_results_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, *MATRIX, "-l", "nobody", "--json")
    assert code == 2
    found = json.loads(out)
    assert [(one["linker"], one["dataset"], one["run"]) for one in found] == [
        ("prior", "world", "runs/prior-world"),
        ("blend", "world", "runs/blend-world"),
        ("nobody", "world", None),
        ("prior", "other", "runs/prior-other"),
        ("blend", "other", "runs/blend-other"),
        ("nobody", "other", None),
    ]
    assert found[0]["results"] == json.loads(Path("runs/prior-world/results.json").read_text())
    assert (found[0]["error"], found[2]["results"]) == (None, None)
    assert found[2]["error"].startswith("unknown linker `nobody`")


def test_one_combination_that_cannot_run_stops_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", "-l", "breaks.py:Breaks", "-l", "prior", "-d", "world", "-o", "is_strict=yes", "-d", "gone"]
    code, out, err = outcome(capsys, *command)
    assert code == 2
    assert "[1/4] breaks.py:Breaks on world: could not be run: breaks: there is no token" in err.splitlines()
    assert err.splitlines()[-4:-2] == [
        "shadowprobe: 3 of 4 combinations could not be run; the same command tries them again:",
        "  breaks.py:Breaks on world: breaks: there is no token",
    ]
    assert err.splitlines()[-1].startswith("  prior on gone: unknown dataset `gone`")
    assert "Summary of 1 run of linkers" in out
    Path("token").touch()
    code, _, err = outcome(capsys, *command[:-2])
    assert code == 0
    assert "[2/2] prior on world: 21 taken from an earlier run. Written to runs/prior-world/" in err.splitlines()


def test_failed_snippets_alone_give_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, "run", "-l", "breaks.py:Breaks", "-l", "prior", "-d", "world")
    assert code == 1
    assert "1 snippets failed and count as not answered: runs/breaks-world/failures.jsonl lists them" in err
    assert "Summary of 2 runs of linkers" in out


def test_a_finished_combination_starts_no_linker(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", "-l", "breaks.py:Breaks", "-l", "prior", "-d", "world", "-o", "is_strict=yes"]
    Path("token").touch()
    for _ in range(2):
        assert outcome(capsys, *command)[0] == 0
    assert Path("started.txt").read_text() == "x"


def options_of(run: str) -> dict[str, object]:
    options: dict[str, object] = json.loads(Path(run, "run.json").read_text())["linker"]["options"]
    return options


def test_an_option_goes_to_the_linkers_that_have_it(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", "-l", "blend", "-l", "prior", "-l", "random", "-d", "world"]
    assert outcome(capsys, *command, "-o", "weight=0.25", "-o", "seed=3")[0] == 0
    assert options_of("runs/blend-weight=0.25-world") == {"weight": 0.25}
    assert options_of("runs/random-seed=3-world") == {"seed": 3}
    assert options_of("runs/prior-world") == {}


def test_an_option_with_the_name_of_a_linker_goes_to_it_alone(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", "-l", "random", "-l", "breaks.py:Breaks", "-d", "world"]
    Path("token").touch()
    code, _, err = outcome(capsys, *command, "-o", "random.seed=4", "-o", "seed=3", "-o", "Breaks.is_strict=true")
    assert code == 0, err
    assert options_of("runs/random-seed=4-world") == {"seed": 4}
    assert options_of("runs/breaks-is_strict=True-world") == {"is_strict": True}


def test_an_option_with_a_dot_is_its_own_unless_it_begins_with_a_linker() -> None:
    Path("inner.py").write_text(BREAKS.replace("is_strict: bool = False", 'of: str = "", is_strict: bool = False'))
    linkers = ["prior", "inner.py:Breaks"]
    prior, inner = assign_options(linkers, {"of": "prior", "of.prior": "1", "inner.py:Breaks.of.weight": "2"})
    assert (prior.options, inner.options) == ({}, {"of": "prior", "of.prior": "1", "of.weight": "2"})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "wieght=1"], "-o wieght: none of prior, blend has this option (did you mean `weight`?)"),
        (["-o", "prior.weight=1"], "-o prior.weight: none of prior has this option"),
        # It is no linker of this command.
        (["-o", "random.seed=1"], "-o random.seed: none of prior, blend has this option"),
        (["--name", "mine"], "--name: goes with one linker and one dataset, not with several"),
        (["--from-replies", "run"], "--from-replies: goes with one linker and one dataset, not with several"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complaint(capsys, *MATRIX, *arguments) == words
    assert not Path("runs").exists()


def test_out_is_the_folder_of_the_run_directories(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "run", "-l", "prior", "-l", "nil", "-d", "world", "--out", "deep/er")[0] == 0
    assert names_in("deep/er") == ["nil-world", "prior-world"]
    assert not Path("runs").exists()


def test_a_run_directory_is_no_folder_of_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "run", "-l", "prior", "-d", "world", "--out", "run")[0] == 0
    words = "run is a run directory; several runs need a folder for their directories"
    assert complaint(capsys, *MATRIX, "--out", "run") == words


def test_debug_shows_where_a_combination_failed(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", "-l", "breaks.py:Breaks", "-l", "prior", "-d", "world", "-o", "is_strict=yes"]
    assert "Traceback" not in outcome(capsys, *command)[2]
    assert "Traceback" in outcome(capsys, "--debug", *command)[2]
