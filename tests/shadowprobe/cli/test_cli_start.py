"""How the command line starts and ends: help, exit codes, and what it says of errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from refusals import outcome

from shadowprobe.cli import COMMANDS, GROUPS, main
from shadowprobe.errors import UsageError
from shadowprobe.running import listing


def test_without_a_command_the_help_lists_all_of_them_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys)
    assert (code, err) == (0, "")
    listed = re.findall(r"^  ([a-z-]+)  +(.*)$", out.partition("Commands:")[2], re.M)
    assert listed == [(name, command.short_help) for name, command in COMMANDS.items()]
    assert outcome(capsys, "--debug") == outcome(capsys, "-h") == outcome(capsys, "--help") == (0, out, "")


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_a_group_without_a_subcommand_shows_its_help(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, group)
    assert (code, err) == (0, "")
    assert out == outcome(capsys, group, "--help")[1]
    assert f"Usage: shadowprobe {group}" in out


def test_groups_are_the_commands_that_have_subcommands() -> None:
    assert {"sets", "gerbil", "annotate"} == GROUPS


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        # A whole number, a number, a file of another name, and an argument.
        ("run", "--limit N"),
        ("run", "--rounds N"),
        ("build", "--delay NUMBER"),
        ("answer", "--order-seed N"),
        ("answer", "--rate NUMBER"),
        ("answer", "--name NAME"),
        ("compare", "RUN RUN..."),
        ("plot", "[FIGURE] RUN..."),
        ("table", "[RUN]..."),
        ("runs", "[DIR]"),
    ],
)
def test_help_says_what_a_value_is_in_one_word(command: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown in outcome(capsys, command, "--help")[1]


def test_an_unknown_command_or_option_is_one_line_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, "rnu")
    assert (code, out) == (2, "")
    assert err.startswith("shadowprobe: No such command 'rnu'. Did you mean")
    assert "'run'" in err
    assert err.count("\n") == 1
    code, _, err = outcome(capsys, "run", "--limt", "3")
    assert code == 2
    assert "--limit" in err


def fail_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the list of runs fail in this way."""

    def fail(_: Path) -> None:
        raise error

    monkeypatch.setattr(listing, "list_runs", fail)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UsageError("give a run"), "give a run"),
        (PermissionError(13, "Permission denied", "runs/a"), "runs/a: Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("gone"), "gone"),
    ],
)
@pytest.mark.parametrize("debug", [False, True])
def test_an_error_of_the_user_or_the_machine_is_one_line_and_debug_adds_the_traceback(
    error: Exception, message: str, debug: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(error, monkeypatch)
    code, out, err = outcome(capsys, *(["--debug"] if debug else []), "runs")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"shadowprobe: {message}"
    assert ("Traceback" in err) == debug
    assert debug or err.count("\n") == 1


def test_an_error_of_the_program_itself_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(KeyError("a bug"), monkeypatch)
    with pytest.raises(KeyError, match="a bug"):
        main(["runs"])


def test_an_interrupt_has_its_own_code_and_says_that_the_work_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(KeyboardInterrupt(), monkeypatch)
    assert outcome(capsys, "runs") == (
        130,
        "",
        "shadowprobe: interrupted; the same command goes on where it stopped\n",
    )


def test_arguments_come_from_the_command_line_where_none_are_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["shadowprobe", "--version"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("shadowprobe ")
