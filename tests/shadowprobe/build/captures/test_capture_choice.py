"""Which of several captures of a page is taken."""

from __future__ import annotations

from shadowprobe.build.captures.capture_choice import Capture, WantedPages

ONE, OTHER = "https://example.org/page", "http://www.example.org/page/"
KEY = "org,example)/page"


def capture(url: str = ONE, moment: int = 5, filename: str = "b.warc.gz", offset: int = 3) -> Capture:
    return Capture(url, KEY, moment, filename, offset, 9)


def choose(*captures: Capture, urls: tuple[str, ...] = (ONE,)) -> list[tuple[str, Capture]]:
    """The choice, which does not depend on the order of the captures."""
    chosen = []
    for order in (captures, captures[::-1]):
        wanted = WantedPages(urls)
        wanted.offer(order)
        chosen.append(list(wanted.choose()))
    assert chosen[0] == chosen[1]
    return chosen[0]


def test_the_same_url_then_the_newest_then_the_place_decide() -> None:
    assert choose(capture(OTHER, 9), capture()) == [(ONE, capture())]
    assert choose(capture(moment=6), capture()) == [(ONE, capture(moment=6))]
    assert choose(capture(filename="c.warc.gz"), capture()) == [(ONE, capture(filename="c.warc.gz"))]
    assert choose(capture(offset=4), capture()) == [(ONE, capture(offset=4))]


def test_a_capture_may_be_that_of_several_spellings() -> None:
    assert choose(capture(OTHER), urls=(ONE, OTHER)) == [(OTHER, capture(OTHER)), (ONE, capture(OTHER))]


def test_captures_come_in_the_order_of_their_files() -> None:
    urls = tuple(f"https://example.org/{name}" for name in "abc")
    captures = [
        Capture(url, f"org,example)/{url[-1]}", 1, filename, offset, 9)
        for url, filename, offset in zip(urls, ("y", "x", "x"), (1, 8, 7), strict=True)
    ]
    assert [url for url, _ in choose(*captures, urls=urls)] == [urls[2], urls[1], urls[0]]


def test_the_time_is_written_in_seconds() -> None:
    # A day and a second, and almost another one.
    assert capture(moment=86_401_999_999).time == "1970-01-02T00:00:01Z"
