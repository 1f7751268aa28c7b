"""`shadowprobe train-encoder`: does a dense retriever learn a question pattern, and what does it lose?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.cli.table import FormatOption, choose_format, deliver


def train_encoder(
    out: Annotated[Path, common.out_directory("Where the models, the questions, the runs and the figures go.")],
    model: Annotated[
        str, typer.Option(metavar="NAME|DIR", help="A sentence-transformers model, or DPR's question encoder.")
    ] = "sentence-transformers/all-MiniLM-L6-v2",
    document_model: Annotated[
        str, typer.Option(metavar="NAME|DIR", help="The encoder of passages, if it is another one.")
    ] = "",
    kind: Annotated[str, typer.Option(metavar="sentence|dpr", help="dpr: DPR's own encoders.")] = "sentence",
    collection: Annotated[str, common.collection_option("The documents.")] = "namesakes",
    queries: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|DIR",
            help="Questions as released: a folder with train and test, or one set to divide [the collection's own].",
        ),
    ] = None,
    relation: Annotated[
        list[str] | None, typer.Option(metavar="P19", help="Train this relation (may be repeated) [all].")
    ] = None,
    train: Annotated[str, typer.Option(metavar="both|passages|questions", help="Which encoder is trained.")] = "both",
    per_relation: Annotated[
        bool,
        typer.Option("--per-relation", help="An encoder for each relation, chosen by the pattern of the question."),
    ] = False,
    similar: Annotated[
        bool, typer.Option("--similar", help="Train on other words for the same question, and test the usual ones.")
    ] = False,
    mix: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Train these questions along, against forgetting (ours or DPR's)."),
    ] = None,
    disjoint: Annotated[
        str,
        typer.Option(
            metavar="all|relation",
            help="Training questions share no word with test questions of any relation, or of their own.",
        ),
    ] = "all",
    held_out: Annotated[
        float, typer.Option(help="The share of questions for the test, if they are not divided yet.")
    ] = 0.25,
    limit: Annotated[int, typer.Option(min=1, help="At most N training questions of a relation.")] = 8000,
    epochs: Annotated[int, typer.Option(min=1, help="How often each question is trained on.")] = 10,
    learning_rate: Annotated[float, typer.Option(help="The highest learning rate.")] = 2e-5,
    batch_size: Annotated[int, typer.Option(min=2, help="Questions in a batch.")] = 24,
    negatives: Annotated[int, typer.Option(min=0, help="Passages of BM25 for each question.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split and of the training.")] = 7,
    device: Annotated[str, typer.Option(help="cpu, cuda, ...")] = "cpu",
    k: Annotated[
        list[int] | None,
        typer.Option("-k", metavar="K", min=1, help="Count the first K documents (may be repeated) [1, 5 and 20]."),
    ] = None,
    published: common.PublishedOption = False,
    format_name: FormatOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Fine-tune an encoder on question patterns, and show what it gains and what it loses.

    The test asks about entities whose names and answers share no word with a training question, before and after
    training, with BM25 beside it. `retrieve --retriever dense -o model=DIR` uses the result. The same command again
    goes on where an earlier one stopped.
    """
    from shadowprobe.training.settings import DISJOINT, KINDS, TRAINED, TrainingSettings

    chosen = choose_format(format_name, None, json=json, force=force)
    settings = TrainingSettings(
        model=model,
        document_model=document_model,
        kind=common.choose("--kind", kind, KINDS),
        collection=collection,
        queries=queries,
        relations=tuple(dict.fromkeys(relation or ())),
        train=common.choose("--train", train, TRAINED),
        per_relation=per_relation,
        similar=similar,
        mix=mix,
        disjoint=common.choose("--disjoint", disjoint, DISJOINT),
        held_out=held_out,
        limit=limit,
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        negatives=negatives,
        seed=seed,
        device=device,
        ks=tuple(sorted(set(k))) if k else (1, 5, 20),
    )
    from shadowprobe.reporting.tables.training_tables import describe_split, make_training_tables
    from shadowprobe.training.planning import plan_training
    from shadowprobe.training.train import train_encoder as train_and_measure

    with common.stdout_is_ours():
        plan = plan_training(settings, out, force=force)
        with common.bars(transient=True) as move:
            training = train_and_measure(plan, move, lambda record: common.echo(describe_split(record), err=True))
    if json and format_name is None:
        common.print_json(training.record)
    else:
        deliver(chosen, None, make_training_tables([training], published=published))
    common.echo(f"Written to {out}/. Use it with: shadowprobe retrieve --retriever dense -o model={out}", err=True)
