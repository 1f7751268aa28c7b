"""`shadowprobe sets ambigdocs`: same-name document sets, from questions of your own or from a language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError

if TYPE_CHECKING:
    from shadowprobe.running.job import FinishedJob

# What is asked about if the user names neither dataset nor collection.
DATASET, COLLECTION = "mini", "namesakes"


def ambigdocs(
    out: Annotated[
        Path, common.out_file("Where the sets go: with --questions a file, else a directory.", "FILE.json|DIR")
    ],
    questions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Your own questions, as JSON lines: name, question, and answers by the title of the entity.",
        ),
    ] = None,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="A chat endpoint that writes them, as http://HOST:PORT/v1.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model, as the endpoint calls it.")] = None,
    reader: Annotated[
        str | None,
        typer.Option(
            "--reader", "-r", metavar="NAME|FILE.py:CLASS", help="A reader with a language model instead, such as lm."
        ),
    ] = None,
    option: Annotated[list[str] | None, common.options_of("reader")] = None,
    dataset: Annotated[
        str | None,
        common.dataset_option("The names; descriptions are the documents, or those of --collection by title [mini]."),
    ] = None,
    collection: Annotated[
        str | None,
        common.collection_option(
            "The documents; without --dataset, titles that share a name make the names [namesakes]."
        ),
    ] = None,
    documents: Annotated[int | None, typer.Option(min=2, help="Use the first N documents of a name [all].")] = None,
    words: Annotated[int, typer.Option(min=1, help="Use the first N words of a document.")] = 200,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N names.")] = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> int:
    """Make AmbigDocs' sets: one question about a name that each of its documents answers in its own way.

    With --questions the questions are yours, and the description of each entity is its document. Else a language model
    writes a question about each name, and is asked for the answer of each document. What breaks a rule is left out,
    counted, and kept in DIR/rejected.jsonl; the sets are DIR/ambigdocs.json. The same command again goes on where an
    earlier one stopped. Exit 1: done, but some prompts have no reply.
    """
    if questions is not None:
        refused = {"--url": url, "--model": model, "--reader": reader, "-o": option, "--collection": collection}
        if given := [name for name, value in refused.items() if value is not None]:
            raise UsageError(f"{given[0]}: with --questions no model is asked")
        _make_from_questions(questions, dataset or DATASET, out, force=force, json=json)
        return 0
    from shadowprobe.plugins import make_reader
    from shadowprobe.queries.collection import open_collection
    from shadowprobe.running.generating import GeneratingTask, generate_sets
    from shadowprobe.sets.name_documents import gather_names

    made = make_reader(*_find_reader(url, model, reader, common.parse_options(option)))
    if dataset is None and collection in {None, COLLECTION}:
        # The names of the built-in collection are those of its dataset.
        dataset, collection = DATASET, COLLECTION
    gathered = gather_names(
        common.open_dataset(dataset) if dataset is not None else None,
        open_collection(collection) if collection is not None else None,
        documents=documents,
        words=words,
        limit=limit,
    )
    with common.stdout_is_ours():
        task = GeneratingTask(made, gathered)
        with common.working("writing", task.total, lambda: task.status) as progress:
            finished = generate_sets(task, out, force=force, progress=progress)
    _print_made(finished, json=json)
    return common.print_outcome(finished, task.unit)


def _find_reader(
    url: str | None, model: str | None, reader: str | None, options: dict[str, str]
) -> tuple[str, dict[str, str]]:
    """The reader and its options; --url and --model stand for those of the reader `chat`."""
    if reader is not None:
        if url is not None or model is not None:
            raise UsageError(
                f"{'--url' if url is not None else '--model'}: goes without --reader; use -o for its options"
            )
        return reader, options
    if not url or not model:
        missing = "--model" if url else "--url"
        raise UsageError(
            f"{missing}: say who writes the questions, by --url and --model, by --reader, or give --questions"
        )
    return "chat", {"url": url, "model": model, **options}


def _make_from_questions(questions: Path, dataset: str, out: Path, *, force: bool, json: bool) -> None:
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


def _print_made(finished: FinishedJob, *, json: bool) -> None:
    """What was made, and what was left out at each stage."""
    if json:
        common.print_json(finished.results)
        return
    from shadowprobe.build.funnel import Funnel
    from shadowprobe.queries.ambigdocs_sets import FILE
    from shadowprobe.reporting.tables.funnel_table import funnel_table
    from shadowprobe.sets.question_drafts import STAGES

    results = finished.results
    funnels = [Funnel(**funnel) for funnel in results["funnels"]]
    common.print_tables([funnel_table(funnels, STAGES, "the sets, stage by stage")])
    common.print_lines(f"{finished.out / FILE}: {results['sets']} sets, {results['documents']} documents")
