"""`shadowprobe export`: a dataset, or the answers of a run, in a foreign format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common


def export_dataset(
    format_name: Annotated[str, typer.Argument(metavar="FORMAT", help=common.FORMATS_HELP)],
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", "-d", metavar="NAME|DIR", help="The dataset [that of the run, else mini]."),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions", "-p", metavar="FILE", help="Write these answers in place of the gold: a file, or a run."
        ),
    ] = None,
    subset: Annotated[
        list[str] | None, typer.Option("--subset", help="Only this subset (may be repeated) [all that there are].")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Where to write it [exports/DATASET-FORMAT].")
    ] = None,
    limit: common.LimitOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Write a dataset in a foreign format, a file for each subset; neutral contexts go out without an answer.

    The way round: export, let a system answer elsewhere, and `shadowprobe score --format FORMAT` its answers.
    """
    from shadowprobe import formats, session
    from shadowprobe.dataset import directory_name

    named = dataset if dataset is not None else session.dataset_of(predictions) if predictions is not None else "mini"
    opened = common.open_dataset(named)
    cut = opened.first(limit) if limit is not None else opened
    answers = session.stored_predictions(predictions, cut) if predictions is not None else None
    target = common.directory(out) or Path("exports") / directory_name(f"{opened.name}-{format_name}")
    written = formats.write(format_name, cut, target, common.subsets(subset, cut), answers, force=force)
    if json:
        common.print_json({str(path): count for path, count in written.items()})
        return
    for path, count in written.items():
        common.stdout().print(f"{path}: {count} documents", markup=False, soft_wrap=True)
