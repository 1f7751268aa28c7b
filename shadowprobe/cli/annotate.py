"""`shadowprobe annotate`: the human study of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """The human study of the paper: are the contexts sufficient, and how often are people right?"""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("sample", short_help="Draw snippets and write a form for annotators.")
def sample(
    dataset: common.DatasetOption = "mini",
    n: Annotated[int, typer.Option("--n", min=1, help="How many snippets; Top and Shadow come in turn.")] = 91,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw; the same seed draws the same.")] = 7,
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Where to write it [annotation/DATASET].")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="What annotators see the study called [the dataset's name].")
    ] = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Draw snippets from Top and Shadow and ask people which of two entities each means.

    Writes form.html (one page, needs no network) and sample.csv (the same for a spreadsheet) for the annotators, and
    sample.json with the right answers, which is not for them.
    """
    from shadowprobe.annotate.form import write_sample
    from shadowprobe.annotate.sample import draw
    from shadowprobe.dataset import directory_name

    opened = common.open_dataset(dataset)
    drawn = draw(opened, n, seed, name)
    target = common.directory(out) or Path("annotation") / directory_name(opened.name)
    form, sheet, key = write_sample(drawn, target, force=force)
    if json:
        common.print_json({"sample": drawn.key.sample, "form": str(form), "sheet": str(sheet), "key": str(key)})
        return
    console = common.stdout()
    console.print(f"{form}: open it in a browser; each annotator hands in a JSON file", markup=False, soft_wrap=True)
    console.print(f"{sheet}: the same for a spreadsheet, column `answer`", markup=False, soft_wrap=True)
    console.print(f"{key}: the right answers, for `annotate score`; keep it", markup=False, soft_wrap=True)


@app.command("score", short_help="Cohen's kappa, sufficient contexts and Table 2.")
def score(
    answers: Annotated[
        list[Path], typer.Argument(metavar="ANSWERS...", help="A file for each annotator: the form's JSON, or the CSV.")
    ],
    sample: Annotated[
        Path, typer.Option("--sample", metavar="DIR", help="The directory that `annotate sample` wrote.")
    ],
    json: common.JsonOption = False,
) -> int:
    """Set the answers of annotators against the key and against each other; writes nothing.

    Exit 1: done, but some items lack somebody's answer.
    """
    from shadowprobe.annotate.agreement import measure
    from shadowprobe.annotate.returned import read_returned
    from shadowprobe.annotate.sample import read_key

    key = read_key(sample)
    found = measure(key, read_returned(answers, key))
    if json:
        common.print_json(found)
    else:
        from shadowprobe.annotate.table import show

        show(found, common.stdout())
    return int(found.complete < found.items)
