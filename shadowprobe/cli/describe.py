"""`shadowprobe describe`: fills what a dataset does not say of its entities from a wiki."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common


def describe(
    wiki: Annotated[str, typer.Option("--wiki", metavar="URL", help="The wiki, such as https://en.wikipedia.org.")],
    dataset: common.DatasetOption = "mini",
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Where to write it [datasets/DATASET-described].")
    ] = None,
    contact: common.ContactOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Fill descriptions, QIDs, page ids and redirects of a dataset's entities from a wiki, into a new dataset.

    What the dataset has stays as it is. Answers of the wiki are kept in DIR/archive, and are not asked for again.
    """
    from shadowprobe.build.describe import write_described
    from shadowprobe.dataset import directory_name

    opened = common.open_dataset(dataset)
    target = common.directory(out) or Path("datasets") / directory_name(f"{opened.name}-described")
    user_agent = common.user_agent(contact)
    written, described = write_described(opened, wiki, target, user_agent=user_agent, force=force)
    if json:
        common.print_json(
            {
                "path": str(target),
                "entities": len(described.entities),
                "found": described.found,
                "filled": described.filled,
                "other_ids": described.other_ids,
                "digest": written.digest,
            }
        )
        return
    filled = ", ".join(f"{field} {count}" for field, count in described.filled.items())
    console = common.stdout()
    lines = [f"{target}: found {described.found} of {len(described.entities)} entities", f"filled: {filled}"]
    if described.other_ids:
        lines.append(f"page ids that are another article's here: {described.other_ids}")
    # A directory may be named like markup.
    console.print("\n".join(lines), markup=False, soft_wrap=True)
