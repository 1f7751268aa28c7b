"""`shadowprobe run --config` and `shadowprobe init`: whole studies from a file."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from refusals import complaint, contents, outcome
from world import hand_predictions, write_world

from shadowprobe.base.jsonl import encode_lines

STUDY = """\
datasets = ["world"]
out = "made"

[[systems]]
linker = "prior"

[[systems]]
linker = "replay"
name = "by hand"
options = { file = "./hand.jsonl" }

[[systems]]
linker = "mine.py:Mine"
[systems.options]
is_sure = true
"""
MINE = '''
import os
import time
from pathlib import Path

from shadowprobe import Linker

class Mine(Linker):
    """The first candidate; it may wait, or end its process."""

    name = "mine"

    def __init__(self, is_sure: bool = False, waits: bool = False, ends: bool = False):
        self.is_sure, self.waits, self.ends = is_sure, waits, ends

    def link(self, snippets):
        print("a linker may print")
        if self.waits:
            Path("waiting").write_text(str(os.getpid()))
            time.sleep(60)
        if self.ends and not Path("mended").exists():
            os._exit(7)
        return [self.answer(s, self.knowledge.candidates(s.mention)[0]) for s in snippets]
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a study, below the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    here = tmp_path / "papers"
    here.mkdir()
    write_world(here / "world")
    (here / "mine.py").write_text(MINE)
    (here / "hand.jsonl").write_bytes(encode_lines(hand_predictions()))
    (here / "study.toml").write_text(STUDY)
    return here


def names_in(folder: Path | str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def test_every_path_is_relative_to_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, "run", "--config", "papers/study.toml")
    assert code == 0, err
    assert names_in("papers/made") == ["by hand-world", "mine-is_sure=True-world", "prior-world"]
    card = json.loads(Path("papers/made/by hand-world/run.json").read_text())
    assert (card["name"], card["linker"]["options"]) == ("by hand", {"file": "papers/hand.jsonl"})
    assert card["relative_locations"] == {"dataset": "../../world"}
    rows = [re.split("  +", line)[1] for line in out.splitlines() if line.startswith("world")]
    assert rows == ["prior", "by hand", "mine"]
    assert max(map(len, out.splitlines())) <= 80


def test_the_same_study_goes_on_from_another_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome(capsys, "run", "--config", "papers/study.toml", "--json")[0] == 0
    shutil.rmtree("papers/made/prior-world")
    before = contents(Path("papers/made"))
    monkeypatch.chdir("papers")
    # A path in an option is a part of the system, as the command line gives it.
    Path("study.toml").write_text(STUDY.replace("./hand.jsonl", "papers/hand.jsonl"))
    Path("papers").mkdir()
    shutil.copy("hand.jsonl", "papers")
    code, _, err = outcome(capsys, "run", "--config", "study.toml")
    assert code == 0, err
    assert "[2/3] by hand on world: 21 taken from an earlier run. Written to made/by hand-world/" in err.splitlines()
    after = contents(Path("made"))
    changed = {path for path in after if path not in before or before[path] != after[path]}
    assert changed == {"prior-world"} | {f"prior-world/{one}" for one in names_in("made/prior-world")}


def test_processes_at_the_same_time_give_the_same_results(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, alone, _ = outcome(capsys, "run", "--config", "papers/study.toml", "--json")
    assert code == 0
    shutil.move(folder / "made", folder / "alone")
    (folder / "study.toml").write_text("concurrency = 2\n" + STUDY)
    code, out, err = outcome(capsys, "run", "--config", "papers/study.toml", "--json")
    assert (code, json.loads(out)) == (0, json.loads(alone))
    assert err.splitlines()[:2] == ["[1/3] prior on papers/world: begins", "[2/3] by hand on papers/world: begins"]
    assert "[3/3] mine.py:Mine on papers/world: 21 answered in" in err.replace("papers/mine.py", "mine.py")
    for run in names_in(folder / "made"):
        for file in ("results.json", "predictions.jsonl"):
            assert (folder / "made" / run / file).read_bytes() == (folder / "alone" / run / file).read_bytes()


def test_a_process_that_ends_stops_no_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "concurrency = 2\n" + STUDY.replace("is_sure = true", "ends = true")
    (folder / "study.toml").write_text(text)
    code, out, err = outcome(capsys, "run", "--config", "papers/study.toml")
    assert code == 2
    words = "  papers/mine.py:Mine on papers/world: its process ended with code 7; the same command goes on"
    assert err.splitlines()[-1] == words
    assert out.startswith("Summary of 2 runs of linkers")
    Path("mended").touch()
    assert outcome(capsys, "run", "--config", "papers/study.toml")[0] == 0


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_an_interrupt_ends_all_processes(folder: Path) -> None:
    systems = "".join(
        f'[[systems]]\nlinker = "mine.py:Mine"\nname = "{name}"\noptions = {{ waits = {waits} }}\n'
        for name, waits in (("one", "true"), ("two", "false"))
    )
    (folder / "study.toml").write_text(f'concurrency = 2\ndatasets = ["world"]\n{systems}')
    command = [sys.executable, "-m", "shadowprobe", "run", "--config", "papers/study.toml"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        wait_for(Path("waiting"))
        wait_for(Path("papers/runs/two-world/results.json"))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "shadowprobe: interrupted; the same command goes on where it stopped"
    assert "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path("waiting").read_text()), 0)


def wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists() and path.stat().st_size:
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} was not written")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('out = "made"', 'ouput = "made"', ":2: field `ouput`: is no key of a study (did you mean `out`?): datasets, "),
        ("name =", "nmae =", ":9: field `nmae`: is no key of a system (did you mean `name`?): linker, name, options"),
        (
            "is_sure = true",
            "is_sure = true\n[[systems]]\nlinker = 'nil'\nlimit = 3",
            ":18: field `limit`: is no key of a system; it belongs above the first [[systems]]: linker, name, options",
        ),
        ('out = "made"', 'limit = "3"', ":2: field `limit`: expected a whole number, got text"),
        ('out = "made"', "limit = 0", ":2: field `limit`: expected a whole number >= 1"),
        ('out = "made"', "limit = true", ":2: field `limit`: expected a whole number, got true or false"),
        ('out = "made"', "bootstrap_rounds = 9", ":2: field `bootstrap_rounds`: expected a whole number >= 100"),
        ('out = "made"', "also = 'masked_mention'", ":2: field `also`: expected a list, got text"),
        ('out = "made"', "keep_replies = 1", ":2: field `keep_replies`: expected true or false, got a whole number"),
        ('"world"', "7", ":1: field `datasets`: expected text, got a whole number"),
        ('"world"', "", ":1: field `datasets`: is empty"),
        ('"world"', '""', ":1: field `datasets`: is empty"),
        ('"world"', '"world", "world"', ":1: field `datasets`: `world` stands there twice"),
        ('datasets = ["world"]', "", ": field `datasets`: has no `datasets`"),
        ('linker = "replay"', "", ":7: field `systems`: has no `linker`"),
        ('linker = "replay"', 'linker = ""', ":8: field `linker`: is empty"),
        ('name = "by hand"', 'name = " "', ":9: field `name`: is empty"),
        (
            'linker = "mine.py:Mine"',
            'linker = "prior"',
            ":13: field `linker`: two systems are called `prior`; give each a `name` of its own",
        ),
        (
            "is_sure = true",
            "is_sure = [1, 2]",
            ":15: field `is_sure`: an option is text, a number, true or false; several values are one text with commas",
        ),
        ("[systems.options]", "options = 3\n[other]", ":14: field `options`: expected a table, got a whole number"),
        (
            '"world"',
            '"places", "mimi"',
            ":1: field `datasets`: `mimi` is no directory and no known dataset (did you mean `mini`?): mini, ",
        ),
        ('"prior"', '"piror"', ":5: field `linker`: unknown linker `piror` (did you mean `prior`?): `shadowprobe link"),
        (
            "{ file =",
            "{ flie =",
            ":10: field `flie`: linker `replay` has no option `flie` (did you mean `file`?): it takes file",
        ),
        (
            "is_sure = true",
            "is_sure = true\nsure = 1",
            ":16: field `sure`: linker `papers/mine.py:Mine` has no option `sure` (did you mean `is_sure`?): it takes ",
        ),
        ("[systems.options]", "[systems.options", ":14: not valid TOML ("),
    ],
)
def test_what_is_wrong_in_the_file_is_named_by_line_and_key(
    folder: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, words: str
) -> None:
    text = STUDY.replace(old, new)
    if "[other]" in new:
        text = text.partition("[other]")[0]
    (folder / "study.toml").write_text(text)
    said = complaint(capsys, "run", "--config", "papers/study.toml")
    assert said.startswith(f"papers/study.toml{words}")
    # Some messages end in a list of all that is known.
    if not words.endswith((", ", "(", "takes ", "link")):
        assert said == f"papers/study.toml{words}"


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("--linker", "prior"), "--linker"),
        (("-d", "mini"), "--dataset"),
        (("--rounds", "1000"), "--rounds"),
        (("--keep-replies",), "--keep-replies"),
        (("--name", "x"), "--name"),
    ],
)
def test_what_the_file_says_cannot_be_given_beside_it(
    arguments: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"{option}: does not go with --config; the file says what is run, and how"
    assert complaint(capsys, "run", "--config", "papers/study.toml", *arguments) == words


def test_a_linker_that_cannot_be_loaded_stops_no_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mine.py").write_text("import nothing_of_this_name\n")
    code, out, err = outcome(capsys, "run", "--config", "papers/study.toml")
    assert code == 2
    assert "no module" in err.lower()
    assert out.startswith("Summary of 2 runs of linkers")


def test_a_file_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, "run", "--config", "no.toml") == "no.toml: no such file"


def test_the_example_runs_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, "init")
    words = "Written to study.toml; edit it, then: shadowprobe run --config study.toml\n"
    assert (code, out, err) == (0, "", words)
    assert max(map(len, Path("study.toml").read_text().splitlines())) <= 90
    code, out, err = outcome(capsys, "run", "--config", "study.toml")
    assert code == 0, err
    assert out.startswith("Summary of 8 runs of linkers (%)")
    assert len(names_in("runs")) == 8


def test_every_key_of_a_study_is_in_the_example() -> None:
    from shadowprobe.running import study_file

    keys = (*study_file.StudyKeys.__struct_fields__, *study_file.SystemKeys.__struct_fields__)
    for key in keys:
        assert f"{key} = " in study_file.EXAMPLE or f"[[{key}]]" in study_file.EXAMPLE, key


def test_the_lines_that_the_example_leaves_out_are_valid_too(capsys: pytest.CaptureFixture[str]) -> None:
    from shadowprobe.running import study_file

    lines = study_file.EXAMPLE.splitlines()
    marked = [line.removeprefix("# ") if " = " in line or "[[" in line or "# [" in line else line for line in lines]
    Path("all.toml").write_text("\n".join(line for line in marked if "shadowprobe" not in line))
    study = study_file.read_study(Path("all.toml"))
    assert (study.settings.also, study.settings.redirects) == (("masked_mention",), Path("redirects.tsv"))
    assert study.linkers[-1].options == {"url": "http://localhost:5555", "concurrency": "4"}


def test_init_writes_over_nothing_unless_it_is_forced(capsys: pytest.CaptureFixture[str]) -> None:
    words = "papers/study.toml exists; give another name, or --force to write over it"
    assert complaint(capsys, "init", "papers/study.toml") == words
    assert complaint(capsys, "init", "papers") == "papers is a directory; give a file"
    assert not outcome(capsys, "init", "papers/study.toml", "--force")[0]
    assert "run --config papers/study.toml" in Path("papers/study.toml").read_text()
