"""`shadowprobe sets`: new sets of queries for retrievers and language models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.cli.sets_ambigdocs import ambigdocs
from shadowprobe.cli.sets_wikidata import make_origin, open_popularity
from shadowprobe.errors import UsageError

if TYPE_CHECKING:
    from shadowprobe.build.funnel import Progress

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="Make new sets of queries that test whether a system also finds the less popular namesake.",
)

OutOption = Annotated[Path, common.out_directory("The directory for the sets; replies and facts are stored there too.")]
DumpOption = Annotated[
    Path | None,
    typer.Option("--dump", metavar="FILE", help="Wikidata's JSON dump, such as latest-all.json.gz (or .bz2)."),
]
ApiOption = Annotated[
    str | None, typer.Option("--api", metavar="URL", help="A Wikibase instead, such as https://www.wikidata.org.")
]
NamesOption = Annotated[
    Path | None, typer.Option("--names", metavar="FILE", help="Only these names, one per line; --api needs names.")
]
NamesOfOption = Annotated[str | None, common.dataset_option("Only the names of this dataset.")]
LanguageOption = Annotated[
    str, typer.Option("--language", metavar="CODE", help="The language of names, articles and page views.")
]
ViewsOption = Annotated[
    Path | None,
    typer.Option("--pageviews", metavar="FILE", help="Page views: title<TAB>views, or a monthly dump of Wikimedia's."),
]
ViewsApiOption = Annotated[
    str | None,
    typer.Option("--pageviews-api", metavar="URL", help="Page views by API: https://wikimedia.org/api/rest_v1."),
]
MonthOption = Annotated[str, typer.Option("--month", metavar="YYYY-MM", help="The month of --pageviews-api.")]
BacklinksOption = Annotated[
    str | None,
    typer.Option("--backlinks", metavar="NAME|DIR", help="The commonness of a dataset's entities as popularity."),
]


app.command("ambigdocs", short_help="Make AmbigDocs' sets from a dataset.")(ambigdocs)


@app.command("amber", short_help="Make AmbER sets from Wikidata.")
def amber(
    out: OutOption,
    documents: Annotated[
        Path, typer.Option(metavar="FILE", help="The articles: JSON lines, KILT's or DPR's knowledge source.")
    ],
    dump: DumpOption = None,
    api: ApiOption = None,
    names: NamesOption = None,
    dataset: NamesOfOption = None,
    language: LanguageOption = "en",
    pageviews: ViewsOption = None,
    pageviews_api: ViewsApiOption = None,
    month: MonthOption = "2019-10",
    backlinks: BacklinksOption = None,
    subclasses: Annotated[
        bool,
        typer.Option(
            "--subclasses/--no-subclasses", help="Whether a thing of a subclass of film (P279) is a film, or P31 alone."
        ),
    ] = True,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first N names; of a dump, the first N that may make a set.")
    ] = None,
    contact: common.ContactOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Make AmbER sets by the paper's rules: namesakes, and queries that only one of them answers.

    A dump is read once into DIR/wikidata/facts.sqlite, which the same command uses again. The replies of an API are
    stored in DIR/wikidata too. Example: shadowprobe sets amber --api https://www.wikidata.org --names FILE
    --documents FILE --pageviews-api https://wikimedia.org/api/rest_v1 --out DIR --contact you@example.org
    """
    from shadowprobe.sets.amber import refuse_to_overwrite, write_amber

    origin = make_origin(dump, api, names, dataset, language, contact, subclasses=subclasses, limit=limit)
    refuse_to_overwrite(out, force=force)
    with open_popularity(out, language, pageviews, pageviews_api, month, backlinks, contact) as popularity:
        if popularity is None:
            raise UsageError("--pageviews, --pageviews-api or --backlinks: without popularity, no entity is the head")
        with _show_progress() as progress:
            card = write_amber(
                origin,
                documents,
                popularity,
                out,
                limit=limit if not origin.names else None,
                force=force,
                progress=progress,
            )
    if json:
        common.print_json(card)
        return
    for collection, counts in card.counts.items():
        queries = ", ".join(f"{task} {count}" for task, count in counts.queries.items())
        common.print_lines(
            f"{collection}: {counts.sets} sets, {counts.entities} entities, {counts.entities_with_properties} of them"
            f" with properties; queries: {queries}"
        )
    common.print_lines(*_describe_dropped(card.dropped), f"Written to {out}/")


@app.command("entity-questions", short_help="Make entity questions from triples or from Wikidata.")
def entity_questions(
    out: OutOption,
    triples: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="subject<TAB>property<TAB>object[<TAB>frequency] a line, or JSON lines."),
    ] = None,
    dump: DumpOption = None,
    api: ApiOption = None,
    names: NamesOption = None,
    dataset: NamesOfOption = None,
    language: LanguageOption = "en",
    pageviews: ViewsOption = None,
    pageviews_api: ViewsApiOption = None,
    month: MonthOption = "2019-10",
    backlinks: BacklinksOption = None,
    per_relation: Annotated[int, typer.Option(min=1, help="How many questions of a relation.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw; the same seed draws the same.")] = 7,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N names.")] = None,
    contact: common.ContactOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Make questions about one entity each, for the 24 relations of EntityQuestions, into DIR/P19.test.json and so on.

    With page views or backlinks, questions from Wikidata have the frequency of their subject. Triples contain it.
    """
    from shadowprobe.sets import entity_questions as questions

    size = questions.SampleSize(per_relation, seed)
    questions.refuse_to_overwrite(out, force=force)
    if triples is not None:
        others = (dump, api, names, dataset, pageviews, pageviews_api, backlinks)
        if any(other is not None for other in others):
            raise UsageError("--triples contains everything: give it without options for Wikidata, names or popularity")
        made = questions.make_from_triples(triples, size)
        card = questions.write_questions(out, made, {"triples": triples.name}, size)
    else:
        origin = make_origin(dump, api, names, dataset, language, contact, limit=limit, or_else=" or --triples FILE")
        with (
            open_popularity(out, language, pageviews, pageviews_api, month, backlinks, contact) as popularity,
            _show_progress() as progress,
        ):
            made = questions.make_from_wikidata(origin, out, size, popularity, progress)
            card = questions.write_questions(out, made, origin.describe(), size, popularity)
    if json:
        common.print_json(card)
        return
    common.print_lines(f"{sum(card.counts.values())} questions about {len(card.counts)} relations")
    common.print_lines(", ".join(f"{number} {count}" for number, count in card.counts.items()))
    common.print_lines(*_describe_dropped(card.dropped), f"Written to {out}/")


def _describe_dropped(dropped: Mapping[str, int]) -> list[str]:
    return [f"left out: {count} {reason}" for reason, count in sorted(dropped.items())]


@contextmanager
def _show_progress() -> Iterator[Progress]:
    """Shows a line of progress on stderr if that is a terminal."""
    with common.status_line("Wikidata") as show:
        yield lambda what, done, total: show(f"{what}: {done:,}{f' of {total:,}' if total else ''}")
