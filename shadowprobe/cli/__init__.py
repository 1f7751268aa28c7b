"""The command line: one file per command, nothing but arguments and messages."""

from __future__ import annotations

import sys
import traceback
from io import TextIOWrapper
from typing import Annotated

import typer

import shadowprobe
from shadowprobe.cli import (
    annotate,
    answer,
    build,
    check,
    compare,
    datasets,
    describe,
    exporting,
    gerbil,
    importing,
    linkers,
    plot,
    probes,
    report,
    retrieve,
    run,
    score,
    serve,
    sets,
    table,
)
from shadowprobe.errors import ShadowprobeError

INTERRUPTED = 130

app = typer.Typer(
    name="shadowprobe",
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help: it needs no rich, which is most of what starting costs.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run", short_help="Run a linker over a dataset.")(run.run)
app.command("score", short_help="Score a stored predictions file.")(score.score)
app.command("compare", short_help="Compare runs, with paired tests.")(compare.compare)
app.command("table", short_help="Put runs into Table 3 or 4 of the paper.")(table.table)
app.command("report", short_help="Write runs as one HTML file.")(report.report)
app.command("check", short_help="Test a linker on small cases.")(check.check)
app.command("linkers", short_help="List the linkers and what each needs.")(linkers.linkers)
app.command("probes", short_help="List the probes.")(probes.probes)
app.command("plot", short_help="Draw a figure of runs.")(plot.plot)
app.command("datasets", short_help="List the datasets that go by a name.")(datasets.datasets)
app.command("import", short_help="Read a foreign dataset.")(importing.import_dataset)
app.command("export", short_help="Write a dataset, or answers, in a foreign format.")(exporting.export_dataset)
app.command("build", short_help="Build a dataset from a wiki and the web.")(build.build)
app.command("describe", short_help="Fill what a dataset lacks from a wiki.")(describe.describe)
app.command("retrieve", short_help="Ask a retriever about namesakes.")(retrieve.retrieve)
app.command("retrievers", short_help="List the retrievers and what each needs.")(retrieve.retrievers)
app.command("answer", short_help="Ask a language model about namesakes.")(answer.answer)
app.add_typer(sets.app, name="sets", short_help="Make new sets of queries about namesakes.")
app.command("serve", short_help="Serve a linker to GERBIL.")(serve.serve)
app.add_typer(gerbil.app, name="gerbil", short_help="Run an experiment on a GERBIL instance.")
app.add_typer(annotate.app, name="annotate", short_help="Ask people the same, as the paper did.")


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
        # A terminal that knows only ASCII gets `\xfc` for ü, and not a traceback.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    debug = "--debug" in arguments
    # Without a command: the help.
    rest = [argument for argument in arguments if argument != "--debug"] or ["--help"]
    try:
        code = app(args=rest, prog_name="shadowprobe", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does; Python would complain once more at exit.
        sys.stderr.close()
        code = 0
    except Exception as error:
        message = _message(error)
        if message is None:
            raise
        if debug:
            traceback.print_exc()
        _complain(message)
        code = 2
    if code == INTERRUPTED:
        # Typer turns Ctrl-C into this code without a word.
        _complain("interrupted; the same command goes on where it stopped")
    sys.exit(code if isinstance(code, int) else 0)


def _message(error: Exception) -> str | None:
    """What to tell the user of an error; None for one that only a mistake in the program can cause."""
    if isinstance(error, ShadowprobeError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename is not None else f"{error.strerror or error}"
    # What typer says of an option or a command.
    of_usage = getattr(error, "format_message", None)
    return of_usage() if of_usage is not None else None


def _complain(message: str) -> None:
    print(f"shadowprobe: {' '.join(message.split())}", file=sys.stderr)
