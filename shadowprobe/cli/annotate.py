"""`shadowprobe annotate`: the human studies of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shadowprobe.human_study.answer_keys import StoredKey
    from shadowprobe.human_study.sample import Sample

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="The human studies of the papers: how often are people right, and do they agree?",
)
MINI, NAMESAKES = "mini", "namesakes"


@app.command("sample", short_help="Draw items and write a form for annotators.")
def sample(
    study: Annotated[str, typer.Option(metavar="STUDY", help="shadowlink, amber or ambigdocs.")] = "shadowlink",
    dataset: common.DatasetOption = MINI,
    collection: Annotated[str, common.collection_option("amber: the documents.")] = NAMESAKES,
    run: Annotated[Path | None, typer.Option(metavar="RUN", help="ambigdocs: a run of `answer`.")] = None,
    queries: Annotated[
        Path | None, typer.Option(metavar="FILE|DIR", help="AmbER sets as released, or where the questions of RUN are.")
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(min=1, help="The number of items [91; amber: 120 and ambigdocs: 100, or all if fewer]."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed; the same seed draws the same items.")] = 7,
    out: Annotated[
        Path | None, common.out_directory("Where to write it [annotation/DATASET, annotation/STUDY-DATA].")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The name of the study for annotators [the name of the data].")
    ] = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Draw items and ask people what systems are asked.

    shadowlink: which of two entities does a name mean? amber: which of three documents has the answer, and where?
    ambigdocs: what kind of answer is the output of a language model?

    Writes form.html (one page, needs no network) and sample.csv (the same for a spreadsheet) for the annotators, and
    sample.json with the correct answers, which annotators must not see.
    """
    from shadowprobe.base.files import directory_name
    from shadowprobe.human_study.form import write_sample
    from shadowprobe.human_study.sample import STUDIES

    study = common.choose("--study", study, STUDIES)
    _refuse_options_of_others(
        study,
        {
            "--dataset": (dataset != MINI, ("shadowlink",)),
            "--collection": (collection != NAMESAKES, ("amber",)),
            "--run": (run is not None, ("ambigdocs",)),
            "--queries": (queries is not None, ("amber", "ambigdocs")),
        },
    )
    drawn: Sample[StoredKey]
    if study == "amber":
        from shadowprobe.human_study.amber_sample import draw_amber_sample
        from shadowprobe.queries.collection import open_collection

        documents = open_collection(collection)
        drawn, folder = draw_amber_sample(documents, queries, n, seed, name), f"amber-{documents.name}"
    elif study == "ambigdocs":
        if run is None:
            raise UsageError("--study ambigdocs: give --run, a run directory of `shadowprobe answer`")
        from shadowprobe.human_study.ambigdocs_sample import draw_ambigdocs_sample
        from shadowprobe.running.finished import read_runs

        (finished,) = read_runs([run])
        drawn = draw_ambigdocs_sample(finished, queries, n, seed, name)
        folder = f"ambigdocs-{finished.path.resolve().name}"
    else:
        from shadowprobe.human_study.shadowlink_sample import SIZE, draw_sample

        snippets = common.open_dataset(dataset)
        drawn, folder = draw_sample(snippets, SIZE if n is None else n, seed, name), snippets.name
    written = write_sample(drawn, out or Path("annotation") / directory_name(folder), force=force)
    _print_sample(drawn, written, json=json)


def _refuse_options_of_others(study: str, given: dict[str, tuple[bool, tuple[str, ...]]]) -> None:
    for option, (is_given, studies) in given.items():
        if is_given and study not in studies:
            raise UsageError(f"{option}: goes with --study {' or '.join(studies)}")


def _print_sample(drawn: Sample[StoredKey], written: Sequence[Path], *, json: bool) -> None:
    form, sheet, key = written
    left_out: dict[str, int] = getattr(drawn.key, "left_out", {})
    if json:
        files = {"sample": drawn.key.sample, "form": str(form), "sheet": str(sheet), "key": str(key)}
        common.print_json({**files, "left_out": left_out} if left_out else files)
        return
    columns = "columns `answer` and `span`" if drawn.key.study == "amber" else "column `answer`"
    common.print_lines(
        f"{form}: open it in a browser; each annotator hands in a JSON file",
        f"{sheet}: the same for a spreadsheet, {columns}",
        f"{key}: the right answers, for `annotate score`; keep it",
        *(f"left out: {count} of the questions ({reason})" for reason, count in left_out.items()),
    )


@app.command("score", short_help="Agreement, and Table 2 or Table 8 of the papers.")
def score(
    answers: Annotated[
        list[Path], typer.Argument(metavar="ANSWERS...", help="A file for each annotator: the form's JSON, or the CSV.")
    ],
    sample: Annotated[Path, typer.Option(metavar="DIR", help="The directory that `annotate sample` wrote.")],
    run: Annotated[
        list[Path] | None,
        typer.Option(metavar="RUN", help="amber: a run of `retrieve` or `read` to compare (may be repeated)."),
    ] = None,
    published: common.PublishedOption = False,
    json: common.JsonOption = False,
) -> int:
    """Compare the answers of annotators with the key and with each other; writes nothing.

    Exit 1: done, but some items lack the answer of an annotator; of amber and ambigdocs, that of every annotator.
    """
    from shadowprobe.human_study.scoring import score_answers
    from shadowprobe.reporting.tables.study_tables import describe_study, make_study_tables

    found = score_answers(sample, answers, run or ())
    tables = make_study_tables(found, published=published)
    if json:
        common.print_json(found)
    else:
        common.print_lines(describe_study(found))
        common.print_tables(tables)
    return int(found.unanswered > 0)
