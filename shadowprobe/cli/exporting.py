"""`shadowprobe export`: a dataset, or the answers of a run, in a foreign format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError


def export_dataset(
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", autocompletion=common.complete("formats"), help=common.FORMATS_HELP)
    ],
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="The same as --out DIR.")] = None,
    dataset: Annotated[str | None, common.dataset_option("The dataset [that of the run, else mini].")] = None,
    predictions: Annotated[
        Path | None, common.predictions_option("Write these answers instead of the gold: a file, or a run.", "FILE")
    ] = None,
    subset: Annotated[list[str] | None, typer.Option(help="Only this subset (may be repeated) [all].")] = None,
    out: Annotated[Path | None, common.out_directory("The directory for the files [exports/DATASET-FORMAT].")] = None,
    limit: common.LimitOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Write a dataset in a foreign format, one file per subset; neutral contexts have no answer.

    A system that runs elsewhere can read the export; `shadowprobe score --format FORMAT` then scores its answers.
    """
    from shadowprobe import formats
    from shadowprobe.base.files import directory_name
    from shadowprobe.running.api import read_predictions
    from shadowprobe.running.directory import dataset_location, system_name

    if dataset is None:
        dataset = dataset_location(predictions) if predictions is not None else "mini"
    opened = common.open_dataset(dataset)
    cut = opened.first(limit) if limit is not None else opened
    answers = read_predictions(predictions, cut) if predictions is not None else None
    if folder is not None and out is not None:
        raise UsageError(f"the directory is given twice: {folder}, and --out {out}")
    target = folder or out or Path("exports") / directory_name(f"{opened.name}-{format_name}")
    chosen = common.subsets(subset, cut)
    system = system_name(predictions) if predictions is not None else ""
    written = formats.write(format_name, cut, target, chosen, answers, system=system, force=force)
    if answers is None and (losses := formats.describe_losses(format_name, cut, chosen)):
        common.warn(losses)
    if json:
        common.print_json({str(path): count for path, count in written.items()})
        return
    unit = "rows" if format_name == "hf" else "documents"
    common.print_lines(*(f"{path}: {count} {unit}" for path, count in written.items()))
