"""The options of `shadowprobe sets` for the source of facts and the popularity of entities."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shadowprobe.cli import common
from shadowprobe.errors import UsageError

if TYPE_CHECKING:
    from shadowprobe.sets.fact_source import Origin
    from shadowprobe.sets.popularity import Popularity


def make_origin(
    dump: Path | None,
    api: str | None,
    names: Path | None,
    dataset: str | None,
    language: str,
    contact: str | None,
    *,
    subclasses: bool = True,
    limit: int | None = None,
    or_else: str = "",
) -> Origin:
    """Makes the source of facts from the options."""
    from shadowprobe.base.files import open_for_reading
    from shadowprobe.formats.imported import LANGUAGE
    from shadowprobe.sets.fact_source import Origin, read_names
    from shadowprobe.sets.wikibase_api import api_address

    if (dump is None) == (api is None):
        raise UsageError(f"give one source of facts: --dump FILE or --api URL{or_else}, and one of them only")
    if names is not None and dataset is not None:
        raise UsageError("--names and --dataset: give one of them")
    if not LANGUAGE.fullmatch(language):
        raise UsageError(f"--language {language}: expected the code of a Wikipedia, such as en or de")
    if dump is not None:
        open_for_reading(dump).close()
    wanted = read_names(names) if names is not None else ()
    if dataset is not None:
        wanted = tuple(common.open_dataset(dataset).spaces)
        if not wanted:
            raise UsageError(f"--dataset {dataset}: has no ambiguous names")
    if api is not None and not wanted:
        raise UsageError("--api: give the names to look up, with --names FILE or --dataset NAME|DIR")
    return Origin(
        dump=dump,
        api=api_address(api) if api is not None else "",
        names=wanted[:limit],
        language=language,
        user_agent=common.user_agent(contact) if api is not None else "",
        subclasses=subclasses,
    )


@contextmanager
def open_popularity(
    out: Path,
    language: str,
    file: Path | None,
    url: str | None,
    month: str,
    backlinks: str | None,
    contact: str | None,
) -> Iterator[Popularity | None]:
    """Opens the source of popularity from the options; None without such an option."""
    from shadowprobe.net.urls import check_option
    from shadowprobe.sets import popularity
    from shadowprobe.sets.fact_source import VIEWS, open_service

    if sum(given is not None for given in (file, url, backlinks)) > 1:
        raise UsageError("--pageviews, --pageviews-api and --backlinks: give one of them")
    if file is not None:
        yield popularity.FileViews(file, language)
    elif url is not None:
        # All options are checked before a directory is made.
        popularity.read_month(month)
        check_option("--pageviews-api", url, popularity.PAGEVIEWS_API)
        with closing(open_service(out, VIEWS, common.user_agent(contact))) as service:
            yield popularity.ServiceViews(url, service, language, month)
    elif backlinks is not None:
        yield popularity.Backlinks(common.open_dataset(backlinks))
    else:
        yield None
