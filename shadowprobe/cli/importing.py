"""`shadowprobe import`: a foreign dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError


def import_dataset(
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", autocompletion=common.complete("formats"), help=common.FORMATS_HELP)
    ],
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="The files or the directory to read; hf: a folder or OWNER/NAME."),
    ],
    out: Annotated[Path | None, common.out_directory("The directory of the dataset [datasets/FORMAT].")] = None,
    name: Annotated[str | None, typer.Option(help="The name of the dataset [the format's name].")] = None,
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Its language [that of all its URIs, else en].")
    ] = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Read a foreign dataset; lists what was repaired, dropped, or kept although it looks wrong."""
    from shadowprobe import formats
    from shadowprobe.formats.imported import LANGUAGE

    if language is not None and not LANGUAGE.fullmatch(language):
        raise UsageError(f"--language {language}: expected the code of a Wikipedia, such as en or de")
    target = out or Path("datasets") / format_name
    imported = formats.read(format_name, paths, language)
    imported.card.name = name or imported.card.name
    dataset = imported.write(target, force=force)
    if json:
        common.print_json({"path": str(target), "counts": dataset.card.counts, "repairs": dataset.card.repairs})
        return
    from shadowprobe.reporting.import_lines import import_lines

    for line in import_lines(dataset, imported.remarks):
        common.stdout().print(line)
