"""`shadowprobe score`: the same tables from stored predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common


def score(
    predictions: Annotated[Path, common.predictions_option("A predictions file, or a run directory.", "FILE")],
    dataset: Annotated[str | None, common.dataset_option("The dataset [that of the run, else mini].")] = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="The foreign format that the answers are in: " + common.FORMATS_HELP
        ),
    ] = None,
    limit: common.LimitOption = None,
    name: Annotated[str | None, typer.Option(help="What to call the linker [the file's name].")] = None,
    out: Annotated[
        Path | None,
        common.out_directory("Where to write results.json [a run: its own directory, else runs/NAME-DATASET]."),
    ] = None,
    probe: common.ProbeOption = None,
    redirects: common.RedirectsOption = None,
    gerbil_threshold: common.ThresholdOption = False,
    gerbil_nil: common.NilOption = False,
    rounds: common.RoundsOption = 1000,
    seed: common.SeedOption = 7,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> int:
    """Score stored predictions: one JSON object a line, `id` and `answer`, or `status` nil or skipped.

    A .csv or .tsv file has the same fields as columns: id, answer, page_id, qid, status, score, candidates.

    Exit 1: done, but the file has no answer for some snippets; they count as skipped.
    """
    from shadowprobe.running.api import score_predictions
    from shadowprobe.running.directory import dataset_location
    from shadowprobe.running.linking import Settings

    place = dataset_location(predictions) if dataset is None else dataset
    finished = score_predictions(
        predictions,
        common.open_dataset(place),
        format_name=format_name,
        limit=limit,
        name=name,
        out=out,
        settings=Settings(tuple(probe or ()), (), redirects, gerbil_threshold, rounds, seed, gerbil_nil),
        force=force,
        location=place,
    )
    common.print_results(finished.results, json=json)
    return common.print_outcome(finished, "snippets")
