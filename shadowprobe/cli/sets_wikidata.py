"""Where the facts of `shadowprobe sets` come from, and how popular their entities are, as its options say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shadowprobe.cli import common
from shadowprobe.errors import UsageError

if TYPE_CHECKING:
    from shadowprobe.retrieval.wikidata.origin import Origin
    from shadowprobe.retrieval.wikidata.popularity import Popularity


def origin_of(
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
    """Where the facts are to come from, as the options say."""
    from shadowprobe.formats.imported import LANGUAGE
    from shadowprobe.jsonl import open_for_reading
    from shadowprobe.retrieval.wikidata.api import api_address
    from shadowprobe.retrieval.wikidata.origin import Origin, read_names

    if (dump is None) == (api is None):
        raise UsageError(f"say where the facts come from: --dump FILE or --api URL{or_else}, and one of them only")
    if names is not None and dataset is not None:
        raise UsageError("--names and --dataset: give one of them")
    if not LANGUAGE.fullmatch(language):
        raise UsageError(f"--language {language}: expected the code of a Wikipedia, such as en or de")
    if dump is not None:
        open_for_reading(dump).close()
    asked = read_names(names) if names is not None else ()
    if dataset is not None:
        asked = tuple(common.open_dataset(dataset).spaces)
        if not asked:
            raise UsageError(f"--dataset {dataset}: has no ambiguous names")
    if api is not None and not asked:
        raise UsageError("--api: say which names to ask for, by --names FILE or --dataset NAME|DIR")
    return Origin(
        dump=dump,
        api=api_address(api) if api is not None else "",
        names=asked[:limit],
        language=language,
        user_agent=common.user_agent(contact) if api is not None else "",
        subclasses=subclasses,
    )


@contextmanager
def popularity_of(
    out: Path,
    language: str,
    file: Path | None,
    url: str | None,
    month: str,
    backlinks: str | None,
    contact: str | None,
) -> Iterator[Popularity | None]:
    """Who knows how popular entities are, as the options say; None where they say nothing."""
    from shadowprobe.retrieval.wikidata import popularity
    from shadowprobe.retrieval.wikidata.origin import VIEWS, open_service
    from shadowprobe.retrieval.wikidata.service import checked_address

    if sum(given is not None for given in (file, url, backlinks)) > 1:
        raise UsageError("--pageviews, --pageviews-api and --backlinks: give one of them")
    with ExitStack() as stack:
        if file is not None:
            yield popularity.FileViews(file, language)
        elif url is not None:
            # All that can be wrong is said before a directory is made.
            popularity.read_month(month)
            checked_address("--pageviews-api", url, popularity.PAGEVIEWS_API)
            service = open_service(out, VIEWS, common.user_agent(contact))
            yield popularity.ServiceViews(url, stack.enter_context(closing(service)), language, month)
        elif backlinks is not None:
            yield popularity.Backlinks(common.open_dataset(backlinks))
        else:
            yield None
