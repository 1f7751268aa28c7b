"""`shadowprobe serve`: any linker as a NIF web service, for GERBIL."""

from __future__ import annotations

from typing import Annotated

import typer

from shadowprobe.cli import common


def serve(
    linker: common.LinkerOption,
    dataset: common.DatasetOption = "mini",
    option: common.OptionsOption = None,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 is all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 chooses a free one.")] = 8099,
    max_body: Annotated[int, typer.Option(metavar="BYTES", min=1, help="The largest request to accept.")] = 2**24,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence/--no-confidence",
            help="Send the linker's scores as taConfidence. GERBIL then reports the result at the threshold with the"
            " best F1, and loses answers whose score is 0 or below.",
        ),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Write a line to stderr for every request.")] = False,
) -> None:
    """Serve a linker to GERBIL as a NIF web service, until Ctrl-C or SIGTERM.

    The linker gets its entities from the dataset; the mentions are in the requests.
    """
    from shadowprobe.gerbil import nif_service as service
    from shadowprobe.plugins import make_linker

    opened = common.open_dataset(dataset)
    if verbose:
        _log_requests()
    with common.stdout_is_ours():
        made = make_linker(linker, common.parse_options(option))
        service.serve(
            service.Annotator(made, opened, confidence=confidence),
            host,
            port,
            lambda url: common.echo(
                f"Serving {made.name} on {url}; {service.format_gerbil_line(made.name, url)}", err=True
            ),
            max_body=max_body,
            access_log=verbose,
        )
    for note in made.notes:
        common.echo(f"shadowprobe: note: {note}", err=True)


def _log_requests() -> None:
    import logging

    log = logging.getLogger("uvicorn.access")
    log.setLevel(logging.INFO)
    log.addHandler(logging.StreamHandler())
