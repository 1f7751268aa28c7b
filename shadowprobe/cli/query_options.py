"""Options that the commands for retrievers, readers and language models share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

QueriesOption = Annotated[
    Path | None,
    typer.Option("--queries", metavar="FILE|DIR", help="The probe's queries as released [the collection's own]."),
]
PublishedOption = Annotated[
    bool, typer.Option("--published", help="Add the figures that the papers print, marked as published.")
]
AfreshOption = Annotated[bool, typer.Option("--force", help="Forget what --out holds and start afresh.")]
