"""A MediaWiki by its API: pages, links and rendered text, every answer through the archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from shadowprobe.build.archive import Archive
from shadowprobe.build.wiki import session
from shadowprobe.build.wiki.session import (
    API_PATHS,
    BUSY,
    FAILED,
    GONE,
    FailedQuestionError,
    NotStoredError,
    StrangeError,
    WikiClient,
    make_session,
    short,
)
from shadowprobe.errors import BuildError, shorten
from shadowprobe.net import urls
from shadowprobe.net.failures import (
    BrokenResponseError,
    ConnectionFailedError,
    NoResponseError,
    RefusedError,
    TimeLimitError,
)

T = TypeVar("T")
# Titles or page ids that a wiki takes in one question of somebody without special rights.
BATCH = 50
# More parts than the longest list of the largest wiki has, and more empty ones than a wiki sends in a row.
MOST_PARTS, MOST_EMPTY = 1_000_000, 500
# What a wiki says to a question that it does not know, here one for items.
UNKNOWN_ACTION = frozenset({"badvalue", "unknown_action"})
SITEINFO = {"meta": "siteinfo", "siprop": "general|extensions|statistics"}


def batches(items: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """The items in lists of at most so many."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


class Wiki:
    """The API of one wiki; a response that the archive has is not requested again."""

    def __init__(self, url: str, archive: Archive, *, user_agent: str) -> None:
        parts = _address(url)
        self.url = f"{parts.scheme}://{parts.netloc}"
        self._scheme, self._host, self._path = parts.scheme, parts.netloc, parts.path
        self._client = WikiClient(archive, user_agent)
        self._session = make_session(self._client)
        self._site = self._find_site_again(archive)
        info = self.first(**SITEINFO)
        general = info["general"]
        if general.get("case") == "case-sensitive":
            raise BuildError(
                f"{self.url}: titles can begin with a small letter here ($wgCapitalLinks is false), and those of a"
                " dataset begin with a capital: this wiki cannot be used"
            )
        self.language: str = general["lang"].partition("-")[0]
        self.generator: str = general["generator"]
        self.name: str = general["sitename"]
        self.pages_in_all: int = info["statistics"]["pages"]
        self.extensions = frozenset(extension.get("name", "") for extension in info["extensions"])

    def _find_site_again(self, archive: Archive) -> Any:
        """Finds mwclient's site, in the archive if possible."""
        self._client.may_send, self._client.searching = False, True
        try:
            return self._find_site()
        except NotStoredError:
            if archive.read_only:
                raise
            self._client.may_send = True
            return self._find_site()
        finally:
            self._client.may_send, self._client.searching = not archive.read_only, False

    def _find_site(self) -> Any:
        """mwclient's site at the first place that has an api.php."""
        import mwclient
        import requests

        given = self._path.partition("api.php")[0].rstrip("/") + "/"
        reasons = []
        not_stored: BuildError | None = None
        for path in dict.fromkeys([given, *API_PATHS] if given != "/" else API_PATHS):
            # The client decides how often to try again: mwclient would wait for a minute.
            site = mwclient.Site(
                self._host, path=path, scheme=self._scheme, pool=self._session, do_init=False, max_retries=0
            )
            try:
                answer = site.raw_api(
                    "query", "POST", retry_on_error=False, meta="siteinfo", siprop="general", formatversion="2"
                )
                if "query" in answer:
                    return site
                reasons.append(f"{path}api.php: {shorten(answer['error'].get('info') or answer['error']['code'])}")
            except NotStoredError as error:
                # Of the places that were tried in vain the archive knows nothing.
                not_stored = error
            except StrangeError as error:
                reasons.append(f"{path}api.php: {error.fault}")
            except ConnectionFailedError:
                raise BuildError(f"{self.url}: no connection; is the address right?") from None
            except TimeLimitError:
                raise BuildError(f"{self.url}: no answer within {session.FIRST:.0f} seconds") from None
            except BrokenResponseError as error:
                raise BuildError(f"{self.url}: {short(error)}; the same command goes on later") from None
            except (
                NoResponseError,
                requests.exceptions.RequestException,
                ValueError,
                mwclient.errors.MwClientError,
            ) as error:
                reasons.append(f"{path}api.php: {short(error)}")
        if not_stored is not None:
            raise not_stored
        raise BuildError(f"{self.url}: no MediaWiki was found here ({'; '.join(reasons)[:300]})")

    def _call(self, parameters: dict[str, Any]) -> dict[str, Any]:
        import mwclient
        import requests

        try:
            # As a POST, since fifty titles make a URL that some servers refuse.
            answer: dict[str, Any] = self._site.raw_api(
                http_method="POST", retry_on_error=False, formatversion="2", **parameters
            )
        except BuildError:
            raise
        except (
            *(NoResponseError, requests.exceptions.RequestException),
            *(mwclient.errors.MwClientError, ValueError),
        ) as error:
            status = getattr(getattr(error, "response", None), "status_code", 0)
            # A server that broke, or did not come to an end, may have done so for this question only.
            kind = FailedQuestionError if status >= 500 or isinstance(error, TimeLimitError) else BuildError
            raise kind(f"{self.url}: {short(error)}; the same command goes on later") from None
        if "error" in answer:
            code, info = answer["error"]["code"], answer["error"].get("info", "")
            problem = f"{self.url}: the API says {shorten(f'{code}: {info}')}".removesuffix(":")
            if code in BUSY:
                raise BuildError(f"{problem}; the same command goes on later")
            raise FailedQuestionError(problem, code)
        return answer

    def query(self, **parameters: Any) -> Iterator[dict[str, Any]]:
        """The parts of an answer, as many as the wiki has."""
        sent = {"action": "query", **parameters}
        empty = 0
        for _ in range(MOST_PARTS):
            answer = self._call(sent)
            part = answer.get("query", {})
            yield part
            if "continue" not in answer:
                return
            # A wiki that filters its lists sends some parts without anything, but not many in a row.
            empty = 0 if any(part.values()) else empty + 1
            if empty == MOST_EMPTY:
                break
            sent = {"action": "query", **parameters, **answer["continue"]}
        raise BuildError(f"{self.url}: the wiki continues the list {parameters.get('list', '')} without an end")

    def first(self, **parameters: Any) -> dict[str, Any]:
        """The first part of an answer, where the others are not wanted."""
        return next(self.query(**parameters))

    def pages(
        self, titles: Sequence[str] = (), *, page_ids: Sequence[int] = (), **parameters: Any
    ) -> Iterator[dict[str, Any]]:
        """What the wiki says of some pages, fifty at a time, put together from all the parts of an answer."""
        for batch in batches(titles or page_ids):
            joined = "|".join(map(str, batch))
            merged: dict[Any, dict[str, Any]] = {}
            for part in self.query(**{"titles" if titles else "pageids": joined}, **parameters):
                for page in part.get("pages", ()):
                    _merge(merged.setdefault(page.get("pageid", page.get("title")), {}), page)
            yield from merged.values()

    def follow_titles(self, titles: Iterable[str], **parameters: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each title with the page that it leads to, through a redirect if need be."""
        for batch in batches(titles):
            leads: dict[str, str] = {}
            merged: dict[str, dict[str, Any]] = {}
            for part in self.query(titles="|".join(batch), redirects="1", **parameters):
                leads |= {
                    step["from"]: step["to"] for name in ("normalized", "redirects") for step in part.get(name, ())
                }
                for page in part.get("pages", ()):
                    _merge(merged.setdefault(page["title"], {}), page)
            for title in batch:
                yield title, merged.get(_end(title, leads), {"missing": True})

    def read_list(self, name: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """The items of one of the wiki's lists."""
        for part in self.query(list=name, **parameters):
            yield from part.get(name, ())

    def entities(self, qids: Sequence[str], **parameters: Any) -> dict[str, Any]:
        """What a Wikibase says of some items, at most fifty."""
        try:
            answer = self._call({"action": "wbgetentities", "ids": "|".join(qids), **parameters})
        except FailedQuestionError as error:
            if error.code not in UNKNOWN_ACTION:
                raise
            raise BuildError(f"{self.url}: this wiki has no items: give the address of a Wikibase") from None
        found = answer["entities"]
        return found if isinstance(found, dict) else {}

    def html(self, title: str, dropped: Counter[str] | None = None) -> str | None:
        """An article as a reader sees it; None where it is gone, or where the wiki fails on it, which is counted."""
        try:
            answer = self._call({"action": "parse", "page": title, "prop": "text", "disablelimitreport": "1"})
        except FailedQuestionError as error:
            if error.code == GONE:
                return None
            if error.code != FAILED:
                question = self._client.last_request
                # What is wrong with the whole wiki is not to be kept as the fault of one page.
                if not self.is_well():
                    raise
                self._client.archive.put_failure(*question, FAILED)
            if dropped is not None:
                dropped[FAILED] += 1
            return None
        return str(answer["parse"]["text"])

    def is_well(self) -> bool:
        """True where the wiki still answers what it could answer in the beginning."""
        self._client.afresh = True
        try:
            self._call({"action": "query", **SITEINFO})
        except BuildError:
            return False
        finally:
            self._client.afresh = False
        return True


def _address(url: str) -> SplitResult:
    """The parts of a wiki's address."""
    full = url if "://" in url else f"https://{url}"
    try:
        urls.check_url(full)
    except RefusedError as error:
        # The address is not repeated where it may hold a password.
        if str(error) == urls.PASSWORD:
            raise BuildError(
                "the address of a wiki must not hold a user or password: wikis are read without logging in"
            ) from None
        raise BuildError(f"{url.rpartition('@')[2]} is no address of a wiki such as https://en.wikipedia.org") from None
    return urlsplit(full)


def _end(title: str, leads: dict[str, str]) -> str:
    """Where a title leads to in the end; redirects that lead in a circle end where they began."""
    passed = set()
    while title in leads and title not in passed:
        passed.add(title)
        title = leads[title]
    return title


def _merge(known: dict[str, Any], more: dict[str, Any]) -> None:
    """Adds one part of a page's answer to the others."""
    for name, value in more.items():
        if isinstance(value, list):
            known.setdefault(name, []).extend(value)
        else:
            known[name] = value
