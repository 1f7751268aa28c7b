"""`shadowprobe retrieve`: does a retriever find the less popular namesake?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common


def retrieve(
    retriever: Annotated[
        str,
        common.system_option("retriever", "-r", "The retriever, by name or place.", "NAME|linker:NAME|FILE.py:CLASS"),
    ] = "bm25",
    collection: Annotated[
        str,
        common.collection_option(
            "A known collection, the directory of one, or a file of documents (ours, KILT's or DPR's)."
        ),
    ] = "namesakes",
    probe: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=common.complete("retrieval_probes"),
            help="amber or entity_questions (may be repeated) [all].",
        ),
    ] = None,
    queries: common.QueriesOption = None,
    option: Annotated[list[str] | None, common.options_of("retriever")] = None,
    predictions: Annotated[
        Path | None, common.predictions_option("Ask no retriever: score stored rankings, ours or KILT's.")
    ] = None,
    out: Annotated[Path | None, common.out_directory("The run directory [runs/RETRIEVER-COLLECTION].")] = None,
    k: Annotated[
        list[int] | None,
        typer.Option("-k", metavar="K", min=1, help="Count the first K documents (may be repeated) [1 and 20]."),
    ] = None,
    depth: Annotated[int, typer.Option(min=1, help="How many documents are asked for.")] = 100,
    text_only: Annotated[
        bool,
        typer.Option(
            "--text-only",
            help="entity_questions: an answer counts only in the text, and not in the title, as in the released code.",
        ),
    ] = False,
    seen: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="entity_questions: entities that the retriever has seen in training, a title or QID on each line.",
        ),
    ] = None,
    rounds: common.RoundsOption = 1000,
    seed: common.SeedOption = 7,
    published: common.PublishedOption = False,
    force: common.AfreshOption = False,
    json: common.JsonOption = False,
) -> int:
    """Ask a retriever about entities that share a name: is the less popular one found?

    The same command again goes on where an earlier one stopped. Exit 1: done, but some queries have no ranking.
    """
    from shadowprobe.errors import UsageError
    from shadowprobe.running.retrieving import KS, RetrievalSettings, RetrievingTask, make_retrieving_job

    settings = RetrievalSettings(tuple(sorted(set(k))) if k else KS, depth, rounds, seed, text_only, seen)
    chosen = tuple(dict.fromkeys(probe or ()))
    if predictions is not None:
        if option:
            raise UsageError("-o: with --predictions no retriever is asked")
        from shadowprobe.running.stored import score_stored

        stored = RetrievingTask(collection, probes=chosen, queries=queries, settings=settings)
        finished = score_stored(stored, predictions, out=out, force=force)
    else:
        with common.stdout_is_ours():
            job = make_retrieving_job(
                retriever,
                collection,
                probes=chosen,
                queries=queries,
                options=common.parse_options(option),
                out=out,
                settings=settings,
                force=force,
            )
            with common.working("asking", job.task.total, lambda: job.task.status) as progress:
                finished = job.run(progress)
    common.print_results(finished.results, json=json, published=published)
    return common.print_outcome(finished, RetrievingTask.unit)
