"""GERBIL as a linker: there is none, and the refusal says what there is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from refusals import outcome, single_line
from world import write_world

from shadowprobe import Dataset, LinkerError
from shadowprobe.plugins import LINKERS, listings, make_linker

PLACE = "shadowprobe.linkers.gerbil:GerbilLinker"
REFUSAL = (
    "GERBIL returns totals and no answers, so no probe can be asked of it: `shadowprobe gerbil run --annotator NAME"
    " --dataset D --url URL` gives Table 3; a system with a NIF service can be asked: --linker nif -o url=..."
)


@pytest.mark.parametrize("options", [{}, {"url": "http://user:hush@localhost:1234/gerbil"}, {"annotator": "AIDA"}])
def test_with_any_options_it_refuses_before_the_first_snippet(world: Dataset, options: dict[str, str]) -> None:
    linker = make_linker(PLACE, options)
    with pytest.raises(LinkerError) as refused:
        linker.open(world.knowledge)
    assert str(refused.value) == REFUSAL


def test_a_run_with_it_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    arguments = ("run", "--linker", PLACE, "-o", "url=http://localhost:1", "--dataset", "world")
    assert REFUSAL in single_line(*outcome(capsys, *arguments))


def test_the_list_of_linkers_says_what_to_use_instead() -> None:
    (found,) = [item for item in listings(LINKERS) if item.name == "gerbil"]
    assert found.needs == "not possible: GERBIL returns totals only; use `shadowprobe gerbil run`"
    assert found.about == "No linker but a benchmark: GERBIL returns totals only."


def test_the_help_of_the_command_brings_neither_rdflib_nor_httpx() -> None:
    script = (
        "import sys, contextlib, io\n"
        "from shadowprobe.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    main(['gerbil', 'run', '--help'])\n"
        "print([name for name in ('rdflib', 'httpx', 'numpy', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
