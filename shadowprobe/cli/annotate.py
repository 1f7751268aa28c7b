"""`shadowprobe annotate`: the human study of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="The human study of the paper: are the contexts sufficient, and how often are people correct?",
)


@app.command("sample", short_help="Draw snippets and write a form for annotators.")
def sample(
    dataset: common.DatasetOption = "mini",
    n: Annotated[int, typer.Option("--n", min=1, help="The number of snippets; Top and Shadow alternate.")] = 91,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed; the same seed draws the same snippets.")] = 7,
    out: Annotated[Path | None, common.out_directory("Where to write it [annotation/DATASET].")] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="The name of the study for annotators [the dataset's name].")
    ] = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Draw snippets from Top and Shadow and ask people which of two entities each means.

    Writes form.html (one page, needs no network) and sample.csv (the same for a spreadsheet) for the annotators, and
    sample.json with the correct answers, which annotators must not see.
    """
    from shadowprobe.base.files import directory_name
    from shadowprobe.human_study.form import write_sample
    from shadowprobe.human_study.sample import draw_sample

    opened = common.open_dataset(dataset)
    drawn = draw_sample(opened, n, seed, name)
    target = out or Path("annotation") / directory_name(opened.name)
    form, sheet, key = write_sample(drawn, target, force=force)
    if json:
        common.print_json({"sample": drawn.key.sample, "form": str(form), "sheet": str(sheet), "key": str(key)})
        return
    common.print_lines(
        f"{form}: open it in a browser; each annotator hands in a JSON file",
        f"{sheet}: the same for a spreadsheet, column `answer`",
        f"{key}: the right answers, for `annotate score`; keep it",
    )


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
    """Compare the answers of annotators with the key and with each other; writes nothing.

    Exit 1: done, but some items lack the answer of an annotator.
    """
    from shadowprobe.human_study.agreement import measure_agreement
    from shadowprobe.human_study.annotations import read_annotations
    from shadowprobe.human_study.sample import read_key

    key = read_key(sample)
    agreement = measure_agreement(key, read_annotations(answers, key))
    if json:
        common.print_json(agreement)
    else:
        from shadowprobe.reporting.tables.agreement_table import agreement_table

        common.print_lines(f"{agreement.name}: {agreement.items} snippets of {agreement.dataset}")
        common.print_tables([agreement_table(agreement)])
    return int(agreement.complete < agreement.items)
