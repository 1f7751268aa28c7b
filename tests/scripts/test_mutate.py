"""The mutation tool: which places it changes, which tests it runs, and whether they notice a mutant."""

from __future__ import annotations

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MUTANTS = runpy.run_path(str(ROOT / "scripts" / "mutation" / "mutants.py"))
find_places, mutate_source = MUTANTS["find_places"], MUTANTS["mutate_source"]
OWN_TESTS = runpy.run_path(str(ROOT / "scripts" / "mutation" / "own_tests.py"))


def change(source: str, number: int = 0) -> str:
    return ast.unparse(mutate_source(source, number)[0])


@pytest.mark.parametrize(
    ("source", "mutated"),
    [
        ("a < b", "a <= b"),
        ("a == b", "a != b"),
        ("a in b", "a not in b"),
        ("a is None", "a is not None"),
        ("a and b", "a or b"),
        ("a + b", "a - b"),
        ("a / b", "a * b"),
        ("x = not a", "x = not not a"),
        ("x = 7", "x = 8"),
        ("x = True", "x = False"),
        ("f(a)", "None"),
        ("x = 1 if a else 2", "x = 1 if not a else 2"),
    ],
)
def test_a_place_is_changed_in_one_way(source: str, mutated: str) -> None:
    assert change(source) == mutated


@pytest.mark.parametrize(
    "source",
    [
        '"""A text."""',
        "import a",
        "if TYPE_CHECKING:\n    x = 1",
        "x: Annotated[int, Option(min=1)]",
        "@lru_cache(7)\ndef f(a: Literal[1]) -> Literal[2]: pass",
        "f'{a}' + b",
        "x = zip(a, b, strict=True)",
        "class A(Struct, frozen=True): pass",
        "read = lru_cache(64)(find)",
        "read = lru_cache(maxsize=64)(find)",
        # A number so large that one more is the same.
        "x = 1e100",
        # How a figure looks.
        "x = draw(linewidth=0.5)",
        "x = {'axes.linewidth': 0.5, 'fontsize': 7}",
    ],
)
def test_what_only_declares_is_not_changed(source: str) -> None:
    assert find_places(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "x = decode(a, strict=True)",
        "class A(Struct, forbid_unknown_fields=True): pass",
        "x = draw(visible=True)",
        "x = {'grid': True}",
        "x = draw(linewidth=choose(True))",
    ],
)
def test_an_argument_that_does_something_is_changed(source: str) -> None:
    assert change(source) == source.replace("True", "False").replace(": pass", ":\n    pass")


@pytest.mark.parametrize(
    ("module", "tests"),
    [
        # By its name, and by its imports.
        ("shadowprobe/base/prose.py", ["shadowprobe/base/test_prose.py", "shadowprobe/build/test_snippets_work.py"]),
        ("retrievers/linker.py", ["retrievers/test_linker_retriever.py"]),
        ("shadowprobe/reporting/figures/style.py", ["shadowprobe/reporting/test_figures_style.py"]),
        # By a public name, by its command, and by its name as a plugin.
        ("shadowprobe/running/linking.py", ["shadowprobe/running/test_linking.py"]),
        ("shadowprobe/cli/table.py", ["shadowprobe/cli/test_command_defaults.py"]),
        ("linkers/oracle.py", ["linkers/test_builtin_linkers.py"]),
        # Through what uses it: by a relative import, by a name that is put together, and as a script.
        ("linkers/_shared/d4science.py", ["linkers/test_tagme.py", "linkers/test_wat.py"]),
        ("shadowprobe/reporting/tables/to_latex.py", ["shadowprobe/reporting/test_tables.py"]),
        ("linkers/workers/protocol.py", ["linkers/test_blink.py", "linkers/test_refined.py"]),
    ],
)
def test_a_module_has_its_tests(module: str, tests: list[str]) -> None:
    nearest, *others = OWN_TESTS["find_tests"](ROOT / module)
    assert {f"tests/{test}" for test in tests} <= {*nearest, *(test for group in others for test in group)}
    assert len(nearest) == 1


def test_the_tests_of_a_module_are_asked_in_three_groups_and_none_twice() -> None:
    groups = OWN_TESTS["find_tests"](ROOT / "shadowprobe" / "running" / "api.py")
    assert [len(group) for group in groups[:1]] == [1]
    assert groups[0] == ["tests/shadowprobe/running/test_api.py"]
    # Rules for all modules are near every module.
    assert "tests/shadowprobe/test_limits.py" in groups[1]
    assert len(groups) == 3
    assert len({test for group in groups for test in group}) == sum(len(group) for group in groups)


def test_every_module_with_something_to_change_has_tests() -> None:
    modules = [path for path in OWN_TESTS["list_modules"]() if not path.is_relative_to(ROOT / "tests")]
    changed = [path for path in modules if find_places(path.read_text(encoding="utf-8"))]
    assert [str(path) for path in changed if not OWN_TESTS["find_tests"](path)] == []


def test_each_place_of_a_source_has_a_number_and_a_line() -> None:
    source = "a = 1\nif a < 2 and b:\n    f()\n"
    assert [(place.line, place.change) for place in find_places(source)] == [
        (1, "1 to 2"),
        (2, "And to Or"),
        (2, "Lt to LtE"),
        (2, "2 to 3"),
        (3, "call removed"),
    ]
    assert change(source, 2) == "a = 1\nif a <= 2 and b:\n    f()"


def find(name: str, line: str) -> int:
    """The number of the first place of a file in a line of its source."""
    source = (ROOT / name).read_text(encoding="utf-8")
    row = next(row for row, text in enumerate(source.splitlines(), start=1) if line in text)
    return next(number for number, place in enumerate(find_places(source)) if place.line == row)


@pytest.mark.slow
def test_a_mutant_that_tests_notice_and_the_source_stays_as_it_is() -> None:
    name = "shadowprobe/base/printable.py"
    before = (ROOT / name).read_bytes()
    number = find(name, "if cell.startswith(_FORMULA)")
    ended = subprocess.run(
        [ROOT / "scripts" / "mutate", "--only", f"{name}:{number}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=300,
    )
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, "1 of 1 mutants were noticed"), ended.stdout
    assert (ROOT / name).read_bytes() == before


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of the script, whose modules import each other from their folder."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "mutation"))
    return runpy.run_path(str(ROOT / "scripts" / "mutation" / "run_mutants.py"))


def test_a_test_that_fails_without_a_mutant_is_left_out(tmp_path: Path, parts: dict[str, Any]) -> None:
    (tmp_path / "test_good.py").write_text("def test_good():\n    assert True\n")
    (tmp_path / "test_bad.py").write_text("def test_bad():\n    assert False\n")
    with parts["Tester"]() as tester:
        trial = parts["Trial"]([tester])
        assert trial._is_healthy(str(tmp_path / "test_good.py"), tester)
        assert not trial._is_healthy(str(tmp_path / "test_bad.py"), tester)
        # Known from the first time.
        (tmp_path / "test_bad.py").unlink()
        assert not trial._is_healthy(str(tmp_path / "test_bad.py"), tester)


def test_a_file_that_pytest_cannot_begin_ends_the_trial(tmp_path: Path, parts: dict[str, Any]) -> None:
    file = tmp_path / "test_broken.py"
    file.write_text("import nothing_of_this_name\n")
    with parts["Tester"]() as tester, pytest.raises(SystemExit, match=r"test_broken\.py cannot be run: "):
        parts["make_trace"](str(file), tester)


def test_another_copy_of_the_package_is_refused(parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    parts["check_installed"]()
    monkeypatch.setitem(parts["check_installed"].__globals__, "ROOT", ROOT / "docs")
    with pytest.raises(SystemExit, match=r"does not have shadowprobe from .*docs: "):
        parts["check_installed"]()


@pytest.mark.parametrize(
    ("broken", "left"),
    [
        (set(), ["a.py::one", "b.py::two[x]"]),
        ({"b.py::two"}, ["a.py::one"]),
        ({"b.py"}, ["a.py::one"]),
        ({"a.py", "b.py::two"}, []),
    ],
)
def test_broken_tests_are_known_by_their_file_or_function(
    parts: dict[str, Any], broken: set[str], left: list[str]
) -> None:
    tests = ["a.py::one", "b.py::two[x]"]
    assert [test for test in tests if not broken & parts["_name_parts"](test)] == left


def test_chosen_tests_run_in_their_order_and_known_others_do_not(tmp_path: Path, parts: dict[str, Any]) -> None:
    make_plugin = runpy.run_path(str(ROOT / "scripts" / "mutation" / "pytest_server.py"))["Chosen"]
    plugin = make_plugin(order=["c", "a"], others=["b"], seconds=60, note=str(tmp_path / "note"))
    # A mutant may change the name of a test: "d" was not known.
    items = [SimpleNamespace(nodeid=name) for name in "dabc"]
    plugin.pytest_collection_modifyitems(items)
    assert [item.nodeid for item in items] == ["c", "a", "d"]


def test_no_test_starts_after_the_time_is_over(tmp_path: Path, parts: dict[str, Any]) -> None:
    make_plugin = runpy.run_path(str(ROOT / "scripts" / "mutation" / "pytest_server.py"))["Chosen"]
    item = SimpleNamespace(nodeid="a")
    in_time, late = (make_plugin([], [], seconds, str(tmp_path / "note")) for seconds in (600, -1))
    # True tells pytest that nothing is left to do for this test.
    assert late.pytest_runtest_protocol(item) is True
    assert not (tmp_path / "note").exists()
    assert in_time.pytest_runtest_protocol(item) is None
    assert (tmp_path / "note").read_text() == "a"


@pytest.mark.parametrize(
    ("phase", "test"), [("(call)", "tests/test_a.py::test_b"), ("(setup)", ""), ("(teardown)", "")]
)
def test_a_process_that_a_test_starts_is_traced(tmp_path: Path, phase: str, test: str) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "scripts" / "mutation"),
        "SHADOWPROBE_TRACE": str(tmp_path / "lines"),
        "PYTEST_CURRENT_TEST": f"tests/test_a.py::test_b {phase}",
    }
    code = "from shadowprobe.base.printable import escape_formula as f; f('=1')"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, cwd=ROOT, timeout=60)
    rows = [line.split("\t") for line in (tmp_path / "lines").read_text().splitlines()]
    file = ROOT / "shadowprobe" / "base" / "printable.py"
    lines = file.read_text().splitlines()
    tests = {lines[int(line) - 1].strip(): test for test, path, line in rows if path == str(file)}
    # What is executed with the import counts for every test.
    assert tests["def escape_formula(cell: str) -> str:"] == ""
    assert tests['return f"\'{cell}" if cell.startswith(_FORMULA) else cell'] == test


def test_a_process_that_a_test_starts_has_the_mutant_and_works(tmp_path: Path) -> None:
    name = "shadowprobe/base/printable.py"
    number = find(name, "if cell.startswith(_FORMULA)")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "scripts" / "mutation"),
        "SHADOWPROBE_MUTANT": f"{ROOT / name}:{number}",
    }
    code = "from shadowprobe.base.printable import escape_formula as f; import email.message; print(f('=1'), f('a'))"
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, cwd=ROOT, timeout=60
    )
    # The condition is negated.
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "=1 'a\n", "")


@pytest.mark.parametrize(
    ("line", "first"),
    [(2, 2), (3, 3), (4, 3), (5, 3), (6, 6), (7, 7), (8, 7), (9, 7), (10, 10), (11, 10), (12, 12), (14, 14), (15, 13)],
)
def test_the_parts_of_a_statement_are_executed_together(parts: dict[str, Any], line: int, first: int) -> None:
    source = (
        "@cache\ndef f(a=1):\n    if (\n        a > 2\n    ):\n        a = 3\n    b = [\n        4,\n    ]\n"
        "    match b:\n        case 5:\n            return 6\n    try:\n        g()\n    except Error:\n        h()\n"
    )
    assert parts["find_statement"](source, line) == first


def test_the_fastest_test_of_a_line_is_the_first_and_shared_lines_belong_to_all(parts: dict[str, Any]) -> None:
    trace = parts["FileTrace"](
        key="",
        modules={},
        seconds={"slow": 3.0, "quick": 0.1, "other": 0.2},
        lines={"probes/prior.py": {"4": ["slow", "quick"], "5": ["other"], "9": [""]}},
        packages=[],
    )
    path = ROOT / "probes" / "prior.py"
    assert trace.find_tests(path, 4) == ["quick", "slow"]
    assert trace.find_tests(path, 5) == ["other"]
    assert trace.find_tests(path, 9) == ["quick", "other", "slow"]
    # No test executes it.
    assert trace.find_tests(path, 6) == []
    # The tests ended before their time: each of them may execute it.
    assert trace._replace(lines=None).find_tests(path, 6) == ["other", "quick", "slow"]


def test_mutants_are_chosen_below_a_folder_or_in_a_file(parts: dict[str, Any]) -> None:
    list_mutants = parts["list_mutants"]
    everything = list_mutants([])
    probes = list_mutants([ROOT / "probes"])
    assert {mutant.path.parent for mutant in probes} == {ROOT / "probes"}
    assert len(probes) == len([mutant for mutant in everything if mutant.path.is_relative_to(ROOT / "probes")])
    assert {mutant.path for mutant in list_mutants([ROOT / "probes" / "prior.py"])} == {ROOT / "probes" / "prior.py"}
