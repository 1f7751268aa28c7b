"""Which test files test a module: those with its name, those that import it, and those that run its command."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
SOURCES = ("shadowprobe", "linkers", "retrievers", "readers", "probes")
# These start whole commands, servers and browsers: too slow for every mutant, and not the tests of one module.
WHOLE = {"integration", "hostile", "scripts", "plugin_package", "support"}
# A module has this many test files at least, if its users have tests. So many of them are near it: the others are only
# asked if these notice nothing.
LEAST, NEAR = 3, 6


@cache
def find_tests(path: Path) -> list[list[str]]:
    """The test files of a module in groups, the nearest first: one, then a few, then all others.

    A module with few tests of its own is also tested through what uses it.
    """
    tests = dict.fromkeys(_find_own_tests(path))
    users, known = [path], {path}
    while len(tests) < LEAST and (users := _find_users(users, known)):
        known.update(users)
        tests |= dict.fromkeys(test for user in users for test in _find_own_tests(user))
    # Some tests check a rule for all modules of the package.
    is_in_package = path.is_relative_to(ROOT / SOURCES[0])
    rules = [test for test in _list_tests() if is_in_package and "pkgutil" in _read_imports(test)]
    own = [test for test in tests if test not in rules]
    groups = (own[:1], [*own[1:NEAR], *rules], own[NEAR:])
    return [[str(test.relative_to(ROOT)) for test in group] for group in groups if group]


def _find_users(paths: list[Path], known: set[Path]) -> list[Path]:
    """The modules that use one of some others, and are not known yet."""
    names = {_name_module(path) for path in paths}
    others = [path for path in list_modules() if path not in known]
    if users := [user for user in others if names & _read_imports(user)]:
        return users
    matches = {user: max((_measure_lazy_match(user, name) for name in names), default=0) for user in others}
    # `shadowprobe.reporting.tables.to_` says more about a module than `shadowprobe.reporting.tables.` does.
    longest = max(matches.values(), default=0)
    return [user for user, match in matches.items() if match == longest] if longest else []


def _measure_lazy_match(user: Path, name: str) -> int:
    """How many characters a lazy import of a module has in common with the start of a name."""
    return max((len(start) for start in _read_lazy_imports(user) if name.startswith(start)), default=0)


@cache
def list_modules() -> list[Path]:
    """Every module that another one may import: the source, and what the tests share."""
    folders = [*(ROOT / name for name in SOURCES), TESTS / "support"]
    return [path for folder in folders for path in sorted(folder.rglob("*.py"))]


@cache
def _list_tests() -> list[Path]:
    tests = [path for path in TESTS.rglob("test_*.py") if path.relative_to(TESTS).parts[0] not in WHOLE]
    # A test that imports little is about what it imports.
    return sorted(tests, key=lambda test: (len(_read_imports(test)), test))


@cache
def _find_own_tests(path: Path) -> list[Path]:
    stem = path.parent.name if path.stem == "__init__" else path.stem.strip("_")
    folder = path.relative_to(ROOT).parent
    # The folder of the module, and those around it.
    folders = {TESTS / part for part in (folder, *folder.parents) if part != Path()}
    near = [test for test in _list_tests() if test.parent in folders]
    tests = [*near, *(test for test in _list_tests() if test.parent not in folders)]
    named = [test for test in near if f"_{stem}_" in f"{test.stem.removeprefix('test')}_"]
    importing = [test for test in tests if _name_module(path) in _read_imports(test)]
    running = [test for test in tests if _list_command_names(path) & _read_texts(test)]
    # The tests of linkers, retrievers and probes name them.
    naming = [test for test in near if path.parent.name in SOURCES[1:] and path.stem in _read_texts(test)]
    return [*sorted(named, key=lambda test: len(test.stem)), *importing, *running, *naming]


@cache
def _list_command_names(path: Path) -> set[str]:
    """The names of the commands that a module of the command line has."""
    if path.parent != ROOT / "shadowprobe" / "cli":
        return set()
    nodes = ast.walk(_parse(path.parent / "__init__.py"))
    table = next(node for node in nodes if isinstance(node, ast.Dict) and len(node.keys) > len(SOURCES))
    places = {ast.literal_eval(name): value for name, value in zip(table.keys, table.values, strict=True) if name}
    return {
        name
        for name, value in places.items()
        if isinstance(value, ast.Call) and ast.literal_eval(value.args[0]).startswith(f"{path.stem}:")
    }


@cache
def _read_texts(file: Path) -> frozenset[str]:
    """The texts of a file, and the first word of each: a command line may be one text, or a list of them."""
    nodes = ast.walk(_parse(file))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return frozenset(word for text in texts for word in (text, *text.split(maxsplit=1)[:1]))


@cache
def _read_imports(file: Path) -> frozenset[str]:
    """The names of the modules that a file imports, anywhere in it, or by their name; and of the scripts it starts."""
    name = _name_module(file)
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    names = {name for node in ast.walk(_parse(file)) for name in _list_imports(node, package)}
    scripts = {text.removesuffix(".py").replace("/", ".") for text in _read_texts(file) if text.endswith(".py")}
    names |= {text for text in _read_texts(file) if text.startswith("shadowprobe.")}
    # The scripts of the workers import each other from their folder.
    return frozenset(names | {f"{package}.{name}" for name in scripts | names})


def _list_imports(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        around = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
        owner = ".".join(filter(None, [*around, node.module]))
        yield owner
        # What is imported may be a module, a name in one, or a public name of the package.
        yield from (f"{owner}.{alias.name}" for alias in node.names)
        if owner == "shadowprobe":
            yield from (_read_exports()[alias.name] for alias in node.names if alias.name in _read_exports())


@cache
def _read_exports() -> dict[str, str]:
    """The module that each public name of the package comes from."""
    nodes = ast.walk(_parse(ROOT / "shadowprobe" / "__init__.py"))
    return {alias.name: str(node.module) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}


@cache
def _read_lazy_imports(file: Path) -> tuple[str, ...]:
    """How the names start of the modules that a file imports by a name which it puts together."""
    texts = [node.values[0] for node in ast.walk(_parse(file)) if isinstance(node, ast.JoinedStr) and node.values]
    starts = [str(text.value) for text in texts if isinstance(text, ast.Constant)]
    return tuple(start for start in starts if start.startswith("shadowprobe.") and start.count(".") > 1)


@cache
def _name_module(path: Path) -> str:
    """The name under which a module is imported."""
    shared = TESTS / "support"
    parts = path.with_suffix("").relative_to(shared if path.is_relative_to(shared) else ROOT).parts
    is_installed = parts[0] in SOURCES[1:]
    return ".".join(("shadowprobe", *parts) if is_installed else parts).removesuffix(".__init__")


@cache
def _parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))
