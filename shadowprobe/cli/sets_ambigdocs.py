"""`shadowprobe sets ambigdocs`: same-name document sets from a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError


def ambigdocs(
    questions: Annotated[
        Path,
        typer.Option(
            "--questions", metavar="FILE", help="JSON lines: name, question, and answers by the title of the entity."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.json", help="Where the sets go.")],
    dataset: common.DatasetOption = "mini",
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Make AmbigDocs' sets from the names of a dataset: the description of each entity is its document."""
    from shadowprobe.base.files import write_atomically
    from shadowprobe.base.jsonl import encode_json
    from shadowprobe.queries.ambigdocs_sets import make_ambig_sets

    if out.exists() and not force:
        raise UsageError(f"{out} exists; give another --out, or --force to write over it")
    sets = make_ambig_sets(common.open_dataset(dataset), questions)
    write_atomically(out, encode_json(sets))
    names, documents = len({one.name for one in sets}), sum(len(one.documents) for one in sets)
    if json:
        common.print_json({"path": str(out), "sets": len(sets), "names": names, "documents": documents})
        return
    common.print_lines(f"{out}: {len(sets)} sets on {names} names, {documents} documents")
