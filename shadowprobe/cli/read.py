"""`shadowprobe read`: does a reader answer questions about namesakes from the documents that it gets?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common


def read(
    reader: Annotated[str, common.system_option("reader", "-r", "The reader, by name or place.")] = "first-sentence",
    documents: Annotated[
        str, typer.Option(metavar="oracle|RUN", help="What it reads: the right documents, or those of a retriever.")
    ] = "oracle",
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="Read the first K documents of RUN.")] = 20,
    collection: Annotated[str | None, common.collection_option("The documents [those of RUN, or namesakes].")] = None,
    probe: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="amber_reading or entity_questions_reading (may be repeated) [all]."),
    ] = None,
    queries: common.QueriesOption = None,
    option: Annotated[list[str] | None, common.options_of("reader")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first N sets of each task, or questions of each relation.")
    ] = None,
    predictions: Annotated[
        Path | None, common.predictions_option("Ask no reader: score stored answers, `id` and `answer`.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="What to call the reader of --predictions [the file's name].")
    ] = None,
    out: Annotated[Path | None, common.out_directory("The run directory [runs/READER-COLLECTION-DOCUMENTS].")] = None,
    rounds: common.RoundsOption = 1000,
    seed: common.SeedOption = 7,
    published: common.PublishedOption = False,
    force: common.AfreshOption = False,
    json: common.JsonOption = False,
) -> int:
    """Let a reader answer queries about namesakes, from the right documents or from those that a retriever found.

    The same command again goes on where an earlier one stopped. Exit 1: done, but some queries have no answer.
    """
    from shadowprobe.errors import UsageError
    from shadowprobe.running.reading import ReadingSettings, ReadingTask, make_reading_job, open_stored_answers

    settings = ReadingSettings(collection, tuple(dict.fromkeys(probe or ())), queries, limit, rounds, seed)
    if predictions is None and name is not None:
        raise UsageError("--name: goes with --predictions; a reader that is asked has its own")
    if predictions is not None:
        if option:
            raise UsageError("-o: with --predictions no reader is asked")
        from shadowprobe.running.stored import score_stored

        stored = open_stored_answers(predictions, settings)
        finished = score_stored(stored, predictions, name=name, out=out, force=force)
    else:
        with common.stdout_is_ours():
            options = common.parse_options(option)
            job = make_reading_job(reader, documents, settings, k=k, options=options, out=out, force=force)
            with common.working("reading", job.task.total, lambda: job.task.status) as progress:
                finished = job.run(progress)
    common.print_results(finished.results, json=json, published=published)
    return common.print_outcome(finished, ReadingTask.unit)
