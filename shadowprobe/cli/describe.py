"""`shadowprobe describe`: completes the entities of a dataset from a wiki."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadowprobe.cli import common

if TYPE_CHECKING:
    from shadowprobe.build.wikidata_kinds import FoundKinds

# So many of the classes that have no kind are listed.
SHOWN = 5


def describe(
    wiki: Annotated[str, typer.Option(metavar="URL", help="The wiki, such as https://en.wikipedia.org.")],
    dataset: common.DatasetOption = "mini",
    out: Annotated[Path | None, common.out_directory("The new directory [datasets/DATASET-described].")] = None,
    wikidata: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The Wikibase that knows the kinds [https://www.wikidata.org, if the wiki's items are there].",
        ),
    ] = None,
    contact: common.ContactOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Fill descriptions, QIDs, page ids, redirects and kinds of a dataset's entities from a wiki, into a new dataset.

    Existing values are kept. The kinds come from Wikidata. All replies are stored in DIR/archive, and are not requested
    again.
    """
    from shadowprobe.base.files import directory_name
    from shadowprobe.build.describe import write_described_dataset

    opened = common.open_dataset(dataset)
    target = out or Path("datasets") / directory_name(f"{opened.name}-described")
    user_agent = common.user_agent(contact)
    written, described = write_described_dataset(
        opened, wiki, target, user_agent=user_agent, wikidata_url=wikidata, force=force
    )
    kinds = described.kinds
    if json:
        common.print_json(
            {
                "path": str(target),
                "entities": len(described.entities),
                "found": described.found,
                "filled": described.filled,
                "other_ids": described.other_ids,
                "without_qid": described.without_qid,
                "kinds": _count_kinds(kinds) if kinds is not None else None,
                "digest": written.digest,
            }
        )
        return
    filled = ", ".join(f"{field} {count}" for field, count in described.filled.items())
    common.print_lines(f"{target}: found {described.found} of {len(described.entities)} entities", f"filled: {filled}")
    counts = {
        "page ids that belong to another article in this wiki": described.other_ids,
        "entities without a kind and without a QID to ask for": described.without_qid,
        "QIDs that Wikidata does not have": kinds.not_found if kinds is not None else 0,
        "items that are an instance of nothing": kinds.without_class if kinds is not None else 0,
    }
    common.print_lines(*(f"{what}: {count}" for what, count in counts.items() if count))
    if kinds is not None and kinds.other_classes:
        frequent = ", ".join(f"{qid} ({count})" for qid, count in kinds.other_classes.most_common(SHOWN))
        common.print_lines(f"classes without a kind: {len(kinds.other_classes)}, most often {frequent}")
    if kinds is None and described.is_unasked:
        common.print_lines("kinds: not asked for; --wikidata URL names the Wikibase that the QIDs belong to")


def _count_kinds(kinds: FoundKinds) -> dict[str, object]:
    """What was found, with a number for each kind in place of the QIDs."""
    return kinds._asdict() | {"kinds": dict(Counter(kinds.kinds.values()))}
