"""How popular entities are: by page views from a file or a service, or by backlinks."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from service import Reply, serving
from service import Service as Standing
from wikibase_standin import COUNTER, Counter

from shadowprobe import Card, Dataset, Entity, Snippet, write_dataset
from shadowprobe.errors import BuildError, InputError, UsageError
from shadowprobe.sets.fact_source import open_service
from shadowprobe.sets.popularity import Backlinks, FileViews, ServiceViews, compute_popularity, read_month

TITLES = {"Q1001": "Ada Quill", "Q1002": "Ada Quill (judoka)", "Q1012": "Her Lantern (song)"}

SNIPPET = Snippet("1", "all", "Avon", 0, 4, gold="Avon")


@contextmanager
def counting(counter: Counter, directory: Path) -> Iterator[tuple[ServiceViews, Standing]]:
    """A service of page views that runs while the block does, through an archive in a directory."""
    with (
        serving(counter) as running,
        closing(open_service(directory, "pageviews.warc.gz", "tests (+nobody@example.org)")) as service,
    ):
        yield ServiceViews(running.url.removesuffix("/api") + COUNTER, service, "en"), running


@pytest.mark.parametrize(("count", "expected"), [(0, 0.0), (1, 0.0), (1000, 3.0), (10, 1.0)])
def test_popularity_is_a_logarithm_that_does_not_fall_below_nothing(count: int, expected: float) -> None:
    assert compute_popularity(count) == pytest.approx(expected)


def test_a_table_of_titles_and_views(tmp_path: Path) -> None:
    path = tmp_path / "views.tsv"
    path.write_text("Ada_Quill\t10000\nSomebody else\t7\n\nAda Quill (judoka)\t100\r\n")
    assert FileViews(path, "en").count(TITLES) == {"Q1001": 10000, "Q1002": 100, "Q1012": 0}


def test_a_monthly_dump_adds_up_over_devices_and_passes_over_other_wikis(tmp_path: Path) -> None:
    lines = [
        "en.wikipedia Ada_Quill 736 desktop 40 A1B39",
        "en.wikipedia Ada_Quill 736 mobile-web 60 A60",
        "de.wikipedia Ada_Quill 9 desktop 7 A7",
        "en.wikipedia Ada_Quill_(judoka) null desktop 5 A5",
        "en.wikipedia  desktop 5",
        "commons.wikimedia Ada_Quill - desktop 3 A3",
    ]
    path = tmp_path / "pageviews-201910-user.bz2"
    path.write_bytes(bz2.compress("\n".join(lines).encode()))
    assert FileViews(path, "en").count(TITLES) == {"Q1001": 100, "Q1002": 5, "Q1012": 0}


def test_a_monthly_dump_of_the_older_kind(tmp_path: Path) -> None:
    path = tmp_path / "pagecounts-2019-10-totals.gz"
    path.write_bytes(gzip.compress(b"# Wikimedia\nde.z Ada_Quill 3\nen.z Ada_Quill 41\nen.b Ada_Quill 9\n"))
    assert FileViews(path, "en").count(TITLES)["Q1001"] == 41


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("Ada Quill\t7\nAda Quill\tmany\n", r"views\.tsv:2: 'many' is not a number of views"),
        ("Ada Quill\t-7\n", r"views\.tsv:1: '-7' is not a number of views"),
        (f"Ada Quill\t{'9' * 5000}\n", r"views\.tsv:1: '9{40}\.\.\.' is not a number of views"),
        ("Ada Quill\t²\n", r"views\.tsv:1: '²' is not a number of views"),
        ("Ada Quill 7\n", r"views\.tsv:1: is neither title<TAB>views nor a line of a page views dump"),
        ("en.wikipedia Ada_Quill 736 desktop many A1\n", r"views\.tsv:1: 'many' is not a number of views"),
    ],
)
def test_a_line_without_a_number_of_views_is_refused(content: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "views.tsv"
    path.write_text(content)
    with pytest.raises(InputError, match=problem):
        FileViews(path, "en").count(TITLES)


def test_a_number_of_eighteen_digits_is_one_of_views_and_a_longer_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "views.tsv"
    path.write_text(f"Ada Quill\t{'9' * 18}\n")
    assert FileViews(path, "en").count(TITLES)["Q1001"] == 10**18 - 1
    path.write_text(f"Ada Quill\t1{'0' * 18}\n")
    with pytest.raises(InputError, match="is not a number of views"):
        FileViews(path, "en").count(TITLES)


def test_progress_is_reported_after_each_thousand_of_the_wanted_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "views.tsv"
    path.write_text("Ada Quill\t1\nSomebody else\t1\n" * 2500)
    steps: list[tuple[str, int, int | None]] = []
    assert FileViews(path, "en").count(TITLES, lambda *step: steps.append(step))["Q1001"] == 2500
    assert steps == [("page views", 1000, None), ("page views", 2000, None)]


def test_a_file_that_is_not_there_is_missed_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        FileViews(tmp_path / "none.tsv", "en")


def test_each_title_is_requested_and_an_unknown_one_has_no_views(tmp_path: Path) -> None:
    steps: list[tuple[str, int, int | None]] = []
    with counting(Counter(), tmp_path) as (views, running):
        counts = views.count(TITLES, lambda *step: steps.append(step))
    assert counts == {"Q1001": 10000, "Q1002": 100, "Q1012": 0}
    assert steps == [("page views", number, 3) for number in (1, 2, 3)]
    assert running.requests[1].path == (
        "/rest/metrics/pageviews/per-article/en.wikipedia/all-access/user/Ada_Quill_%28judoka%29"
        "/monthly/20191001/20191031"
    )
    assert {asked.headers["user-agent"] for asked in running.requests} == {"tests (+nobody@example.org)"}


def test_replies_of_the_service_are_not_requested_again_not_even_404(tmp_path: Path) -> None:
    with counting(Counter(), tmp_path) as (views, running):
        first = views.count(TITLES)
        assert views.count(TITLES) == first
    assert len(running.requests) == 3


def test_a_busy_service_gets_the_request_again_after_its_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", lambda seconds: slept.append(round(seconds)) if seconds > 0 else None)
    counter = Counter()
    counter.instead = [(429, {"Retry-After": "11"}, b"too many")]
    with counting(counter, tmp_path) as (views, _):
        assert views.count({"Q1001": "Ada Quill"}) == {"Q1001": 10000}
    assert slept == [11]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ((404, {"Content-Type": "text/html"}, b"<h1>Not found</h1>"), r"\(status 404, JSON is malformed"),
        ((200, {"Content-Type": "text/html"}, b"<h1>Hello</h1>"), r"\(status 200, JSON is malformed"),
        ((200, {}, b'{"items": [{"views": "many"}]}'), r"\(status 200, Expected `int`, got `str`"),
        ((400, {}, b"{}"), r"\(status 400\)"),
    ],
)
def test_a_reply_of_another_service_is_an_error(reply: Reply, problem: str, tmp_path: Path) -> None:
    counter = Counter()
    counter.instead = [reply]
    with counting(counter, tmp_path) as (views, _), pytest.raises(BuildError, match=problem):
        views.count({"Q1001": "Ada Quill"})


@pytest.mark.parametrize(("month", "span"), [("2019-10", "20191001/20191031"), ("2020-02", "20200201/20200229")])
def test_a_month_goes_to_its_last_day(month: str, span: str, tmp_path: Path) -> None:
    with (
        serving(lambda number, asked: (404, {}, b"{}")) as running,
        closing(open_service(tmp_path, "pageviews.warc.gz", "tests")) as service,
    ):
        ServiceViews(running.url, service, "de", month).count({"Q1": "AC/DC"})
    assert running.requests[0].path.endswith(f"/de.wikipedia/all-access/user/AC%2FDC/monthly/{span}")


@pytest.mark.parametrize("text", ["2019", "2019-13", "2019-1", "19-10", "october", "2019-1o", "2019-00"])
def test_an_invalid_month_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"--month {text}: a month is written as 2019-10"):
        read_month(text)


@pytest.mark.parametrize(("text", "month"), [("2015-07", (2015, 7)), ("2020-01", (2020, 1)), ("2020-12", (2020, 12))])
def test_a_month_is_read_as_its_year_and_its_number(text: str, month: tuple[int, int]) -> None:
    assert read_month(text) == month


def test_a_month_before_views_were_counted_is_refused() -> None:
    with pytest.raises(UsageError, match="--month 2015-06: page views are counted since 2015-07"):
        read_month("2015-06")


def test_backlinks_are_the_commonness_of_a_dataset(world: Dataset) -> None:
    titles = {"Q1": "Avon (river)", "Q2": "Avon (ship)", "Q3": "Avon (county)"}
    assert Backlinks(world).count(titles) == {"Q1": 50, "Q2": 5}


def test_backlinks_are_found_by_qid_before_title(tmp_path: Path) -> None:
    entities = [Entity("Avon", qid="Q1", commonness=9), Entity("Avon (ship)", commonness=4)]
    dataset = write_dataset(tmp_path / "avon", Card(name="avon"), entities, [], {"all": [SNIPPET]})
    assert Backlinks(dataset).count({"Q1": "Avon (ship)", "Q2": "Avon (ship)"}) == {"Q1": 9, "Q2": 4}


def test_a_dataset_without_commonness_has_no_backlinks(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "bare", Card(name="bare"), [Entity("Avon")], [], {"all": [SNIPPET]})
    with pytest.raises(UsageError, match="--backlinks bare: none of its entities has a commonness"):
        Backlinks(dataset)
