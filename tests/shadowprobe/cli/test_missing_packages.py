"""A plain install has no packages of the builder: what needs them says how to install them, and nothing else does."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from refusals import outcome, single_line

from shadowprobe.errors import EXTRAS, missing_packages

ROOT = Path(__file__).resolve().parents[3]
INSTALL = "pip install 'shadowprobe[build]'"
CONTACT = ("--contact", "tests@example.org")


def test_the_packages_of_the_extra_are_those_that_are_known() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {line.partition(">")[0] for line in extras["build"]} == EXTRAS["build"]
    assert "shadowprobe[build]" in extras["test"]


def test_another_package_that_is_missing_is_a_mistake_of_the_program() -> None:
    assert missing_packages(ModuleNotFoundError(name="shadowprobe.nowhere")) is None
    assert missing_packages(ModuleNotFoundError("no name")) is None


@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("warcio", ("build", "--wiki", "http://127.0.0.1:9", "--out", "made", *CONTACT)),
        ("warcio", ("describe", "-d", "mini", "--wiki", "http://127.0.0.1:9", "--out", "made", *CONTACT)),
        ("mwclient", ("build", "--wiki", "http://127.0.0.1:9", "--out", "made", *CONTACT)),
        ("spacy", ("run", "--linker", "prior", "--also", "context_length", "--out", "run")),
    ],
)
def test_a_command_that_needs_the_extra_says_so_in_one_line(
    package: str,
    arguments: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    # Python takes this for a package that is not installed.
    monkeypatch.setitem(sys.modules, package, None)
    line = single_line(*outcome(capsys, *arguments))
    assert line.endswith(f"`{package}` is not installed: {INSTALL}")


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("run", "--linker", "prior", "--out", "run"), ("linkers",), ("report", "run", "--out", "r.html")],
)
def test_other_commands_import_no_package_of_the_builder_and_no_http_client(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    heavy = sorted(EXTRAS["build"] | {"aiohttp", "httpx"})
    script = (
        "import sys, contextlib, io\n"
        "from shadowprobe.cli import main\n"
        "def call(*arguments):\n"
        "    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "        main(list(arguments))\n"
        f"call(*{arguments if arguments[0] != 'report' else ('run', '--linker', 'prior', '--out', 'run')})\n"
        f"call(*{arguments})\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", done.stderr
