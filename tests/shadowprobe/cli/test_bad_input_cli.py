"""Arguments that cannot be are refused in one line with what would be right, and input that can be is taken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import complaint, contents, outcome, single_line, spoil, world_to_edit
from world import hand_predictions

from shadowprobe.base.files import BOM
from shadowprobe.base.jsonl import encode_lines

RUN = ("run", "--dataset", "world", "--out", "run")
SCORE = ("score", "--dataset", "world", "--predictions", "answers.jsonl", "--out", "scored")

LINKERS = '''
from pathlib import Path
from typing import Literal

from shadowprobe import Linker


class Choosy(Linker):
    """Takes options of every kind."""

    def __init__(self, mode: Literal["fast", "good"], deep: bool = False, top: int = 3, model: Path = Path("m")):
        self.mode, self.deep, self.top, self.model = mode, deep, top, model

    def link(self, snippets):
        return [self.skip(snippet) for snippet in snippets]


class Crashing(Linker):
    def __init__(self):
        raise KeyError("HOME_OF_MODELS")


class NoLinker:
    pass
'''


@pytest.fixture(autouse=True)
def _in_a_directory_with_a_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world_to_edit(tmp_path / "world")
    (tmp_path / "answers.jsonl").write_bytes(encode_lines(hand_predictions()))
    (tmp_path / "mine.py").write_text(LINKERS)
    (tmp_path / "broken.py").write_text("class Broken(:\n")
    (tmp_path / "script.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHADOWPROBE_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("linker", "words"),
    [
        ("prioor", "unknown linker `prioor` (did you mean `prior`?)"),
        ("TFIDF", "unknown linker `TFIDF`"),
        ("", "unknown linker ``"),
        ("mine.py", "mine.py: name the class too, as in mine.py:MyLinker"),
        ("yours.py:Choosy", "yours.py: no such file"),
        ("world:Choosy", "`world:Choosy`: there is no class `Choosy` in it"),
        ("mine.py:Chosy", "`mine.py:Chosy`: there is no class `Chosy` in it (did you mean `Choosy`?)"),
        ("mine.py:NoLinker", "`mine.py:NoLinker`: `NoLinker` does not derive from shadowprobe.Linker"),
        ("mine.py:Crashing", "linker `mine.py:Crashing` cannot be made: KeyError: 'HOME_OF_MODELS'"),
        ("broken.py:Broken", "broken.py: SyntaxError: invalid syntax (broken.py, line 1)"),
        ("script.py:Any", "script.py: SystemExit: 0"),
        ("no_such_package.linkers:Any", "`no_such_package.linkers:Any` cannot be loaded: there is no module"),
        ("json:JSONDecoder", "`json:JSONDecoder`: `JSONDecoder` does not derive from shadowprobe.Linker"),
        (":Any", "`:Any` cannot be loaded: "),
    ],
)
def test_a_linker_that_cannot_be_had_is_refused_with_the_nearest_name(
    capsys: pytest.CaptureFixture[str], linker: str, words: str
) -> None:
    assert complaint(capsys, *RUN, "--linker", linker).startswith(words)
    assert complaint(capsys, "check", "--dataset", "world", "--linker", linker).startswith(words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-l", "prior", "-o", "weight=1"), "linker `prior` has no option `weight`: it takes none"),
        (("-l", "random", "-o", "sed=1"), "linker `random` has no option `sed` (did you mean `seed`?): it takes seed"),
        (("-l", "random", "-o", "seed"), "-o seed: an option is given as key=value"),
        (("-l", "random", "-o", "=1"), "-o =1: an option is given as key=value"),
        (("-l", "random", "-o", "seed=1", "-o", "seed=2"), "-o seed is given twice"),
        (("-l", "random", "-o", "seed=1.5"), "option `seed`: '1.5' is not a whole number"),
        (("-l", "blend", "-o", "weight=half"), "option `weight`: 'half' is not a number"),
        (("-l", "blend", "-o", "weight=2"), "linker `blend`: weight is 2, and must be from 0 (context) to 1 (prior)"),
        (("-l", "blend", "-o", "weight=nan"), "linker `blend`: weight is nan, and must be from 0"),
        (("-l", "mine.py:Choosy"), "linker `mine.py:Choosy` needs the option `mode`: add -o mode=VALUE"),
        (("-l", "mine.py:Choosy", "-o", "mode=slow"), "option `mode`: 'slow' is not one of fast, good"),
        (("-l", "mine.py:Choosy", "-o", "mode=fast", "-o", "deep=maybe"), "option `deep`: 'maybe' is neither true nor"),
        (("-l", "mine.py:Choosy", "-o", "mode=\udcff"), "-o 'mode=\\udcff': is not UTF-8"),
        (("--probe", "overshadow"), "unknown probe `overshadow` (did you mean `overshadowing`?)"),
        (("--probe", "mine.py:Choosy"), "`mine.py:Choosy`: `Choosy` does not derive from shadowprobe.Probe"),
        (("--batch-size", "0"), "Invalid value for '--batch-size'"),
        (("--batch-size", "many"), "Invalid value for '--batch-size'"),
        (("--limit", "0"), "Invalid value for '--limit'"),
        (("--rounds", "-1"), "Invalid value for '--rounds'"),
        (("--seed", "-1"), "Invalid value for '--bootstrap-seed'"),
        (("--bach-size", "8"), "No such option: --bach-size"),
        (("--out",), "Option '--out' requires an argument"),
        (("stray",), "Got unexpected extra argument"),
    ],
)
def test_an_option_that_cannot_be_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert complaint(capsys, *RUN, *arguments).startswith(words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("runn",), "No such command 'runn'"),
        (("score",), "Missing option '--predictions'"),
        (("check",), "Missing option '--linker'"),
        (("import",), "Missing argument 'FORMAT'"),
        (("import", "shadowlnk", "world"), "unknown format `shadowlnk` (did you mean `shadowlink`?)"),
        (("import", "zelda", "no.jsonl"), "no.jsonl: no such file"),
        (("import", "zelda", "world"), "world/entities.jsonl:1: field `id`: "),
        (("import", "zelda", "answers.jsonl"), "answers.jsonl:1: field `text`: "),
        (("import", "shadowlink", "world"), "world/Top.json: no such file"),
        (("import", "shadowlink", "nowhere"), "nowhere "),
        (("run", "--dataset", "minni"), "unknown dataset `minni` (did you mean `mini`?)"),
        (("run", "--dataset", "no/world"), "no/world: no such dataset directory"),
        (("run", "--dataset", "mine.py"), "mine.py: is not a dataset directory"),
        (("run", "--dataset", "."), "dataset.json: no such file"),
        (("run", "--dataset", "w" * 300), "w"),
    ],
)
def test_a_command_and_what_it_reads_are_named_when_they_are_not_there(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert complaint(capsys, *arguments).startswith(words)


UNWRITABLE = [
    ("mine.py", "mine.py is a file; give a directory"),
    ("mine.py/run", "cannot write to mine.py/run (Not a directory)"),
    ("w" * 300, "File name too long"),
]


@pytest.mark.parametrize(("out", "words"), UNWRITABLE, ids=["file", "below a file", "long name"])
@pytest.mark.parametrize("command", [RUN, SCORE, ("import", "zelda", "zelda.jsonl")], ids=lambda command: command[0])
def test_an_output_directory_that_cannot_be_written_is_refused(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...], out: str, words: str
) -> None:
    document = {"id": 1, "text": "Avon", "index": [[0, 4]], "wikipedia_ids": [100], "wikipedia_titles": ["Avon"]}
    Path("zelda.jsonl").write_text(json.dumps(document))
    said = complaint(capsys, *command, "--out", out)
    assert out in said
    assert words in said


def test_a_place_that_belongs_to_the_system_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    if not Path("/proc/self").is_dir():
        pytest.skip("this system has no /proc")
    assert complaint(capsys, *RUN, "--out", "/proc/run").startswith("cannot write to /proc/run (")


@pytest.mark.parametrize("name", ["answers.jsonl", "world/top.jsonl", "world/dataset.json"])
def test_a_file_without_permission_is_refused(capsys: pytest.CaptureFixture[str], name: str) -> None:
    Path(name).chmod(0)
    if os.access(name, os.R_OK):
        pytest.skip("permissions do not bind this user")
    assert name in single_line(*outcome(capsys, *SCORE))
    assert not Path("scored").exists()


def test_a_directory_without_permission_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("closed").mkdir(mode=0o500)
    if os.access("closed", os.W_OK):
        pytest.skip("permissions do not bind this user")
    assert complaint(capsys, *RUN, "--out", "closed") == "cannot write to closed (Permission denied)"


def test_an_import_writes_over_no_file_of_another_dataset(capsys: pytest.CaptureFixture[str]) -> None:
    document = {"id": 1, "text": "Avon", "index": [[0, 4]], "wikipedia_ids": [100], "wikipedia_titles": ["Avon"]}
    Path("zelda.jsonl").write_text(json.dumps(document))
    command = ("import", "zelda", "zelda.jsonl", "--out", "world")
    assert complaint(capsys, *command) == "world holds a dataset already; --force writes over it"
    Path("world/dataset.json").unlink()
    assert complaint(capsys, *command) == "world holds entities.jsonl already; --force writes over it"


def test_an_import_without_any_mention_leaves_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.jsonl").write_text("\n")
    said = complaint(capsys, "import", "zelda", "empty.jsonl", "--out", "world", "--force")
    assert said == "empty.jsonl: has no mention that can be imported"


def test_an_import_that_would_make_a_wrong_dataset_leaves_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    document = {"id": 1, "text": "Avon", "index": [[0, 4]], "wikipedia_ids": [100], "wikipedia_titles": [" "]}
    Path("zelda.jsonl").write_text(json.dumps(document))
    said = complaint(capsys, "import", "zelda", "zelda.jsonl", "--out", "world", "--force")
    assert "is no title" in said


def test_a_download_that_fails_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    # Nothing listens on port 9, and an address may be no address at all.
    for address in ("http://127.0.0.1:9/shadowlink", "http://[", "nowhere"):
        monkeypatch.setenv("SHADOWPROBE_SHADOWLINK_URL", address)
        said = single_line(*outcome(capsys, "run", "--dataset", "shadowlink"))
        # Of an address that cannot be taken apart nothing is shown: it may hold a password.
        shown = "the URL" if "[" in address else f"{address}/Top.json"
        assert said.startswith(f"the ShadowLink release could not be downloaded ({shown}: ")
    monkeypatch.setenv("SHADOWPROBE_CACHE", "mine.py")
    said = complaint(capsys, "run", "--dataset", "shadowlink")
    assert said == "cannot write to mine.py/downloads/shadowlink (Not a directory)"


def test_a_probe_that_fails_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("probes.py").write_text(
        "from shadowprobe import Probe\n"
        "class Dividing(Probe):\n"
        "    def measure(self, answers):\n"
        "        return {'share': 1 / 0}\n"
    )
    said = complaint(capsys, *SCORE, "--probe", "probes.py:Dividing")
    assert said == "probe `Dividing` failed: ZeroDivisionError: division by zero at probes.py:4 (--debug shows where)"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "-l", "prioor"), "unknown linker `prioor`"),
        (("run", "-d", "world", "-l", "prior", "--out", "mine.py"), "mine.py is a file; give a directory"),
        (("score", "-d", "world", "-p", "world/top.jsonl"), "world/top.jsonl:1: field `answer`: is missing"),
        (("score", "-d", b"\xff", "-p", "answers.jsonl"), "unknown dataset `\\udcff`"),
        (("frobnicate",), "No such command 'frobnicate'"),
    ],
)
def test_the_command_as_a_process_of_its_own_says_the_same(arguments: tuple[str | bytes, ...], words: str) -> None:
    before = contents(Path.cwd())
    line: list[str | bytes] = [sys.executable, "-m", "shadowprobe", *arguments]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert single_line(done.returncode, done.stdout, done.stderr).startswith(words)
    assert contents(Path.cwd()) == before


@pytest.mark.parametrize("arguments", [("--debug", "run", "-l", "prioor"), ("run", "-l", "prioor", "--debug")])
def test_debug_shows_the_traceback_before_the_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    code, out, err = outcome(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.splitlines()[-1].startswith("shadowprobe: unknown linker `prioor`")


def test_no_command_at_all_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys)
    assert (code, err) == (0, "")
    assert "Commands:" in out


def results(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """What a command that must succeed prints as JSON."""
    code, out, err = outcome(capsys, *arguments, "--json")
    assert code == 0, err
    found: dict[str, object] = json.loads(out)
    return found


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: content.replace(b"\n", b"\n \n\n"),
        lambda content: content.removesuffix(b"\n"),
        lambda content: BOM + content,
        lambda content: content.replace(b'{"id":', b'{"model":{"name":"x"},"id":'),
    ],
    ids=["CRLF", "blank lines", "no last line end", "BOM", "fields of one's own"],
)
def test_predictions_are_taken_from_any_editor_and_with_more_fields(capsys: pytest.CaptureFixture[str], change) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    plain = results(capsys, *SCORE)
    spoil(Path("answers.jsonl"), change)
    assert results(capsys, *SCORE, "--force") == plain


def test_a_dataset_is_taken_from_any_editor_and_with_more_fields_in_its_card(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = results(capsys, *SCORE)
    for path in Path("world").glob("*.jsonl"):
        spoil(path, lambda content: BOM + content.replace(b"\n", b"\r\n\r\n"))
    spoil(Path("world/dataset.json"), lambda content: BOM + content.replace(b"{", b'{"funding": {"by": "x"},', 1))
    Path("world/notes.txt").write_text("Mine.")
    assert results(capsys, *SCORE, "--force")["subsets"] == plain["subsets"]


def test_a_dataset_directory_may_be_given_with_a_slash(capsys: pytest.CaptureFixture[str]) -> None:
    plain = results(capsys, *SCORE)
    assert results(capsys, *SCORE, "--force", "--dataset", "world/") == plain


def test_a_page_id_without_end_is_an_answer_that_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    lines = encode_lines(hand_predictions()).replace(b'"Ourika"', b'"curid:' + b"9" * 5000 + b'"')
    Path("answers.jsonl").write_bytes(lines)
    found = results(capsys, *SCORE)
    assert found["subsets"]["tail"]["correct"] == 0  # type: ignore[index]
    assert found["identity"]["unresolved"] == 1  # type: ignore[index]


def test_a_run_with_a_path_among_its_options_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    run = (*RUN, "--linker", "mine.py:Choosy", "-o", "mode=fast", "-o", "model=models/small")
    first = results(capsys, *run)
    assert first["linker"]["options"] == {"mode": "fast", "deep": False, "top": 3, "model": "models/small"}  # type: ignore[index]
    assert results(capsys, *run) == first


def test_numbers_of_numpy_are_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    Path("arrays.py").write_text(
        "import numpy as np\n"
        "from shadowprobe import Linker\n"
        "class Arrays(Linker):\n"
        "    def link(self, snippets):\n"
        "        return [self.answer(s, 'x', np.float32(0.5), page_id=np.int64(100)) for s in snippets]\n"
    )
    results(capsys, *RUN, "--linker", "arrays.py:Arrays")
    first = json.loads(Path("run/predictions.jsonl").read_text().splitlines()[0])
    assert (first["score"], first["page_id"], first["entity"]) == (0.5, 100, "Avon (river)")


def test_names_of_directories_may_be_any_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    name = os.fsdecode(b"w\xf6rld")
    try:
        Path("world").rename(name)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    results(capsys, "run", "--linker", "prior", "--dataset", name, "--out", "run")
    assert json.loads(Path("run/run.json").read_text())["locations"]["dataset"].startswith("w")
