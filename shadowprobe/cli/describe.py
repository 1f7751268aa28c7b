"""`shadowprobe describe`: completes the entities of a dataset from a wiki."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common


def describe(
    wiki: Annotated[str, typer.Option("--wiki", metavar="URL", help="The wiki, such as https://en.wikipedia.org.")],
    dataset: common.DatasetOption = "mini",
    out: Annotated[Path | None, common.out_directory("The new directory [datasets/DATASET-described].")] = None,
    contact: common.ContactOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Fill descriptions, QIDs, page ids and redirects of a dataset's entities from a wiki, into a new dataset.

    Existing values are kept. The wiki's replies are stored in DIR/archive, and are not requested again.
    """
    from shadowprobe.base.files import directory_name
    from shadowprobe.build.describe import write_described_dataset

    opened = common.open_dataset(dataset)
    target = out or Path("datasets") / directory_name(f"{opened.name}-described")
    user_agent = common.user_agent(contact)
    written, described = write_described_dataset(opened, wiki, target, user_agent=user_agent, force=force)
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
    lines = [f"{target}: found {described.found} of {len(described.entities)} entities", f"filled: {filled}"]
    if described.other_ids:
        lines.append(f"page ids that belong to another article in this wiki: {described.other_ids}")
    common.print_lines(*lines)
