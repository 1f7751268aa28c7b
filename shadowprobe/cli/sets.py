"""`shadowprobe sets`: new sets of queries for retrievers and language models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.cli.sets_ambigdocs import ambigdocs
from shadowprobe.cli.sets_wikidata import origin_of, popularity_of
from shadowprobe.errors import UsageError

if TYPE_CHECKING:
    from shadowprobe.retrieval.wikidata.dump import Progress

app = typer.Typer(rich_markup_mode=None)

OutOption = Annotated[
    str, typer.Option("--out", metavar="DIR", help="Where they go; answers and facts are kept there.")
]
DumpOption = Annotated[
    Path | None,
    typer.Option("--dump", metavar="FILE", help="Wikidata's JSON dump, such as latest-all.json.gz (or .bz2)."),
]
ApiOption = Annotated[
    str | None, typer.Option("--api", metavar="URL", help="A Wikibase instead, such as https://www.wikidata.org.")
]
NamesOption = Annotated[
    Path | None, typer.Option("--names", metavar="FILE", help="Only these names, one a line; --api needs some.")
]
NamesOfOption = Annotated[
    str | None, typer.Option("--dataset", "-d", metavar="NAME|DIR", help="Only the names of this dataset.")
]
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


@app.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """New sets of queries, to ask whether a retriever or a language model finds the less popular namesake too."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("amber", short_help="Make AmbER sets from Wikidata.")
def amber(
    out: OutOption,
    documents: Annotated[
        Path,
        typer.Option("--documents", metavar="FILE", help="The articles: JSON lines, KILT's or DPR's knowledge source."),
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
        int | None,
        typer.Option("--limit", min=1, help="Only the first N names; of a dump, the first N that may make a set."),
    ] = None,
    contact: common.ContactOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Make AmbER sets by the paper's rules: namesakes, and queries that only one of them answers.

    A dump is read once into DIR/wikidata/facts.sqlite, which the same command uses again; what an API says is kept in
    DIR/wikidata too. A first taste: shadowprobe sets amber --api https://www.wikidata.org --names FILE --documents FILE
    --pageviews-api https://wikimedia.org/api/rest_v1 --out DIR --contact you@example.org
    """
    from shadowprobe.retrieval.wikidata.amber import refuse_to_overwrite, write_amber

    target = _directory(out)
    origin = origin_of(dump, api, names, dataset, language, contact, subclasses=subclasses, limit=limit)
    refuse_to_overwrite(target, force=force)
    with popularity_of(target, language, pageviews, pageviews_api, month, backlinks, contact) as popularity:
        if popularity is None:
            raise UsageError("--pageviews, --pageviews-api or --backlinks: without popularity, no entity is the head")
        with _telling() as progress:
            card = write_amber(
                origin,
                documents,
                popularity,
                target,
                limit=limit if not origin.names else None,
                force=force,
                progress=progress,
            )
    if json:
        common.print_json(card)
        return
    for collection, counts in card.counts.items():
        queries = ", ".join(f"{task} {count}" for task, count in counts.queries.items())
        _say(
            f"{collection}: {counts.sets} sets, {counts.entities} entities, {counts.entities_with_properties} of them"
            f" with properties; queries: {queries}"
        )
    _say_dropped(card.dropped)
    _say(f"Written to {target}/")


@app.command("entity-questions", short_help="Make entity questions from triples or from Wikidata.")
def entity_questions(
    out: OutOption,
    triples: Annotated[
        Path | None,
        typer.Option(
            "--triples", metavar="FILE", help="subject<TAB>property<TAB>object[<TAB>frequency] a line, or JSON lines."
        ),
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
    per_relation: Annotated[
        int, typer.Option("--per-relation", min=1, help="How many questions of a relation.")
    ] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw; the same seed draws the same.")] = 7,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N names.")] = None,
    contact: common.ContactOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Make questions about one entity each, for the 24 relations of EntityQuestions, into DIR/P19.test.json and so on.

    With page views or backlinks, questions from Wikidata say how common their subject is; triples bring it along.
    """
    from shadowprobe.retrieval.wikidata import questions

    target, lots = _directory(out), questions.Lots(per_relation, seed)
    questions.refuse_to_overwrite(target, force=force)
    if triples is not None:
        others = (dump, api, names, dataset, pageviews, pageviews_api, backlinks)
        if any(other is not None for other in others):
            raise UsageError("--triples brings all with it: give it alone, without Wikidata, names or popularity")
        made = questions.from_triples(triples, lots)
        card = questions.write_questions(target, made, {"triples": triples.name}, lots)
    else:
        origin = origin_of(dump, api, names, dataset, language, contact, limit=limit, or_else=" or --triples FILE")
        with (
            popularity_of(target, language, pageviews, pageviews_api, month, backlinks, contact) as popularity,
            _telling() as progress,
        ):
            made = questions.from_wikidata(origin, target, lots, popularity, progress)
            card = questions.write_questions(target, made, origin.described(), lots, popularity)
    if json:
        common.print_json(card)
        return
    _say(f"{sum(card.counts.values())} questions about {len(card.counts)} relations")
    _say(", ".join(f"{number} {count}" for number, count in card.counts.items()))
    _say_dropped(card.dropped)
    _say(f"Written to {target}/")


def _directory(out: str) -> Path:
    directory = common.directory(out)
    assert directory is not None
    return directory


def _say(line: str) -> None:
    # A directory may be named like markup.
    common.stdout().print(line, markup=False, soft_wrap=True)


def _say_dropped(dropped: Mapping[str, int]) -> None:
    for reason, count in sorted(dropped.items()):
        _say(f"left out: {count} {reason}")


@contextmanager
def _telling() -> Iterator[Progress | None]:
    """A line on stderr that tells how far it is, only where stderr is a terminal."""
    console = common.stderr()
    if not console.is_terminal:
        yield None
        return
    with console.status("Wikidata") as status:
        yield lambda what, done, total: status.update(f"{what}: {done:,}{f' of {total:,}' if total else ''}")
