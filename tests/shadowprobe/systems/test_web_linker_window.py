"""Many requests side by side: none waits for a slow one, and none pauses for another's failure without need."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from asking import Named, marked
from service import Asked, Reply, Service, serving

from shadowprobe import Dataset, Failure, Prediction, Snippet
from shadowprobe.cli import main
from shadowprobe.running.api import make_linking_job
from shadowprobe.systems import service_client as web

Given = Prediction | Failure
COUNT, PATIENCE = 60, 30.0
SNIPPETS = [marked(f"Number {n} on the [Avon].", str(n)) for n in range(COUNT)]


def answer_at_once(_: int, __: Asked) -> Reply:
    return 200, {}, b"Avon (river)"


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(answer_at_once) as running:
        yield running


@pytest.fixture
def linker(service: Service, world: Dataset) -> Iterator[Named]:
    made = Named(service.url, concurrency=4)
    made.open(world.knowledge)
    yield made
    made.close()


def take(parts: Iterator[list[Given]], count: int) -> list[Given]:
    """The first answers that arrive."""
    answers: list[Given] = []
    while len(answers) < count:
        answers += next(parts)
    return answers


def test_a_slow_answer_holds_up_no_other(service: Service, linker: Named) -> None:
    released = threading.Event()

    def hold_the_first(number: int, asked: Asked) -> Reply:
        if "Number 0 " in asked.json["text"]:
            assert released.wait(PATIENCE)
        return answer_at_once(number, asked)

    service.behaviour = hold_the_first
    parts = linker.link_each(SNIPPETS)
    early = take(parts, COUNT - 1)
    assert "0" not in {answer.id for answer in early}
    released.set()
    assert [answer.id for part in parts for answer in part] == ["0"]


def test_no_more_requests_are_under_way_than_concurrency_allows(service: Service, linker: Named) -> None:
    assert len(take(linker.link_each(SNIPPETS), COUNT)) == COUNT
    assert service.most_at_once <= 4


def test_answers_are_on_disk_as_soon_as_they_arrive(service: Service, world: Dataset, tmp_path: Path) -> None:
    stored = tmp_path / "run" / "predictions.jsonl"
    lines_seen = []

    def wait_for_the_others(number: int, asked: Asked) -> Reply:
        if number == 1:
            end = time.monotonic() + PATIENCE
            while stored.read_bytes().count(b"\n") < world.count() - 1 and time.monotonic() < end:
                time.sleep(0.005)
            lines_seen.append(stored.read_bytes().count(b"\n"))
        return answer_at_once(number, asked)

    service.behaviour = wait_for_the_others
    outcome = make_linking_job(Named(service.url), world, out=tmp_path / "run").run().outcome
    assert (outcome.answered, outcome.repeated, lines_seen) == (world.count(), 0, [world.count() - 1])


def test_one_failure_pauses_its_own_request_only(
    service: Service, linker: Named, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "FIRST_PAUSE", PATIENCE)
    service.behaviour = lambda number, asked: (503, {}, b"") if number == 1 else answer_at_once(number, asked)
    parts = linker.link_each(SNIPPETS)
    early = take(parts, COUNT - 1)
    # The failed request still waits: each of the others was sent once, and all are answered.
    assert (len(early), len(service.requests)) == (COUNT - 1, COUNT)
    assert linker.status == "1 retry, last after 503 Service Unavailable"
    # Whoever stops here does not wait for the end of the pause.
    assert isinstance(parts, Generator)
    parts.close()


@pytest.mark.parametrize(
    ("status", "headers", "failures"),
    [(429, {}, 1), (503, {"Retry-After": "1"}, 1), (503, {}, web.IN_TROUBLE)],
)
def test_all_requests_pause_for_a_service_that_is_in_trouble(
    service: Service,
    linker: Named,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    headers: dict[str, str],
    failures: int,
) -> None:
    monkeypatch.setattr(web, "FIRST_PAUSE", 1.0)

    def fail_at_first(number: int, asked: Asked) -> Reply:
        # The first requests fail together, before any of the others is answered.
        return (status, headers, b"") if number <= failures else answer_at_once(number, asked)

    service.behaviour = fail_at_first
    assert len(take(linker.link_each(SNIPPETS), COUNT)) == COUNT
    moments = sorted(asked.moment for asked in service.requests)
    gap, sent_before = max((later - earlier, n) for n, (earlier, later) in enumerate(pairwise(moments), start=1))
    # The pause is at least half of the first one, and most requests wait for its end.
    assert gap >= 0.4
    assert sent_before < COUNT / 2


def test_a_run_says_how_often_it_asked_again(
    service: Service, world: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "named.py"
    plugin.write_text(
        "from shadowprobe import Request, WebLinker\n"
        "class Named(WebLinker):\n"
        "    name = 'named'\n"
        "    def request(self, snippet):\n"
        "        return Request('POST', self.url, json={'text': snippet.text})\n"
        "    def parse(self, response, snippet):\n"
        "        return self.answer(snippet, response.text)\n"
    )
    service.behaviour = lambda number, asked: (502, {}, b"") if number in {2, 9} else answer_at_once(number, asked)
    arguments = ["--linker", f"{plugin}:Named", "-o", f"url={service.url}", "--dataset", str(world.path)]
    with pytest.raises(SystemExit) as end:
        main(["run", *arguments, "--out", str(tmp_path / "run")])
    assert end.value.code in {0, None}
    assert "; 2 retries, last after 502 Bad Gateway. Written to " in capsys.readouterr().err


def test_a_wrapper_with_its_own_link_still_sees_every_snippet(service: Service, world: Dataset, tmp_path: Path) -> None:
    class Counting(Named):
        """Counts the snippets that it is given."""

        seen = 0

        def link(self, snippets: list[Snippet]) -> list[Given]:
            self.seen += len(snippets)
            return list(super().link(snippets))

    linker = Counting(service.url)
    make_linking_job(linker, world, out=tmp_path / "run").run()
    assert linker.seen == world.count()
