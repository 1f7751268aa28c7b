"""`shadowprobe build`: a new dataset from a wiki and the web."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError

if TYPE_CHECKING:
    from shadowprobe.build.gather import Progress

STATUS = "status"
# A system lets a process have about a thousand files open; a host that gets no socket would be taken for a dead one.
MOST_AT_ONCE = 300
# Seconds; what is longer is no pause but a stop.
LONGEST_PAUSE, LONGEST_PAGE = 3_600.0, 86_400.0


def build(
    context: typer.Context,
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="Where the dataset goes; the same again goes on.")],
    stage: Annotated[
        str | None,
        typer.Argument(
            metavar="[STAGE]",
            help="Run this stage anew: spaces, commonness, references, crawl, snippets, tail or assemble; or `status`.",
        ),
    ] = None,
    wiki: Annotated[
        str | None, typer.Option("--wiki", metavar="URL", help="The wiki, such as https://en.wikipedia.org.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="What to call the dataset [the directory's name].")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N names, for a taste.")] = None,
    created_before: Annotated[
        str, typer.Option("--created-before", metavar="YYYY-MM-DD", help="Leave out articles that are younger.")
    ] = "",
    category: Annotated[
        str, typer.Option("--category", help="The category of disambiguation pages [found by itself].")
    ] = "",
    language: Annotated[str, typer.Option("--language", metavar="CODE", help="The language [that of the wiki].")] = "",
    templates: Annotated[
        Path | None,
        typer.Option("--templates", metavar="FILE", help="Neutral contexts, one a line, {name} in each [ours]."),
    ] = None,
    dumps: Annotated[
        Path | None,
        typer.Option("--dumps", metavar="DIR", help="Names and commonness from the wiki's dump files in DIR."),
    ] = None,
    tail: Annotated[
        int | None, typer.Option("--tail", min=0, help="How many tail entities [as many as names].")
    ] = None,
    references: Annotated[int, typer.Option("--references", min=1, help="References followed per article.")] = 20,
    snippets: Annotated[int, typer.Option("--snippets", min=1, help="Snippets cut from a page per entity.")] = 10,
    sentences: Annotated[
        int, typer.Option("--sentences", min=0, max=1, help="Sentences beside that of the mention, on each side.")
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of every lottery.")] = 7,
    contact: common.ContactOption = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=MOST_AT_ONCE, help="Requests to the web at a time.")
    ] = 32,
    delay: Annotated[
        float, typer.Option("--delay", min=0.0, max=LONGEST_PAUSE, help="Seconds between two requests to a host.")
    ] = 0.5,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1.0, max=LONGEST_PAGE, help="Seconds for a whole page.")
    ] = 30.0,
    max_bytes: Annotated[int, typer.Option("--max-bytes", min=1000, help="The largest page, unpacked.")] = 4_000_000,
    allow_private: Annotated[
        bool,
        typer.Option(
            "--allow-private", help="Follow links to private addresses too: an intranet (--retry: refused ones again)."
        ),
    ] = False,
    allow_network: Annotated[
        list[str] | None,
        typer.Option("--allow-network", metavar="CIDR", help="Only to these private addresses, such as 10.1.0.0/16."),
    ] = None,
    from_archive: Annotated[
        bool, typer.Option("--from-archive", help="Ask nobody: rebuild from the archive in --out.")
    ] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Ask again for pages that failed in a way that may pass.")
    ] = False,
    json: common.JsonOption = False,
) -> int:
    """Build a ShadowLink-style dataset: names from disambiguation pages, contexts from the pages that articles cite.

    It stops and goes on at any point: what was answered is in the archive and is not asked again. A first taste:
    shadowprobe build --wiki https://en.wikipedia.org --out taste --limit 20 --contact you@example.org
    """
    directory = common.directory(out)
    assert directory is not None
    if retry and from_archive:
        raise UsageError("--retry: with --from-archive nobody is asked")
    if stage == STATUS:
        return _status(directory, json=json)
    from shadowprobe.build.languages import read_language
    from shadowprobe.build.pipeline import Build
    from shadowprobe.build.politeness import Manners
    from shadowprobe.build.settings import begun

    asked = {
        "wiki": (wiki or "").rstrip("/"),
        "name": name or directory.resolve().name,
        "created_before": _day(created_before),
        "category": category,
        "limit": limit,
        "seed": seed,
        "references": references,
        "snippets": snippets,
        "sentences": sentences,
        "tail": tail,
        "max_bytes": max_bytes,
        "language": language,
        # Whole, so that the build can go on from another directory.
        "dumps": str(dumps.resolve()) if dumps is not None else "",
        "neutral": read_language("en", templates).neutral if templates is not None else (),
    }
    _check_text(asked)
    given = {option for option in asked if _is_given(context, "templates" if option == "neutral" else option)}
    settings = begun(directory, asked, given)
    manners = Manners(
        user_agent=common.user_agent(contact, needed=not from_archive),
        total=concurrency,
        delay=delay,
        timeout=timeout,
        max_bytes=settings.max_bytes,
        allow_private=_networks(allow_network) if allow_network and not allow_private else allow_private,
    )
    with (
        _bars() as progress,
        Build(directory, settings, manners, from_archive=from_archive, retry=retry, progress=progress) as work,
    ):
        dataset = work.run(stage)
    _status(directory, json=json)
    if dataset is not None:
        typer.echo(f"Written to {directory}/: shadowprobe run --dataset {directory}", err=True)
    return 0


def _status(directory: Path, *, json: bool) -> int:
    """Prints what went into each stage and what came out."""
    from shadowprobe.build.status import funnels

    found = funnels(directory)
    if json:
        common.print_json(found)
        return 0
    from shadowprobe.report.funnel_table import funnel_table

    common.stdout().print(funnel_table(found))
    return 0


def _is_given(context: typer.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


def _check_text(asked: dict[str, Any]) -> None:
    """Refuses what a file cannot keep: bytes of the command line that are no text."""
    for option, value in asked.items():
        if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
            raise UsageError(f"--{option.replace('_', '-')}: {value!a} is not UTF-8; give another")


def _networks(names: list[str]) -> tuple[str, ...]:
    from ipaddress import ip_network

    try:
        return tuple(str(ip_network(name, strict=False)) for name in names)
    except ValueError as error:
        raise UsageError(f"--allow-network: {error}; a network is written as 10.1.0.0/16") from None


def _day(text: str) -> str:
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise UsageError(f"--created-before {text}: a day is written as 2016-12-31") from None


@contextmanager
def _bars() -> Iterator[Progress | None]:
    """A bar for each stage on stderr, with rate and time left, only where stderr is a terminal."""
    console = common.stderr()
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns: tuple[Any, ...] = (
        TextColumn("{task.description:<18}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console) as bars:
        tasks: dict[str, Any] = {}

        def move(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total, rate="")
            speed = bars.tasks[tasks[stage]].speed
            bars.update(tasks[stage], completed=done, total=total, rate=f"{speed:.1f}/s" if speed else "")

        yield move
