"""The command line: one file per command, nothing but arguments and messages.

An option is called like its parameter. Only one with a short name, another name or no value says its name itself.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from io import TextIOWrapper
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

import shadowprobe
from shadowprobe.errors import ShadowprobeError, abridge, missing_packages

INTERRUPTED = 130


class Command(NamedTuple):
    """The location of a command, `module:function`, or `module:app` if it has subcommands; and its line of help."""

    place: str
    short_help: str


COMMANDS = {
    "run": Command("run:run", "Run a linker over a dataset."),
    "init": Command("init:init", "Write an example of a study for run --config."),
    "runs": Command("runs:runs", "List runs and how far they are."),
    "view": Command("view:view", "Show a leaderboard of all runs in a browser."),
    "score": Command("score:score", "Score a stored predictions file."),
    "compare": Command("compare:compare", "Compare runs, with paired tests."),
    "table": Command("table:table", "Put runs into one table, or one of a paper."),
    "debias": Command("debias:debias", "Correct the answers of runs for their prior."),
    "report": Command("report:report", "Write runs as one HTML file."),
    "check": Command("check:check", "Test a linker on small cases."),
    "linkers": Command("listings:linkers", "List the linkers, or explain one."),
    "probes": Command("listings:probes", "List the probes, or explain one."),
    "plot": Command("plot:plot", "Draw a figure of runs."),
    "figures": Command("listings:figures", "List the figures, or explain one."),
    "datasets": Command("listings:datasets", "List the datasets that have a name, or explain one."),
    "import": Command("importing:import_dataset", "Read a foreign dataset."),
    "export": Command("exporting:export_dataset", "Write a dataset, or answers, in a foreign format."),
    "build": Command("build:build", "Build a dataset from a wiki and the web."),
    "describe": Command("describe:describe", "Complete the entities of a dataset from a wiki."),
    "retrieve": Command("retrieve:retrieve", "Ask a retriever about namesakes."),
    "train-encoder": Command("train_encoder:train_encoder", "Train a dense retriever on question patterns."),
    "retrievers": Command("listings:retrievers", "List the retrievers, or explain one."),
    "read": Command("read:read", "Let a reader answer queries about namesakes."),
    "readers": Command("listings:readers", "List the readers, or explain one."),
    "answer": Command("answer:answer", "Ask a language model about namesakes."),
    "sets": Command("sets:app", "Make new sets of queries about namesakes."),
    "serve": Command("serve:serve", "Serve a linker to GERBIL."),
    "gerbil": Command("gerbil:app", "Run an experiment on a GERBIL instance."),
    "annotate": Command("annotate:app", "Ask people the same questions, as the paper did."),
}
# The commands that have subcommands.
GROUPS = frozenset(name for name, command in COMMANDS.items() if command.place.endswith(":app"))


class LazyCommands(TyperGroup):
    """The group of all commands: help and completion import none of them, and a call imports one."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # Typer suggests the nearest name from the keys.
        self.commands: dict[str, Any] = dict.fromkeys(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Imports and returns a command by its name; None if there is no such command."""
        if cmd_name in COMMANDS and self.commands[cmd_name] is None:
            self.commands[cmd_name] = _import_command(cmd_name, COMMANDS[cmd_name])
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the names with their lines of help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.short_help) for name, command in COMMANDS.items()])


def _import_command(name: str, command: Command) -> Any:
    module, _, attribute = command.place.partition(":")
    target = getattr(importlib.import_module(f"shadowprobe.cli.{module}"), attribute)
    if not isinstance(target, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name, short_help=command.short_help)(target)
        target = app
    imported = get_command(target)
    imported.name = name
    _simplify_help(imported)
    return imported


def _simplify_help(command: Any) -> None:
    """Shows no types of Python: `--limit N` and `RUN...` instead of `<int range>` and `<list[Path]>`."""
    for subcommand in getattr(command, "commands", {}).values():
        _simplify_help(subcommand)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            _show_metavar_alone(parameter)
        elif not parameter.is_flag and parameter.metavar is None:
            parameter.metavar = _choose_metavar(parameter)
        if sum(option.startswith("--") for option in parameter.opts) > 1:
            _hide_aliases(parameter)


def _show_metavar_alone(argument: Any) -> None:
    name = argument.metavar or argument.name.upper()
    argument.display_type_rich = lambda **_: ""
    argument.get_usage_pieces = lambda _: [name]


def _choose_metavar(option: Any) -> str:
    if isinstance(option.default, float):
        return "NUMBER"
    if getattr(option, "min", None) is not None or isinstance(option.default, int):
        return "N"
    return str(option.name).upper().replace("_", "-")


def _hide_aliases(option: Any) -> None:
    """Shows the first long name only; the others are earlier names, which still work."""
    write_record, names = option.get_help_record, option.opts
    first = next(name for name in names if name.startswith("--"))

    def write_first(context: Any) -> Any:
        option.opts = [name for name in names if name == first or not name.startswith("--")]
        try:
            return write_record(context)
        finally:
            option.opts = names

    option.get_help_record = write_first


app = typer.Typer(
    name="shadowprobe",
    cls=LazyCommands,
    pretty_exceptions_enable=False,
    # Plain help does not need rich, which would take most of the start time.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"shadowprobe {shadowprobe.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Does an entity linker read the context, or does it repeat its prior?

    Start with: shadowprobe run
    """


def main(arguments: list[str] | None = None) -> None:
    """Runs a command; exit 0: done, 1: done but some items failed, 2: bad usage or input, 130: interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        # An ASCII terminal shows `\xfc` for ü instead of a traceback.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    debug = "--debug" in arguments
    rest = [argument for argument in arguments if argument != "--debug"]
    if not rest or (len(rest) == 1 and rest[0] in GROUPS):
        # Without a command the help is shown.
        rest.append("--help")
    try:
        code = app(args=rest, prog_name="shadowprobe", standalone_mode=False, obj=debug)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has ended, as `| head` does. Otherwise Python would print an error at exit.
        sys.stderr.close()
        code = 0
    except Exception as error:
        message = _find_message(error)
        if message is None:
            raise
        if debug:
            traceback.print_exc()
        _print_error(message)
        code = 2
    if code == INTERRUPTED:
        # Typer turns Ctrl-C into this code without a message.
        _print_error("interrupted; the same command goes on where it stopped")
    sys.exit(code if isinstance(code, int) else 0)


def _find_message(error: Exception) -> str | None:
    """Returns the message for the user; None for an error that only a bug in the program can cause."""
    if isinstance(error, ModuleNotFoundError):
        missing = missing_packages(error)
        return str(missing) if missing else None
    if isinstance(error, ShadowprobeError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename is not None else f"{error.strerror or error}"
    # Typer's errors about an option or a command have this method.
    format_message = getattr(error, "format_message", None)
    return format_message() if format_message is not None else None


def _print_error(message: str) -> None:
    from shadowprobe.cli.common import echo

    echo(f"shadowprobe: {abridge(message)}", err=True)
