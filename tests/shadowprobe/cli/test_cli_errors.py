"""How a command ends: its exit code, and the one line that says what went wrong."""

from __future__ import annotations

import io
from typing import Any

import pytest
import typer

from shadowprobe import UsageError, cli


def end(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str]:
    """The exit code of a command, and what is on stderr."""
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    return ended.value.code, capsys.readouterr().err


def raise_instead(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Lets every command raise an error."""

    def fail(**_: Any) -> None:
        raise error

    monkeypatch.setattr(cli, "app", fail)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("no such name"), 2, "no such name"),
        (FileNotFoundError(2, "No such file or directory", "my.json"), 2, "my.json: No such file or directory"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
        (OSError("it broke"), 2, "it broke"),
        (typer.BadParameter("is no number"), 2, "Invalid value: is no number"),
        (KeyboardInterrupt(), 130, "interrupted; the same command goes on where it stopped"),
        (typer.Abort(), 130, "interrupted; the same command goes on where it stopped"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    message: str,
) -> None:
    raise_instead(monkeypatch, error)
    assert end(capsys, "run") == (code, f"shadowprobe: {message}\n")


def test_a_missing_package_of_ours_is_named_and_any_other_missing_module_is_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raise_instead(monkeypatch, ModuleNotFoundError("No module named 'lxml.html'", name="lxml.html"))
    assert end(capsys, "run") == (2, "shadowprobe: `lxml` is not installed: pip install 'shadowprobe[build]'\n")
    for bug in (ModuleNotFoundError("No module named 'qqq'", name="qqq"), RuntimeError("a bug")):
        raise_instead(monkeypatch, bug)
        with pytest.raises(type(bug)):
            cli.main(["run"])


def test_the_traceback_is_shown_only_with_debug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raise_instead(monkeypatch, UsageError("no such name"))
    assert "Traceback" not in end(capsys, "run")[1]
    code, shown = end(capsys, "run", "--debug")
    assert code == 2
    assert shown.startswith("Traceback")
    assert shown.endswith("shadowprobe: no such name\n")


def test_a_command_that_is_done_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert end(capsys, "probes") == (0, "")


def test_a_reader_who_has_left_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    raise_instead(monkeypatch, BrokenPipeError(32, "Broken pipe"))
    stderr = io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    with pytest.raises(SystemExit) as ended:
        cli.main(["probes"])
    assert ended.value.code == 0
    # Python would report the broken pipe there at exit.
    assert stderr.closed


def test_a_terminal_that_knows_only_ascii_shows_codes_of_other_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stderr", io.TextIOWrapper(raw, encoding="ascii"))
    raise_instead(monkeypatch, UsageError("no linker für this"))
    with pytest.raises(SystemExit):
        cli.main(["run"])
    assert raw.getvalue() == b"shadowprobe: no linker f\\xfcr this\n"


def test_the_help_of_a_command_offers_only_its_own_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["runs", "--help"])
    shown = capsys.readouterr().out
    assert "--json" in shown
    assert "--install-completion" not in shown
