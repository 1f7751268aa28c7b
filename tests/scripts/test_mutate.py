"""The mutation tool: which places it changes, which tests it runs, and whether they notice a mutant."""

from __future__ import annotations

import ast
import runpy
import subprocess
from pathlib import Path

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
    ],
)
def test_what_only_declares_is_not_changed(source: str) -> None:
    assert find_places(source) == []


@pytest.mark.parametrize("source", ["x = decode(a, strict=True)", "class A(Struct, forbid_unknown_fields=True): pass"])
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
    found = OWN_TESTS["find_tests"](ROOT / module)
    assert {f"tests/{test}" for test in tests} <= set(found)


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


def test_a_test_that_fails_without_a_mutant_ends_the_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "mutation"))
    check_healthy = runpy.run_path(str(ROOT / "scripts" / "mutation" / "run_mutants.py"))["check_healthy"]
    (tmp_path / "test_good.py").write_text("def test_good():\n    assert True\n")
    (tmp_path / "test_bad.py").write_text("def test_bad():\n    assert False\n")
    check_healthy(str(tmp_path / "test_good.py"), str(tmp_path / "compiled"))
    with pytest.raises(SystemExit, match=r"test_bad\.py fails without a mutant"):
        check_healthy(str(tmp_path / "test_bad.py"), str(tmp_path / "compiled"))
