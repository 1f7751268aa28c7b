"""Linkers in an environment of their own: how a script is found, asked and understood."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import marked
from worker_scripts import BY_PROTOCOL, WORKERS, Make, link_text, opened_workers, unopened

from shadowprobe import Candidate, Dataset, Failure, LinkerError, Prediction
from shadowprobe.plugins import make_linker
from shadowprobe.systems.worker_linker import WorkerLinker


@pytest.fixture
def make(tmp_path: Path, world: Dataset, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    with opened_workers(tmp_path, world, monkeypatch) as found:
        yield found


def test_every_kind_of_answer_arrives_as_what_it_is(make: Make) -> None:
    linker = make(
        """
        def answer(item):
            other = {"title": "Avon (ship)", "qid": "Q2", "page_id": 200, "score": 0.25}
            return {"id": item["id"], **{
                "linked": {"status": "linked", "title": "Avon (river)", "qid": "Q1", "page_id": 100, "score": 0.5,
                           "candidates": [{"qid": "Q1", "score": 0.5}, other]},
                "nil": {"status": "nil", "score": 0.75, "candidates": [other]},
                "skipped": {"status": "skipped"},
                "page": {"page_id": 100},
                "nothing": {"status": "linked"},
                "error": {"error": "out of\\nmemory"},
            }[item["text"]]}
        """
    )
    texts = ("linked", "nil", "skipped", "page", "nothing", "error")
    found = linker.link([marked(f"[{text}]", f"s-{text}") for text in texts])
    ship = Candidate("Avon (ship)", page_id=200, qid="Q2", score=0.25)
    river = Candidate(qid="Q1", score=0.5)
    assert found == [
        Prediction("s-linked", answer="Avon (river)", page_id=100, qid="Q1", score=0.5, candidates=(river, ship)),
        Prediction("s-nil", status="nil", score=0.75, candidates=(ship,)),
        Prediction("s-skipped", status="skipped"),
        Prediction("s-page", answer="curid:100", page_id=100),
        Failure("s-nothing", "the worker of `mine` linked this snippet and named no entity"),
        Failure("s-error", "out of memory"),
    ]


def test_text_and_offsets_arrive_whole_whatever_the_locale(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONUTF8", "0")
    linker = make(
        """
        def answer(item):
            return {"id": item["id"], "title": item["text"][item["start"]:item["end"]] + "|" + item["id"]}
        """
    )
    (answer,) = linker.link([marked("Über \N{CLAPPER BOARD}: [Köln \N{CLAPPER BOARD}].", "ß")])
    assert answer == Prediction("ß", answer="Köln \N{CLAPPER BOARD}|ß")


def test_the_options_reach_the_script_before_anything_else(make: Make) -> None:
    linker = make('def start(options): say({"ready": options})')
    assert linker.notes == ["mine ran in an environment of its own: size 3, word Köln \N{CLAPPER BOARD}"]


def test_the_interpreter_can_come_from_the_environment(
    tmp_path: Path, world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    linker = unopened(tmp_path)
    linker.python = ""
    monkeypatch.setenv("SHADOWPROBE_MINE_PYTHON", sys.executable)
    linker.open(world.knowledge)
    assert link_text(linker).isdecimal()
    linker.close()


def test_an_interpreter_in_the_working_directory_is_not_looked_for_elsewhere(
    tmp_path: Path, world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my-python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    linker = unopened(tmp_path)
    linker.python = "./my-python"
    linker.open(world.knowledge)
    assert link_text(linker).isdecimal()
    linker.close()


def test_without_an_interpreter_it_says_what_to_type(tmp_path: Path, world: Dataset) -> None:
    linker = unopened(tmp_path)
    linker.python = ""
    with pytest.raises(LinkerError) as error:
        linker.open(world.knowledge)
    assert str(error.value) == (
        "`mine` runs in a Python environment of its own: add -o python=ENV/bin/python, or set SHADOWPROBE_MINE_PYTHON;"
        " `shadowprobe check --linker mine` prints how to make it"
    )


@pytest.mark.parametrize(
    ("place", "problem"),
    [("no/bin/python", "No such file or directory"), (".", "Permission denied")],
    ids=["missing", "a directory"],
)
def test_an_interpreter_that_cannot_be_started_is_named(
    tmp_path: Path, world: Dataset, place: str, problem: str
) -> None:
    linker = unopened(tmp_path)
    linker.python = str(tmp_path / place)
    with pytest.raises(LinkerError, match=f"`mine` cannot start {linker.python}: {problem}; -o python=ENV/bin/python"):
        linker.open(world.knowledge)


def test_a_program_that_is_no_python_is_found_out(tmp_path: Path, world: Dataset) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho usage: program FILE\nexec cat\n")
    program.chmod(0o755)
    linker = unopened(tmp_path)
    linker.python = str(program)
    with pytest.raises(LinkerError, match=r"the worker of `mine` sent an invalid reply \(.*\): 'usage: program FILE'"):
        linker.open(world.knowledge)


def test_a_script_that_cannot_work_says_why_in_one_line(make: Make) -> None:
    with pytest.raises(LinkerError) as error:
        make('def start(options): say({"error": "no\\n  model"})')
    assert str(error.value) == (
        f"`mine` does not work in {sys.executable}: no model; `shadowprobe check --linker mine` prints how to make it"
    )


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('def answer(item): print("loading 50%", flush=True); return {"id": item["id"]}', "'loading 50%'"),
        ('def answer(item): return {"id": item["id"], "score": "high"}', "Expected `float | null`, got `str`"),
        ('def answer(item): return {"title": "Avon"}', "missing required field `id`"),
        ('def answer(item): return {"id": "x"}', "answered without a request for 'x'"),
        ('def answer(item): return {"id": item["id"], "score": float("nan")}', "sent an invalid reply"),
        ('def answer(item): sys.stdout.buffer.write(b"\\xff\\xfe\\n"); return {}', "sent an invalid reply"),
    ],
    ids=["noise", "a wrong type", "no id", "another id", "a NaN", "bytes"],
)
def test_rubbish_stops_the_run_with_one_line(make: Make, body: str, problem: str) -> None:
    linker = make(body)
    with pytest.raises(LinkerError) as error:
        link_text(linker)
    assert str(error.value).startswith("the worker of `mine` ")
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("noise", ["loading 50%", "50"])
def test_a_stray_line_gives_a_hint_that_stdout_is_only_for_replies(make: Make, noise: str) -> None:
    linker = make(f'def answer(item): print("{noise}", flush=True); return {{"id": item["id"]}}')
    with pytest.raises(LinkerError) as error:
        link_text(linker)
    hint = f"'{noise}'; its stdout must contain only JSON lines: print to stderr"
    assert str(error.value).endswith(hint)


def test_an_answer_of_the_wrong_form_is_not_called_a_stray_line(make: Make) -> None:
    linker = make('def answer(item): return {"id": item["id"], "score": "high"}')
    with pytest.raises(LinkerError) as error:
        link_text(linker)
    assert "stdout" not in str(error.value)


def test_an_answer_given_twice_stops_the_run(make: Make) -> None:
    linker = make('def answer(item): return {"id": "a", "title": "Avon"}')
    with pytest.raises(LinkerError, match="answered twice for 'a'"):
        linker.link([marked("[Avon]", "a"), marked("[Berg]", "b")])


def test_a_snippet_left_out_of_the_answer_is_a_failure(make: Make) -> None:
    linker = make('def start(options): say({"ready": {}}); sys.stdin.readline(); say({"answers": []})')
    assert linker.link([marked("[Avon]", "a")]) == [
        Failure("a", "the worker of `mine` left this snippet out of its answer")
    ]


def test_much_on_stderr_blocks_nothing(make: Make) -> None:
    # More than a pipe holds, and without a line end.
    linker = make(
        """
        def answer(item):
            sys.stderr.write("x" * 1_000_000)
            return {"id": item["id"], "title": "Avon"}
        """,
        timeout=60.0,
    )
    assert link_text(linker) == "Avon"


def test_no_snippets_are_no_question(make: Make) -> None:
    linker = make('def start(options): say({"ready": {}}); sys.exit(0)')
    assert linker.link([]) == []


def test_a_class_without_a_script_gives_a_clear_error(world: Dataset) -> None:
    with pytest.raises(NotImplementedError, match=r"WorkerLinker must name its script: worker = 'my_worker\.py'"):
        WorkerLinker(python=sys.executable).open(world.knowledge)


def test_a_script_is_beside_the_class_and_not_in_the_current_directory(
    world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, elsewhere = tmp_path / "package", tmp_path / "elsewhere"
    package.mkdir()
    elsewhere.mkdir()
    (package / "mine.py").write_text(
        "from shadowprobe.systems.worker_linker import WorkerLinker\n\n"
        "class Mine(WorkerLinker):\n    name = 'mine'\n    worker = 'script.py'\n"
    )
    (package / "script.py").write_text('print(\'{"ready": {"version": "beside"}}\', flush=True)\n')
    (elsewhere / "script.py").write_text('print(\'{"error": "the wrong script"}\', flush=True)\n')
    monkeypatch.chdir(elsewhere)
    linker = make_linker(f"{package / 'mine.py'}:Mine", {"python": sys.executable})
    linker.open(world.knowledge)
    linker.close()
    assert linker.notes == ["mine ran in an environment of its own: version beside"]


def test_whatever_a_system_prints_reads_or_starts_the_answers_stay_clean(make: Make) -> None:
    linker = make(
        """
        def __init__(self, size, word):
            print("loading", size, word)
            os.write(1, b"from C\\n")
            subprocess.run(["echo", "from a child"], check=True)
            self.heard = sys.stdin.read() + str(subprocess.run(["cat"], stdout=subprocess.PIPE).stdout)

        def answer(self, items):
            sys.__stdout__.write("1/1 \\r")
            sys.__stdout__.flush()
            return [{"id": item["id"], "title": "heard " + self.heard} for item in items]
        """,
        BY_PROTOCOL,
        timeout=60.0,
    )
    assert link_text(linker) == "heard b''"
    assert linker.notes[0].startswith("mine ran in an environment of its own: version 2.0, Python 3.")


def test_one_snippet_that_breaks_a_system_costs_the_others_nothing(make: Make) -> None:
    linker = make(
        """
        def __init__(self, size, word): pass

        def answer(self, items):
            if any("bad" in item["text"] for item in items):
                raise IndexError("row 7")
            return [{"id": item["id"], "title": item["text"]} for item in items]
        """,
        BY_PROTOCOL,
    )
    assert linker.link([marked("[one]", "1"), marked("[bad]", "2"), marked("[two]", "3")]) == [
        Prediction("1", answer="one"),
        Failure("2", "IndexError: row 7"),
        Prediction("3", answer="two"),
    ]


def test_a_system_that_refuses_is_quoted_without_the_name_of_an_exception(make: Make) -> None:
    with pytest.raises(LinkerError, match=r": there is no GPU; `shadowprobe check"):
        make('def __init__(self, size, word): raise Refusal("there is no GPU")', BY_PROTOCOL)


@pytest.mark.parametrize("script", sorted(WORKERS.glob("*.py")), ids=lambda path: path.name)
def test_the_scripts_are_written_for_a_python_as_old_as_their_systems(script: Path) -> None:
    tree = ast.parse(script.read_text(encoding="utf-8"), feature_version=(3, 7))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    # Nothing of ours is installed there, nor anything that we depend on.
    assert imported - set(sys.stdlib_module_names) <= {"protocol", "blink", "bootleg", "refined"}
