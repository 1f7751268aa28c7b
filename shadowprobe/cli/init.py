"""`shadowprobe init`: an example of a study, to be edited."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError


def init(
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="Where to write it.")] = Path("study.toml"),
    force: common.ForceOption = False,
) -> None:
    """Write a commented example of a study, which `shadowprobe run --config FILE` runs as it is."""
    from shadowprobe.base.files import make_directory, write_atomically
    from shadowprobe.running.study_file import EXAMPLE, FILE

    if file.is_dir():
        raise UsageError(f"{file} is a directory; give a file")
    if file.exists() and not force:
        raise UsageError(f"{file} exists; give another name, or --force to write over it")
    make_directory(file.parent)
    write_atomically(file, EXAMPLE.replace(FILE, str(file)).encode())
    common.echo(f"Written to {file}; edit it, then: shadowprobe run --config {file}", err=True)
