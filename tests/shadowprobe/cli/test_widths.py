"""Every command fits on a terminal of 80 columns, and says the same in a pipe without colours."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from typer.main import get_command
from world import write_world

import shadowprobe
from shadowprobe.cli import app, main

WIDTH = 80
HELP = [[name, "--help"] for name in get_command(app).commands]  # type: ignore[attr-defined]
OUTPUTS = [
    ["--help"],
    ["runs"],
    ["linkers"],
    ["probes"],
    ["retrievers"],
    ["readers"],
    ["datasets"],
    ["plot"],
    ["run", "--linker", "blend", "--dataset", "world", "--out", "runs/blend-5"],
    ["score", "--predictions", "runs/blend-5"],
    ["table", "summary", "runs/blend-5", "runs/blend-9", "runs/prior"],
    ["table", "3", "runs/blend-5", "runs/blend-9", "--published"],
    ["table", "4", "runs/blend-5", "--published"],
    ["table", "suspicion", "runs/blend-5"],
    ["compare", "runs/blend-5", "runs/blend-9", "runs/prior", "--published"],
    ["debias", "runs/blend-5", "--force"],
    ["check", "--linker", "prior", "--dataset", "world"],
    ["retrieve", "--retriever", "bm25", "--out", "runs/found"],
    ["read", "--documents", "runs/found", "--out", "runs/answered", "--published"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("widths")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        write_world(place / "world")
        for weight in ("5", "9"):
            shadowprobe.run("blend", "world", options={"weight": f"0.{weight}"}, out=f"runs/blend-{weight}")
        shadowprobe.run("prior", "world", out="runs/prior")
    return place


def printed(capsys: pytest.CaptureFixture[str], command: list[str]) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(command)
    captured = capsys.readouterr()
    assert (end.value.code or 0) in {0, 1}, captured.err
    return captured.out


@pytest.mark.parametrize("command", [*HELP, *OUTPUTS], ids=" ".join)
def test_no_line_is_wider_than_a_terminal(
    folder: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    out = printed(capsys, command)
    assert out.strip()
    wide = [line for line in out.splitlines() if cell_len(line) > WIDTH]
    assert not wide, "\n".join(wide)
    # A pipe gets no colours.
    assert "\x1b" not in out
