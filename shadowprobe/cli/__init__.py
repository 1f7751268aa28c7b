"""The command line: one file per command, nothing but arguments and messages."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import shadowprobe
from shadowprobe.cli import check, datasets, importing, linkers, probes, run, score
from shadowprobe.errors import ShadowprobeError

app = typer.Typer(
    name="shadowprobe",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help: it needs no rich, which is most of what starting costs.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.run)
app.command("score")(score.score)
app.command("check")(check.check)
app.command("linkers")(linkers.linkers)
app.command("probes")(probes.probes)
app.command("datasets")(datasets.datasets)
app.command("import")(importing.import_dataset)


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
    debug = "--debug" in arguments
    rest = [argument for argument in arguments if argument != "--debug"]
    try:
        code = app(args=rest, prog_name="shadowprobe", standalone_mode=False)
    except ShadowprobeError as error:
        if debug:
            raise
        _complain(str(error))
        code = 2
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted; the same command goes on where it stopped")
        code = 130
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does; Python would complain once more at exit.
        sys.stderr.close()
        code = 0
    except Exception as error:
        message = getattr(error, "format_message", None)
        if message is None or debug:
            raise
        _complain(message())
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str) -> None:
    print(f"shadowprobe: {' '.join(message.split())}", file=sys.stderr)
