from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import complaint, outcome
from service import Asked, Reply, serving
from world import write_world

from shadowprobe import Prediction, Request, Snippet, WebLinker
from shadowprobe.base.jsonl import read_lines
from shadowprobe.running.api import make_linking_job

ECHO = """
from shadowprobe import Request, WebLinker


class Echo(WebLinker):
    name = "echo"

    def request(self, snippet):
        return Request("POST", self.url, json={"text": snippet.text}, headers={"X-Key": "k"})

    def parse(self, response, snippet):
        return self.answer(snippet, response.json()["FIELD"])
"""


class Echo(WebLinker):
    name = "echo"

    def request(self, snippet: Snippet) -> Request:
        return Request("POST", self.url, json={"text": snippet.text}, headers={"Authorization": self.token})

    def parse(self, response: object, snippet: Snippet) -> Prediction:
        return self.answer(snippet, response.json()["title"])  # type: ignore[attr-defined]


def both_names(number: int, asked: Asked) -> Reply:
    return 200, {"Content-Type": "application/json"}, json.dumps({"title": "Jordan", "name": "Michael Jordan"}).encode()


def echo(path: Path, field: str) -> str:
    path.write_text(ECHO.replace("FIELD", field))
    return f"{path}:Echo"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    return tmp_path


def answers(run: Path) -> set[str | None]:
    return {prediction.answer for _, prediction in read_lines(run / "predictions.jsonl", Prediction)}


def test_kept_replies_are_parsed_again_by_a_better_wrapper_and_the_service_is_not_asked(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(both_names) as service:
        first = echo(here / "first.py", "title")
        run = ["run", "-l", first, "-d", "world", "-o", f"url={service.url}", "--keep-replies", "--out", "first"]
        assert outcome(capsys, *run)[0] == 0
        asked = len(service.requests)
    better = echo(here / "better.py", "name")
    code, _, err = outcome(capsys, "run", "-l", better, "-d", "world", "--from-replies", "first", "--out", "second")
    assert code == 0, err
    assert asked > 0
    assert answers(here / "first") == {"Jordan"}
    assert answers(here / "second") == {"Michael Jordan"}
    results = json.loads((here / "second" / "results.json").read_text())
    assert results["notes"] == [f"answers were read from replies that {service.url} gave to an earlier run"]
    # Who said it, and not whom a new run would ask.
    assert results["linker"]["options"]["url"] == service.url


def test_a_reply_that_the_wrapper_could_not_read_is_kept_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(lambda number, asked: (200, {}, b"\xff<html>")) as service:
        wrapper = echo(here / "first.py", "title")
        outcome(capsys, "run", "-l", wrapper, "-d", "world", "-o", f"url={service.url}", "--keep-replies", "--out", "r")
    kept = [json.loads(line) for line in (here / "r" / "replies.jsonl").read_text().splitlines()]
    assert {line["base64"] for line in kept} == {"/zxodG1sPg=="}


def test_a_token_that_the_service_repeats_is_not_in_the_kept_reply(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADOWPROBE_ECHO_TOKEN", "s3cret-t0ken")

    def tells(number: int, asked: Asked) -> Reply:
        return 200, {}, json.dumps({"title": "Jordan", "you": asked.headers["authorization"]}).encode()

    with serving(tells) as service:
        job = make_linking_job(Echo(url=service.url), "world", out=here / "r", keep_replies=True)
        job.run()
        assert service.requests[0].headers["authorization"] == "s3cret-t0ken"
    kept = (here / "r" / "replies.jsonl").read_text()
    assert "s3cret" not in kept
    assert '\\"you\\": \\"***\\"' in kept


def test_a_line_torn_by_a_kill_is_dropped_and_the_file_goes_on(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrapper = echo(here / "first.py", "title")
    with serving(both_names) as service:
        run = ["run", "-l", wrapper, "-d", "world", "-o", f"url={service.url}", "--keep-replies", "--out", "r"]
        outcome(capsys, *run)
        replies = here / "r" / "replies.jsonl"
        whole = replies.read_bytes()
        replies.write_bytes(whole[:-9])
        # As after a kill: the answers of a batch are not there yet.
        (here / "r" / "predictions.jsonl").write_bytes(b"")
        outcome(capsys, *run)
    lines = replies.read_bytes().splitlines()
    assert len(lines) == 2 * len(whole.splitlines()) - 1
    assert all(json.loads(line)["id"] for line in lines)


def test_a_line_torn_by_a_kill_does_not_keep_the_others_from_being_read(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrapper = echo(here / "first.py", "title")
    with serving(both_names) as service:
        outcome(capsys, "run", "-l", wrapper, "-d", "world", "-o", f"url={service.url}", "--keep-replies", "--out", "r")
    replies = here / "r" / "replies.jsonl"
    replies.write_bytes(replies.read_bytes()[:-9])
    code, _, err = outcome(capsys, "run", "-l", wrapper, "-d", "world", "--from-replies", "r", "--out", "s")
    assert code == 1, err
    assert len((here / "s" / "failures.jsonl").read_text().splitlines()) == 1


def test_a_run_that_starts_afresh_keeps_its_own_replies_and_none_of_an_earlier_one(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrapper = echo(here / "first.py", "title")
    run = ["run", "-l", wrapper, "-d", "world", "--keep-replies", "--out", "r"]
    with serving(both_names) as service, serving(both_names) as other:
        assert outcome(capsys, *run, "-o", f"url={other.url}")[0] == 0
        assert outcome(capsys, *run, "-o", f"url={service.url}", "--force", "--limit", "1")[0] == 0
        kept = [json.loads(line) for line in (here / "r" / "replies.jsonl").read_text().splitlines()]
    assert len(kept) == len(service.requests) < len(other.requests)
    assert {line["url"] for line in kept} == {service.url}


def test_replies_that_are_parsed_again_in_their_own_directory_stay(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrapper = echo(here / "first.py", "title")
    with serving(both_names) as service:
        outcome(capsys, "run", "-l", wrapper, "-d", "world", "-o", f"url={service.url}", "--keep-replies", "--out", "r")
    before = (here / "r" / "replies.jsonl").read_bytes()
    better = echo(here / "better.py", "name")
    assert outcome(capsys, "run", "-l", better, "-d", "world", "--from-replies", "r", "--out", "r", "--force")[0] == 0
    assert (here / "r" / "replies.jsonl").read_bytes() == before
    assert answers(here / "r") == {"Michael Jordan"}


def test_a_reply_is_read_again_whatever_its_content_type_says(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrapper = echo(here / "first.py", "title")

    def oddly(number: int, asked: Asked) -> Reply:
        return 200, {"Content-Type": "application/json; by=M\xfcller"}, both_names(number, asked)[2]

    with serving(oddly) as service:
        run = ["run", "-l", wrapper, "-d", "world", "-o", f"url={service.url}", "--keep-replies", "--out", "r"]
        assert outcome(capsys, *run)[0] == 0
    code, _, err = outcome(capsys, "run", "-l", wrapper, "-d", "world", "--from-replies", "r", "--out", "s")
    assert code == 0, err


def test_a_snippet_without_a_kept_reply_fails_and_says_where_none_was_found(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrapper = echo(here / "first.py", "title")
    with serving(both_names) as service:
        run = ["run", "-l", wrapper, "-d", "world", "-o", f"url={service.url}", "--keep-replies", "--out", "r"]
        outcome(capsys, *run)
    replies = here / "r" / "replies.jsonl"
    replies.write_bytes(b"".join(replies.read_bytes().splitlines(keepends=True)[1:]))
    code, _, err = outcome(capsys, "run", "-l", wrapper, "-d", "world", "--from-replies", "r", "--out", "s")
    assert code == 1, err
    failures = (here / "s" / "failures.jsonl").read_text()
    assert "r has no reply to this snippet" in failures


def test_a_linker_that_is_no_service_has_no_replies_to_keep(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "run", "-l", "prior", "-d", "world", "--keep-replies")
    assert said == "--keep-replies: `prior` is no web service, and there are no replies"


def test_a_run_that_kept_no_replies_cannot_be_read_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "run", "-l", "rel", "-d", "world", "--from-replies", "world")
    assert said == "world/replies.jsonl: no such file: it is made by a run with --keep-replies"


def test_keeping_and_reading_at_once_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "run", "-l", "rel", "-d", "world", "--keep-replies", "--from-replies", "world")
    assert said.startswith("--keep-replies: with --from-replies no service is asked")


def test_replies_to_another_linker_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrapper = echo(here / "first.py", "title")
    with serving(both_names) as service:
        outcome(capsys, "run", "-l", wrapper, "-d", "world", "-o", f"url={service.url}", "--keep-replies", "--out", "r")
    said = complaint(capsys, "run", "-l", "rel", "-d", "world", "--from-replies", "r")
    assert said == "--from-replies: r has replies of `echo`, not of `rel`"


@pytest.mark.parametrize("is_password", [False, True])
@pytest.mark.parametrize(
    "echoed", ["s3cret-t0ken", "czNjcmV0LXQwa2Vu", "&#115;3cret-t0ken", "s3cret%252Dt0ken", r"\u0073\u0033cret-t0ken"]
)
def test_a_token_or_password_that_a_service_repeats_anywhere_is_in_no_file(
    here: Path, monkeypatch: pytest.MonkeyPatch, echoed: str, is_password: bool
) -> None:
    monkeypatch.setenv("SHADOWPROBE_ECHO_TOKEN", "another" if is_password else "s3cret-t0ken")

    def repeat(number: int, asked: Asked) -> Reply:
        headers = {"Content-Type": f"application/json; key={echoed}"}
        if number % 3 == 1:
            return 400, headers, echoed.encode()
        if number % 3 == 2:
            return 200, headers, f"no JSON {echoed}".encode()
        return 200, headers, f'{{"title": "Jordan {echoed}"}}'.encode()

    with serving(repeat) as service:
        url = service.url.replace("//", "//me:s3cret-t0ken@") if is_password else service.url
        make_linking_job(Echo(url=url), "world", out=here / "run", keep_replies=True).run()
    files = {path.name: path.read_text() for path in (here / "run").iterdir()}
    assert {"predictions.jsonl", "failures.jsonl", "replies.jsonl"} <= files.keys()
    for name, text in files.items():
        assert "t0ken" not in text, name
        assert echoed not in text, name
    assert "Jordan ***" in files["predictions.jsonl"]
    assert "key=***" in files["replies.jsonl"]
