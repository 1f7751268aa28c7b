"""`shadowprobe build`: a new dataset from a wiki and the web."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError

if TYPE_CHECKING:
    from shadowprobe.build.settings import BuildSettings

STATUS = "status"
# A process may open about a thousand files. A host without a free socket would look unreachable.
MOST_AT_ONCE = 300
# The longest allowed --delay and --timeout, in seconds.
LONGEST_PAUSE, LONGEST_PAGE = 3_600.0, 86_400.0


def build(
    context: typer.Context,
    out: Annotated[Path, common.out_directory("The directory of the dataset; the same command continues.")],
    stage: Annotated[
        str | None,
        typer.Argument(
            metavar="[STAGE]",
            help="Repeat this stage: spaces, commonness, references, crawl, snippets, tail or assemble; or `status`.",
        ),
    ] = None,
    wiki: Annotated[str | None, typer.Option(metavar="URL", help="The wiki, such as https://en.wikipedia.org.")] = None,
    name: Annotated[str | None, typer.Option(help="The name of the dataset [the directory's name].")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N names, for a trial.")] = None,
    created_before: Annotated[str, typer.Option(metavar="YYYY-MM-DD", help="Leave out newer articles.")] = "",
    category: Annotated[str, typer.Option(help="The category of disambiguation pages [automatic].")] = "",
    language: Annotated[str, typer.Option(metavar="CODE", help="The language [that of the wiki].")] = "",
    templates: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Neutral contexts, one per line, {name} in each [ours].")
    ] = None,
    dumps: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Names, links and references from the wiki's dump files in DIR.")
    ] = None,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="For --dumps, such as 8GB [half of what is available].")
    ] = "",
    common_crawl: Annotated[
        str,
        typer.Option(
            metavar="INDEX", help="Pages from an existing crawl: a file, folder or pattern of Parquet or CDX(J) files."
        ),
    ] = "",
    warc_base: Annotated[
        str, typer.Option(metavar="DIR|URL", help="Where the WARC files of --common-crawl are [beside the index].")
    ] = "",
    captured_before: Annotated[
        str, typer.Option(metavar="YYYY-MM-DD", help="Leave out newer captures of --common-crawl.")
    ] = "",
    captures_only: Annotated[
        bool, typer.Option("--captures-only", help="Leave out pages that --common-crawl does not have.")
    ] = False,
    tail: Annotated[int | None, typer.Option(min=0, help="The number of tail entities [as many as names].")] = None,
    references: Annotated[int, typer.Option(min=1, help="References followed per article.")] = 20,
    snippets: Annotated[int, typer.Option(min=1, help="Snippets cut from a page per entity.")] = 10,
    sentences: Annotated[
        int, typer.Option(min=0, max=1, help="Additional sentences on each side of the mention's.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 7,
    contact: common.ContactOption = None,
    concurrency: Annotated[int, typer.Option(min=1, max=MOST_AT_ONCE, help="Requests to the web at a time.")] = 32,
    delay: Annotated[
        float, typer.Option(min=0.0, max=LONGEST_PAUSE, help="Seconds between two requests to a host.")
    ] = 0.5,
    timeout: Annotated[float, typer.Option(min=1.0, max=LONGEST_PAGE, help="Seconds for a whole page.")] = 30.0,
    max_bytes: Annotated[int, typer.Option(min=1000, help="The largest page, decompressed.")] = 4_000_000,
    allow_private: Annotated[
        bool,
        typer.Option(
            "--allow-private", help="Follow links to private addresses too: an intranet (--retry: refused ones again)."
        ),
    ] = False,
    allow_network: Annotated[
        list[str] | None, typer.Option(metavar="CIDR", help="Only to these private addresses, such as 10.1.0.0/16.")
    ] = None,
    from_archive: Annotated[
        bool, typer.Option("--from-archive", help="Send no requests: rebuild from the archive in --out.")
    ] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Request pages again that failed for a temporary reason.")
    ] = False,
    workers: common.WorkersOption = None,
    executor: common.ExecutorOption = "local",
    ray_address: common.RayAddressOption = None,
    storage: Annotated[
        str,
        typer.Option(
            "--storage", metavar="DIR|URL", help="Where the pages are stored, for machines without a shared directory."
        ),
    ] = "",
    json: common.JsonOption = False,
) -> None:
    """Build a ShadowLink-style dataset: names from disambiguation pages, contexts from the pages that articles cite.

    It can be stopped and continued at any point: all replies are in the archive and are not requested again. Example:
    shadowprobe build --wiki https://en.wikipedia.org --out trial --limit 20 --contact you@example.org
    """
    if retry and from_archive:
        raise UsageError("--retry: --from-archive sends no requests; give one of the two options")
    if stage == STATUS:
        _print_status(out, json=json)
        return
    from shadowprobe.base.languages import read_language
    from shadowprobe.build.machine import Machine, parse_size
    from shadowprobe.build.pipeline import Build
    from shadowprobe.build.settings import merge_settings
    from shadowprobe.build.storage import parse_storage
    from shadowprobe.build.web.politeness import Manners
    from shadowprobe.compute.executor import make_executor

    options = {
        "wiki": (wiki or "").rstrip("/"),
        "name": name or out.resolve().name,
        "created_before": _parse_day("--created-before", created_before),
        "category": category,
        "limit": limit,
        "seed": seed,
        "references": references,
        "snippets": snippets,
        "sentences": sentences,
        "tail": tail,
        "max_bytes": max_bytes,
        "language": language,
        # An absolute path, so that the build can be continued from another directory.
        "dumps": str(dumps.resolve()) if dumps is not None else "",
        "common_crawl": _parse_place("--common-crawl", common_crawl),
        "warc_base": _parse_place("--warc-base", warc_base),
        "captured_before": _parse_day("--captured-before", captured_before),
        "captures_only": captures_only,
        "neutral": read_language("en", templates).neutral if templates is not None else (),
    }
    _check_text({**options, "storage": storage})
    given = {option for option in options if _is_given(context, "templates" if option == "neutral" else option)}
    settings = merge_settings(out, options, given)
    _check_captures(settings)
    manners = Manners(
        user_agent=common.user_agent(contact, needed=not from_archive),
        total=concurrency,
        delay=delay,
        timeout=timeout,
        max_bytes=settings.max_bytes,
        allow_private=_parse_networks(allow_network) if allow_network and not allow_private else allow_private,
    )
    machine = Machine(memory=parse_size(memory) if memory else 0, workers=workers or 0)
    flags = {"from_archive": from_archive, "retry": retry}
    place = parse_storage(storage)
    with (
        common.bars() as progress,
        make_executor(executor, workers, ray_address) as cores,
        Build(
            out, settings, manners, progress=progress, machine=machine, executor=cores, storage=place, **flags
        ) as work,
    ):
        dataset = work.run(stage)
    _print_status(out, json=json)
    if dataset is not None:
        common.echo(f"Written to {out}/: shadowprobe run --dataset {out}", err=True)


def _print_status(directory: Path, *, json: bool) -> None:
    """Prints the counts of each finished stage."""
    from shadowprobe.build.status import read_funnels
    from shadowprobe.reporting.tables.funnel_table import funnel_table

    funnels = read_funnels(directory)
    common.print_listing(funnels, funnel_table(funnels), json=json)


def _check_captures(settings: BuildSettings) -> None:
    """Refuses options of an existing crawl without this crawl."""
    for option in ("warc_base", "captured_before", "captures_only"):
        if getattr(settings, option) and not settings.common_crawl:
            raise UsageError(f"--{option.replace('_', '-')}: needs --common-crawl INDEX")


def _is_given(context: typer.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


def _check_text(options: dict[str, Any]) -> None:
    """Refuses options that are not UTF-8, because they cannot be written to a file."""
    for option, value in options.items():
        if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
            raise UsageError(f"--{option.replace('_', '-')}: {value!a} is not UTF-8; give another")


def _parse_networks(names: list[str]) -> tuple[str, ...]:
    from ipaddress import ip_network

    try:
        return tuple(str(ip_network(name, strict=False)) for name in names)
    except ValueError as error:
        raise UsageError(f"--allow-network: {error}; a network is written as 10.1.0.0/16") from None


def _parse_place(option: str, text: str) -> str:
    """Returns a URL, or an absolute path, so that the build can be continued from another directory."""
    if not text.startswith(("http://", "https://")):
        return str(Path(text).resolve()) if text else ""
    from shadowprobe.net.urls import check_option

    return check_option(option, text, "https://data.example.org/crawls")


def _parse_day(option: str, text: str) -> str:
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise UsageError(f"{option} {text}: a day is written as 2016-12-31") from None
