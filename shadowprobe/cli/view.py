"""`shadowprobe view`: a local web page over all runs of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError


def view(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="The folder of the runs.")] = Path("runs"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 chooses a free one.")] = 8100,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Show a leaderboard of all runs as a local web page, until Ctrl-C.

    It follows runs that are under way. Only this machine can open it. `shadowprobe report RUN...` writes the same as
    a folder for publishing.
    """
    from shadowprobe.net.service import bind_port, make_server, run_server

    if not folder.is_dir():
        raise UsageError(f"{folder}: no such directory; `shadowprobe run` makes runs in `runs`")
    try:
        from shadowprobe.reporting.board.server import build_board_app

        app = build_board_app(folder)
    except ImportError as error:
        raise UsageError("`view` needs an extra: pip install 'shadowprobe[serve]'") from error

    def announce(url: str) -> None:
        common.echo(f"The runs in {folder} are on {url}/ until Ctrl-C", err=True)
        if browser:
            import webbrowser

            webbrowser.open(f"{url}/")

    host = "127.0.0.1"
    with bind_port(host, port) as bound:
        run_server(make_server(app), host, bound, announce)
