"""Which bodies are answers of MediaWiki's API to a question."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from shadowprobe.build.wiki.responses import error_code, error_info, find_fault

PAGES = {"action": "query", "titles": "Avon", "prop": "info"}
GENERAL = {"lang": "en", "generator": "MediaWiki 1.39", "sitename": "Test"}


def fault(question: dict[str, str], answer: Any) -> str:
    return find_fault(question, json.dumps(answer).encode())


def test_pages_need_titles_and_with_ids_their_numbers() -> None:
    ids = {"action": "query", "pageids": "7"}
    assert fault(PAGES, {"query": {"pages": [{"title": "Avon"}]}}) == ""
    assert fault(PAGES, {"query": {"pages": [{"pageid": 7}]}}) == "a page without a title or number"
    assert fault(ids, {"query": {"pages": [{"pageid": 7, "title": "Avon"}]}}) == ""
    assert fault(ids, {"query": {"pages": [{"pageid": 7, "missing": True}]}}) == ""
    assert fault(ids, {"query": {"pages": [{"pageid": 7}]}}) == "a page without a title or number"
    assert fault(ids, {"query": {"pages": [{"title": "Avon"}]}}) == "a page without a title or number"


def test_an_answer_has_what_was_asked_for_unless_it_says_that_it_is_complete() -> None:
    listing = {"action": "query", "list": "categorymembers"}
    assert fault(PAGES, {"query": {}}) == fault(PAGES, {}) == "no `pages`"
    assert fault(listing, {"query": {}}) == "no `categorymembers`"
    assert fault({"action": "query", "meta": "wikibase"}, {"query": {}}) == "no `wikibase`"
    for complete in ({"batchcomplete": True}, {"continue": {"from": "B"}}):
        assert fault(listing, {"query": {}, **complete}) == ""
    assert fault(listing, {"query": {"categorymembers": [{"title": "Avon"}]}}) == ""
    assert "title" in fault(listing, {"query": {"categorymembers": [{"ns": 0}]}})


def test_everything_that_a_wiki_should_say_of_itself_must_be_there() -> None:
    question = {"action": "query", "meta": "siteinfo", "siprop": "general|statistics"}
    whole = {"general": GENERAL, "statistics": {"pages": 9}}
    assert fault(question, {"batchcomplete": True, "query": whole}) == ""
    assert fault(question, {"batchcomplete": True, "query": {"general": GENERAL}}) == "no `statistics`"
    assert "lang" in fault(question, {"query": {**whole, "general": {"sitename": "Test"}}})


def test_a_text_and_items_have_questions_of_their_own() -> None:
    assert fault({"action": "parse"}, {"parse": {"text": "x"}}) == ""
    assert fault({"action": "parse"}, {"query": {}}) == "no text of a page"
    assert (
        fault({"action": "wbgetentities"}, {"entities": {}})
        == fault({"action": "wbgetentities"}, {"entities": []})
        == ""
    )
    assert fault({"action": "wbgetentities"}, {"query": {}}) == "no `entities`"


def test_an_error_is_an_answer_to_every_question() -> None:
    assert fault({"action": "parse"}, {"error": {"code": "missingtitle"}}) == ""


def test_an_answer_that_goes_on_where_it_began_would_never_end() -> None:
    question = {**PAGES, "from": "B", "continue": "-||"}
    pages = {"query": {"pages": [{"title": "Avon"}]}}
    assert fault(question, {**pages, "continue": {"from": "B", "continue": "-||"}}) == "it goes on where it began"
    assert fault(question, {**pages, "continue": {"from": "C", "continue": "-||"}}) == ""
    assert fault({**PAGES, "from": "5"}, {**pages, "continue": {"from": 5}}) == "it goes on where it began"


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"query": []}', b'{"query": {"pages": {}}}', b"[" * 5000])
def test_what_has_another_shape_is_no_answer(body: bytes) -> None:
    assert find_fault(PAGES, body) != ""


def test_an_error_has_a_code_and_a_message_in_the_body_or_a_code_in_a_header() -> None:
    def respond(content: bytes, **headers: str) -> Any:
        return SimpleNamespace(
            content=content, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )

    refused = b'{"error": {"code": "maxlag", "info": "Waiting."}}'
    assert (error_code(respond(refused)), error_info(refused)) == ("maxlag", "Waiting.")
    assert (error_code(respond(b'{"query": {}}')), error_info(b'{"query": {}}')) == ("", "")
    assert error_code(respond(b"<html>", MediaWiki_API_Error="ratelimited")) == "ratelimited"
    assert (error_code(respond(b"<html>")), error_info(b"<html>")) == ("", "")
