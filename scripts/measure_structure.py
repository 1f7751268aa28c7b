"""Prints how the code is laid out, and refuses what breaks the rules: `python scripts/measure_structure.py [--json]`.

The rules are those of docs/architecture.md: which package may import which, how many modules three commands load and
execute, and how often a run opens a file of its dataset. A test runs this script.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CORE = "shadowprobe"
# From top to bottom: a package imports only from those above it.
LAYERS = (
    *("errors", "base", "net", "dataset", "formats", "catalogue", "queries", "systems", "measure", "plugins"),
    *("compute", "build", "sets", "running", "training", "gerbil", "human_study", "reporting", "cli"),
)
# The folders that people extend: found by entry point, never imported by the core.
PLUGINS = ("linkers", "retrievers", "readers", "probes")
LOWEST_FOR_PLUGINS = "measure"
# They import whatever the package offers to its users.
FRONT_DOORS = ("__init__", "__main__", "api", "retrieval")
LIMITS = {
    "import rule violations": 0,
    "packages in an import cycle": 0,
    "modules directly in shadowprobe/": 6,
    "modules imported by `report`": 75,
    "modules of `build` imported by `report`": 0,
    # Three are the probes of readers and language models, which are looked at to find those of retrievers.
    "modules imported by `retrieve`": 60,
    "modules of `build` imported by `retrieve`": 0,
    # Ten are probes, four show the results.
    "modules executed by `run --linker blend`": 41,
    "pairs of modules that call each other in that run": 0,
    "most often that one dataset file is opened in it": 2,
}


def find_modules() -> dict[str, Path]:
    """Every module of the package by its name, the mapped folders included."""
    modules = {}
    for folder in (CORE, *PLUGINS):
        prefix = (CORE,) if folder == CORE else (CORE, folder)
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            modules[".".join((*prefix, *(part for part in parts if part != "__init__")))] = path
    return modules


def read_imports(name: str, path: Path, modules: dict[str, Path]) -> set[str]:
    """The modules of the package that a module imports, at any depth of it and for type checking too."""
    imported = set()
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*origin, *([node.module] if node.module else [])])
            full_names = (f"{base}.{alias.name}" for alias in node.names)
            imported |= {full if full in modules else base for full in full_names}
    return {other for other in imported if other in modules and other not in {name, CORE}}


def package_of(module: str) -> str:
    """The package that a module belongs to; a module directly in the core stands for itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def is_allowed(importer: str, imported: str) -> bool:
    """True where the import rule lets a package import another."""
    if importer == imported or importer in FRONT_DOORS:
        return True
    if imported == "retrieval":
        return importer in PLUGINS
    if importer in PLUGINS:
        return imported in LAYERS and LAYERS.index(imported) <= LAYERS.index(LOWEST_FOR_PLUGINS)
    if importer not in LAYERS or imported not in LAYERS:
        return False
    return LAYERS.index(imported) < LAYERS.index(importer)


def find_violations(imports: dict[str, set[str]]) -> list[str]:
    """The imports that break the rule, as `importer -> imported`."""
    return [
        f"{name} -> {other}"
        for name, others in imports.items()
        for other in sorted(others)
        if not is_allowed(package_of(name), package_of(other))
    ]


def find_cycles(imports: dict[str, set[str]]) -> list[str]:
    """The packages that can be reached from themselves through imports."""
    edges: dict[str, set[str]] = {}
    for name, others in imports.items():
        edges.setdefault(package_of(name), set()).update(package_of(other) for other in others)
    return sorted(package for package in edges if package not in FRONT_DOORS and package in _reachable(package, edges))


def _reachable(start: str, edges: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [other for other in edges.get(start, ()) if other != start]
    while waiting:
        package = waiting.pop()
        if package not in reached:
            reached.add(package)
            waiting += edges.get(package, ())
    return reached


def trace_command(arguments: Sequence[str], directory: Path, *, calls: bool = False) -> dict[str, Any]:
    """What a command of shadowprobe loads, and with `calls` also what it executes and opens."""
    report = directory / "trace.json"
    command = [sys.executable, str(Path(__file__).resolve()), "--trace", str(report), "--calls" if calls else "--loads"]
    subprocess.run([*command, "--", *arguments], check=True, cwd=directory, capture_output=True)
    trace: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return trace


def run_traced(report: Path, arguments: list[str], *, calls: bool) -> None:
    """Runs a command in this process and writes down what it loaded, executed and opened."""
    opened: Counter[str] = Counter()
    executed: set[str] = set()
    edges: set[tuple[str, str]] = set()
    names: dict[str, str] = {str(path): name for name, path in find_modules().items()}

    def watch_files(event: str, details: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(details[0], str | os.PathLike) and str(details[0]).endswith(".jsonl"):
            opened[str(details[0])] += 1

    def watch_calls(frame: Any, event: str, _: Any) -> None:
        # Only functions: the bodies of modules and classes are imports.
        if event != "call" or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return
        callee = names.get(frame.f_code.co_filename)
        if callee is None:
            return
        caller_frame = frame.f_back
        if caller_frame is None or not caller_frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return
        # The package itself only fetches names for those who import it.
        executed.update({callee} - {CORE})
        caller = names.get(caller_frame.f_code.co_filename)
        if caller is not None and caller != callee:
            edges.add((caller, callee))

    from shadowprobe.cli import main

    sys.addaudithook(watch_files)
    if calls:
        sys.setprofile(watch_calls)
    try:
        main(arguments)
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.setprofile(None)
    data = str(ROOT / "data")
    trace = {
        "loaded": sorted(name for name in sys.modules if name == CORE or name.startswith(f"{CORE}.")),
        "executed": sorted(executed),
        "pairs": sorted(f"{one} <-> {other}" for one, other in edges if one < other and (other, one) in edges),
        "opened": {path: count for path, count in opened.items() if path.startswith(data)},
    }
    report.write_text(json.dumps(trace), encoding="utf-8")


def measure() -> Iterator[tuple[str, int, list[str]]]:
    """Each figure with its name, its value and what makes it up."""
    modules = find_modules()
    imports = {name: read_imports(name, path, modules) for name, path in modules.items()}
    violations, cycles = find_violations(imports), find_cycles(imports)
    loose = sorted(path.name for path in (ROOT / CORE).glob("*.py"))
    yield "import rule violations", len(violations), violations
    yield "packages in an import cycle", len(cycles), cycles
    yield "modules directly in shadowprobe/", len(loose), loose
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        blend = trace_command(["run", "--linker", "blend", "--out", "blend"], directory, calls=True)
        trace_command(["run", "--linker", "prior", "--out", "prior"], directory)
        for command, arguments in {
            "report": ["report", "prior", "--out", "report.html"],
            "retrieve": ["retrieve", "--retriever", "tfidf", "--out", "tfidf"],
        }.items():
            loaded = trace_command(arguments, directory)["loaded"]
            builders = [name for name in loaded if package_of(name) == "build"]
            yield f"modules imported by `{command}`", len(loaded), loaded
            yield f"modules of `build` imported by `{command}`", len(builders), builders
    yield "modules executed by `run --linker blend`", len(blend["executed"]), blend["executed"]
    yield "pairs of modules that call each other in that run", len(blend["pairs"]), blend["pairs"]
    opened = [f"{Path(path).name}: {count} times" for path, count in sorted(blend["opened"].items())]
    yield "most often that one dataset file is opened in it", max(blend["opened"].values(), default=0), opened


def main() -> None:
    """Prints every figure beside its limit; exits with 1 where one is exceeded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print the figures and what makes them up as JSON")
    parser.add_argument("--trace", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--calls", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--loads", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.trace is not None:
        run_traced(options.trace, options.arguments, calls=options.calls)
        return
    figures = list(measure())
    if options.json:
        json.dump({name: {"value": value, "parts": parts} for name, value, parts in figures}, sys.stdout, indent=2)
    exceeded = False
    for name, value, parts in figures:
        limit = LIMITS[name]
        exceeded |= value > limit
        if not options.json:
            print(f"{'ok ' if value <= limit else 'BAD'} {value:4} (at most {limit:3})  {name}")
            if value > limit:
                print("\n".join(f"        {part}" for part in parts))
    sys.exit(exceeded)


if __name__ == "__main__":
    main()
