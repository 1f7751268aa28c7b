"""The public surface, pinned: a name that leaves or joins it does so on purpose."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import shadowprobe

PUBLIC = {
    "Answers",
    "Candidate",
    "Card",
    "Comparison",
    "Dataset",
    "DownloadError",
    "DumpNames",
    "Entity",
    "EntitySpace",
    "Failure",
    "Findings",
    "InputError",
    "ItemError",
    "Knowledge",
    "Linker",
    "LinkerError",
    "PluginError",
    "Prediction",
    "Probe",
    "Request",
    "Resolver",
    "Run",
    "Settings",
    "ShadowprobeError",
    "Snippet",
    "UsageError",
    "VariantProbe",
    "WebLinker",
    "WorkerLinker",
    "__version__",
    "check",
    "compare",
    "context_of",
    "debias",
    "load_run",
    "names_from_dumps",
    "normalise_title",
    "not_measured",
    "open_dataset",
    "plot",
    "report",
    "run",
    "runs",
    "score",
    "summarize",
    "table",
    "write_dataset",
}
ROOT = Path(__file__).resolve().parents[2]


def test_the_public_names_are_these() -> None:
    assert set(shadowprobe.__all__) == PUBLIC
    assert dir(shadowprobe) == sorted(shadowprobe.__all__)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(shadowprobe, name)
    if callable(value) and name != "Findings":
        assert (value.__doc__ or "").strip()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Linkr'"):
        _ = shadowprobe.Linkr


def test_version_is_that_of_the_installed_package() -> None:
    from importlib.metadata import version

    assert shadowprobe.__version__ == version("shadowprobe")


def imports_of(path: Path) -> set[str]:
    """Every module that a file imports, at any depth of it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_the_core_imports_no_linker_and_no_probe() -> None:
    folders = ("shadowprobe.linkers", "shadowprobe.probes", "linkers", "probes")
    files = list((ROOT / "shadowprobe").rglob("*.py"))
    assert len(files) > 20
    for path in files:
        guilty = {
            name for name in imports_of(path) if name in folders or name.startswith(tuple(f"{f}." for f in folders))
        }
        # The command line has a command called `linkers` and one called `probes`.
        guilty = {name for name in guilty if not name.startswith("shadowprobe.cli")}
        assert not guilty, f"{path} imports {guilty}"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["linkers"],
        ["probes"],
        ["retrievers"],
        ["retrievers", "--json"],
        ["run", "--help"],
        ["retrieve", "--help"],
    ],
)
def test_listing_and_help_load_no_linker_and_nothing_heavy(arguments: list[str]) -> None:
    heavy = (
        *("torch", "transformers", "sentence_transformers", "spacy", "sklearn", "scipy", "numpy", "bm25s", "httpx"),
        *(
            "rdflib",
            "requests",
            "mwclient",
            "bs4",
            "lxml",
            "trafilatura",
            "warcio",
            "duckdb",
            "starlette",
            "matplotlib",
            "faiss",
        ),
    )
    # The folder of the retrievers is a package, which holds nothing; its files are not looked for without it.
    script = f"""
import sys
from shadowprobe.cli import main
try:
    main({arguments!r})
except SystemExit as end:
    assert not end.code, end.code
loaded = [name for name in sys.modules if name.split(".")[0] in {heavy!r}
          or name.startswith(("shadowprobe.linkers.", "shadowprobe.probes."))
          and name != "shadowprobe.retrievers"]
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
