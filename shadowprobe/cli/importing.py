"""`shadowprobe import`: a foreign dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError


def import_dataset(
    format_name: Annotated[str, typer.Argument(metavar="FORMAT", help=common.FORMATS_HELP)],
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="The files or the directory to read.")],
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Where to write it [datasets/FORMAT].")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="What to call it [the format's name].")] = None,
    language: Annotated[
        str | None,
        typer.Option("--language", metavar="CODE", help="Its language [as its URIs say, where they agree; else en]."),
    ] = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Read a foreign dataset; says what it repaired, dropped or kept in spite of a fault."""
    from shadowprobe import formats
    from shadowprobe.formats.imported import LANGUAGE

    if language is not None and not LANGUAGE.fullmatch(language):
        raise UsageError(f"--language {language}: expected the code of a Wikipedia, such as en or de")
    target = common.directory(out) or Path("datasets") / format_name
    imported = formats.read(format_name, paths, language)
    imported.card.name = name or imported.card.name
    dataset = imported.write(target, force=force)
    if json:
        common.print_json({"path": str(target), "counts": dataset.card.counts, "repairs": dataset.card.repairs})
        return
    from shadowprobe.report.listings import import_lines

    for line in import_lines(dataset, imported.remarks):
        common.stdout().print(line)
