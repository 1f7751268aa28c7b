"""`shadowprobe answer`: does a language model tell documents on namesakes apart?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError

NONE = "none"
# Names whose sets are kept for examples, if the user does not say how many.
HELD_OUT = 10
T = TypeVar("T", int, float)


def answer(
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="The chat endpoint (OpenAI's protocol), as http://HOST:PORT/v1.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model, as the endpoint calls it.")] = None,
    queries: Annotated[
        str, typer.Option(metavar="FILE|builtin", help="The sets: AmbigDocs' JSON, as list or as lines.")
    ] = "builtin",
    predictions: Annotated[
        Path | None,
        common.predictions_option(
            "Ask no model: score stored answers, `id` and `answer`, or AmbigDocs' items with `gen_answer`."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="What to call the model of --predictions [the file's name].")] = None,
    out: Annotated[Path | None, common.out_directory("The run directory [runs/MODEL-QUERIES].")] = None,
    probe: common.ProbeOption = None,
    documents: Annotated[
        int | None,
        typer.Option(min=2, help="Show and score the first N documents of a set [all]; AmbigDocs' own scores 5."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N sets.")] = None,
    temperature: Annotated[str, typer.Option(metavar="NUMBER|none", help="Sent to the model, unless none.")] = "0",
    seed: Annotated[str, typer.Option(metavar="NUMBER|none", help="Sent to the model, unless none.")] = "0",
    max_tokens: Annotated[
        str, typer.Option(metavar="NUMBER|none", help="The longest reply; not sent if none.")
    ] = "1024",
    shots: Annotated[
        int, typer.Option(metavar="K", min=0, help="Show K sets about other names with their answers first.")
    ] = 0,
    held_out: Annotated[
        int | None,
        typer.Option(
            metavar="NAMES",
            min=0,
            help="Keep the sets of so many names for examples, and ask nothing about them [10 with --shots, else 0].",
        ),
    ] = None,
    examples: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take the examples of --shots from another file of sets.")
    ] = None,
    shots_seed: Annotated[
        int, typer.Option(min=0, help="Seed of what is held out, and of the examples of each set.")
    ] = 0,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="shuffled|given|reversed",
            help="The order of the documents of a set: drawn, as in the file, or from its end [shuffled]; of"
            " --predictions, the order that their model saw.",
        ),
    ] = None,
    order_seed: Annotated[int, typer.Option(min=0, help="Seed of the order of documents, drawn for each set.")] = 0,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests under way at once.")] = 8,
    rate: Annotated[float, typer.Option(min=0, help="Requests a second; 0 is no limit.")] = 0.0,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for a reply.")] = 120.0,
    retries: Annotated[int, typer.Option(min=0, help="How often to try again.")] = 4,
    rounds: Annotated[int, typer.Option(min=100, help="Rounds of the bootstrap.")] = 1000,
    show_prompt: Annotated[
        bool, typer.Option("--show-prompt", help="Print what a model would be asked about the first set, and ask none.")
    ] = False,
    force: common.AfreshOption = False,
    json: common.JsonOption = False,
) -> int:
    """Ask a language model about documents on namesakes: does each get its own answer?

    A token in SHADOWPROBE_LLM_TOKEN is sent; local servers want none. The same command again goes on where an earlier
    one stopped. Exit 1: done, but some sets have no answer; they count as such.
    """
    from shadowprobe.queries.document_order import ORDERS, DocumentOrder
    from shadowprobe.queries.examples import HeldOut
    from shadowprobe.running.answering import AnsweringTask, find_held_out
    from shadowprobe.running.job import Job
    from shadowprobe.running.stored import score_stored
    from shadowprobe.systems.chat_answerer import Asker, make_prompt

    if predictions is not None and (url is not None or model is not None):
        raise UsageError("--predictions: no model is asked, so that --url and --model have no use")
    if predictions is None and name is not None:
        raise UsageError("--name: goes with --predictions; a model that is asked has its own")
    if examples is not None and not shots:
        raise UsageError("--examples: goes with --shots K, which says how many of them are shown")
    if predictions is not None and shots:
        raise UsageError("--shots: no model is asked here; a run of stored answers says itself what it was shown")
    if held_out is None and shots and examples is None:
        held_out = max(HELD_OUT, shots)
    kept = HeldOut(held_out, shots_seed) if held_out else None
    if predictions is not None and held_out is None:
        kept = find_held_out(predictions)
    shown = DocumentOrder(common.choose("--order", ORDERS[0] if order is None else order, ORDERS), order_seed)
    task = AnsweringTask(
        queries,
        documents=documents,
        limit=limit,
        held_out=kept,
        order=shown if order is not None else None,
        probes=tuple(dict.fromkeys(probe or ())),
        rounds=rounds,
    )
    chosen = task.make_examples(shots, examples, shots_seed) if shots else None
    if show_prompt:
        common.echo(make_prompt(task.sets[0], shown, chosen))
        return 0
    if predictions is not None:
        finished = score_stored(task, predictions, name=name, out=out, force=force)
    else:
        if not url or not model:
            missing = "--model" if url else "--url"
            raise UsageError(f"{missing}: say which model is asked, by --url and --model, or give --predictions")
        try:
            asker = Asker(
                model,
                order=shown,
                examples=chosen,
                url=url,
                temperature=_number("--temperature", temperature, float),
                seed=_number("--seed", seed, int),
                max_tokens=_number("--max-tokens", max_tokens, int),
                concurrency=concurrency,
                rate=rate,
                timeout=timeout,
                retries=retries,
            )
        except ValueError as error:
            raise UsageError(str(error)) from None
        task.set_asker(asker)
        with common.working("asking", task.total, lambda: task.status) as progress:
            finished = Job(task, out, force=force).run(progress)
    common.print_results(finished.results, json=json)
    return common.print_outcome(finished, task.unit)


def _number(option: str, text: str, kind: type[T]) -> T | None:
    """The number that an option gives, or none where it says so."""
    if text.lower() == NONE:
        return None
    try:
        return kind(text)
    except ValueError:
        noun = "whole number" if kind is int else "number"
        raise UsageError(f"{option}: {text!r} is neither a {noun} nor {NONE}") from None
