"""The forms of the user studies of AmbER and AmbigDocs in a real browser, from the file to the score."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CONTROL, ENTER, ESCAPE, LEFT, RIGHT, SHIFT, TAB, Browser, chromium
from form_steps import CONTRAST, WIDEST, begin, downloaded
from measured_runs import SAID, write_answers
from namesake_sets import ambig_set, write_sets
from retrieval_world import amber_set, entity, write_documents
from retrieval_world import write_sets as write_amber_sets
from study_world import question, write_trio

from shadowprobe.cli import main
from shadowprobe.human_study.amber_sample import AmberItem, AmberKey, draw_amber_sample
from shadowprobe.human_study.ambigdocs_sample import CATEGORIES, AmbigdocsKey, draw_ambigdocs_sample
from shadowprobe.human_study.answer_keys import read_key
from shadowprobe.human_study.form import write_sample
from shadowprobe.queries.collection import open_collection
from shadowprobe.queries.query import Document
from shadowprobe.running.finished import read_runs

HOSTILE = "<img src=x onerror=document.title='run'></script><script>document.title='run'</script> \u202e<b>&amp;"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def amber(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The five questions about namesakes."""
    path = tmp_path_factory.mktemp("amber")
    write_sample(draw_amber_sample(write_trio(path / "trio")), path / "study")
    return path / "study"


@pytest.fixture(scope="module")
def ambigdocs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three outputs of a language model."""
    path = tmp_path_factory.mktemp("ambigdocs")
    sets = write_sets(path / "sets.json")
    (run,) = read_runs([write_answers(path / "toy", sets, SAID)])
    write_sample(draw_ambigdocs_sample(run, sets), path / "study")
    return path / "study"


def amber_items(study: Path) -> tuple[AmberItem, ...]:
    key = read_key(study)
    assert isinstance(key, AmberKey)
    return key.items


def select(browser: Browser, text: str) -> None:
    """Selects words in the document with keys alone: the cursor goes there, and Shift takes them.

    One press of an arrow steps over an emoji, which the browser counts as two.
    """
    before, _, _ = str(browser.script("return document.querySelector('#document').value")).partition(text)
    browser.press(*[RIGHT] * len(before))
    browser.press(*[RIGHT] * len(text), held=SHIFT)
    wait_for_mark(browser, text)


def wait_for_mark(browser: Browser, text: str) -> None:
    """Waits until the form says that these words are marked; a selection causes several events."""
    browser.wait(f"document.querySelector('#marked mark')?.textContent === {json.dumps(text)}")


def scored(capsys: pytest.CaptureFixture[str], study: Path, *answers: Path) -> Any:
    with pytest.raises(SystemExit) as end:
        main(["annotate", "score", *map(str, answers), "--sample", str(study), "--json"])
    assert end.value.code == 0
    return json.loads(capsys.readouterr().out)


def test_documents_are_chosen_and_answers_marked_with_keys_alone(
    browser: Browser, amber: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = amber_items(amber)
    begin(browser, amber, "Ann")
    for place, item in enumerate(items):
        assert browser.text("#text") == item.question
        assert browser.text("#place") == f"Question {place + 1} of 5"
        assert browser.texts("#choices .title") == [document.title for document in item.documents]
        assert browser.texts("#choices .description") == [document.text for document in item.documents]
        browser.press(str(item.gold))
        assert browser.text("#document-title") == item.documents[item.gold - 1].title
        assert browser.text("#count") == f"{place} of 5 answered"
        # Nothing is marked yet, so that Enter does not go on.
        browser.press(ENTER)
        assert browser.text("#marked") == "Nothing is marked yet."
        select(browser, item.answers[0])
        assert browser.text("#count") == f"{place + 1} of 5 answered"
        browser.press(ENTER)
    assert browser.text("#done") == "All 5 questions are answered. Thank you!"
    browser.click("#finish")
    found = scored(capsys, amber, downloaded(browser, "answers-Ann.json"))
    assert (browser.console(), browser.requests()) == ([], [])
    (ann,) = found["scores"]
    assert (ann["documents"]["all"]["hits"], ann["exact"]["all"]["hits"], ann["lacking"]) == (5, 5, 0)


def test_the_mouse_marks_a_word_and_a_click_does_not_lose_it(browser: Browser, amber: Path) -> None:
    begin(browser, amber, "Bob")
    browser.click("#choices button:nth-child(1)")
    text = amber_items(amber)[0].documents[0].text
    twice = [("down", 22, 20), ("up", 22, 20)] * 2
    browser.point("#document", *twice)
    # A double click takes the space behind the word on some systems; it is left out.
    word = text.split()[0]
    wait_for_mark(browser, word)
    browser.point("#document", ("down", 150, 20), ("up", 150, 20))
    assert browser.text("#marked mark") == word
    browser.point("#document", ("down", 14, 20), ("move", 60, 20), ("move", 120, 20), ("up", 120, 20))
    browser.wait(f"document.querySelector('#marked mark').textContent !== {json.dumps(word)}")
    (dragged,) = browser.texts("#marked mark")
    assert text.startswith(dragged)
    browser.click("#next")
    assert browser.text("#count") == "1 of 5 answered"


def test_a_finger_marks_a_word(browser: Browser, amber: Path) -> None:
    browser.size(360, 740)
    try:
        begin(browser, amber, "Cleo")
        browser.click("#choices button:nth-child(1)")
        browser.point("#document", *[("down", 22, 20), ("up", 22, 20)] * 2, kind="touch")
        wait_for_mark(browser, amber_items(amber)[0].documents[0].text.split()[0])
    finally:
        browser.size(1200, 900)


def test_another_document_loses_the_mark_and_the_same_one_keeps_it(browser: Browser, amber: Path) -> None:
    begin(browser, amber, "Dora")
    browser.press("2")
    browser.press(RIGHT, held=CONTROL + SHIFT)
    marked = amber_items(amber)[0].documents[1].text.split()[0]
    wait_for_mark(browser, marked)
    browser.press(ESCAPE)
    assert browser.script("return document.querySelector('#choices [aria-pressed=true] kbd').textContent") == "2"
    browser.press("2")
    assert browser.text("#marked mark") == marked
    browser.click("#another")
    browser.press("3")
    assert browser.text("#marked") == "Nothing is marked yet."
    assert browser.text("#count") == "0 of 5 answered"


def test_what_is_marked_outlasts_the_page_and_is_shown_again(browser: Browser, amber: Path) -> None:
    begin(browser, amber, "Eve")
    item = amber_items(amber)[0]
    browser.press(str(item.gold))
    select(browser, item.answers[0])
    begin(browser, amber, "Eve")
    assert browser.text("#place") == "Question 2 of 5"
    browser.press(LEFT)
    assert browser.text("#marked mark") == item.answers[0]
    field = "const { value, selectionStart, selectionEnd } = document.querySelector('#document');"
    assert browser.script(f"{field} return value.slice(selectionStart, selectionEnd)") == item.answers[0]


def test_half_an_answer_can_be_handed_in_and_is_not_counted_as_one(
    browser: Browser, amber: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = amber_items(amber)
    begin(browser, amber, "Fay")
    browser.press(str(items[0].gold))
    browser.click("#next")
    browser.press(str(items[1].gold))
    browser.click("#nothing")
    assert (browser.text("#place"), browser.text("#count")) == ("Question 3 of 5", "1 of 5 answered")
    browser.press(RIGHT, RIGHT, RIGHT)
    assert browser.text("#done") == "4 of 5 questions have no answer yet."
    browser.click("#unanswered")
    assert browser.text("#place") == "Question 1 of 5"
    browser.press(TAB)
    browser.click("#download")
    path = downloaded(browser, "answers-Fay.json")
    assert json.loads(path.read_text())["answers"] == [
        {"item": 1, "choice": items[0].gold},
        {"item": 2, "choice": items[1].gold, "start": 0, "end": 0, "text": ""},
    ]
    with pytest.raises(SystemExit) as end:
        main(["annotate", "score", str(path), "--sample", str(amber), "--json"])
    (fay,) = json.loads(capsys.readouterr().out)["scores"]
    assert (end.value.code, fay["documents"]["all"]["hits"], fay["exact"]["all"]["hits"], fay["lacking"]) == (
        1,
        2,
        0,
        2,
    )


def test_the_document_cannot_be_changed_and_keys_inside_it_choose_nothing(browser: Browser, amber: Path) -> None:
    begin(browser, amber, "Gus")
    browser.press("1")
    text = browser.script("return document.querySelector('#document').value")
    browser.press("3", "x", "\ue003", "\ue017", RIGHT)
    browser.press("a", "x", "v", held=CONTROL)
    assert browser.script("return document.querySelector('#document').value") == text
    assert browser.text("#place") == "Question 1 of 5"
    assert browser.script("return document.activeElement.id") == "document"


def test_places_behind_an_emoji_and_a_line_break_are_those_of_the_key(browser: Browser, amber: Path) -> None:
    places = {item.id: (place, item) for place, item in enumerate(amber_items(amber))}
    for query, text in (("p1", "poët"), ("t3", "old harbour")):
        place, item = places[query]
        begin(browser, amber, f"Hal {query}")
        browser.press(*[RIGHT] * place, str(item.gold))
        select(browser, text)
        browser.click("#download")
        (answer,) = json.loads(downloaded(browser, f"answers-Hal-{query}.json").read_text())["answers"]
        assert item.documents[item.gold - 1].text[answer["start"] : answer["end"]] == answer["text"] == text


def test_five_kinds_of_answers_are_given_by_click_and_by_key(
    browser: Browser, ambigdocs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = read_key(ambigdocs)
    assert isinstance(key, AmbigdocsKey)
    begin(browser, ambigdocs, "Lee")
    for place, item in enumerate(key.items):
        assert browser.text("#place") == f"Output {place + 1} of 3"
        assert (browser.text("#text"), browser.text("#output-text")) == (item.question, item.output)
        assert browser.texts(".document > .title") == [document.title for document in item.documents]
        assert browser.texts(".document mark") == [answer for one in item.documents for answer in one.answers]
        assert not browser.script("return document.querySelector('.document details').open")
        browser.click(".document summary")
        assert browser.text(".document details p") == item.documents[0].text
        browser.click(f"#choices button:nth-child({CATEGORIES.index(item.automatic) + 1})")
    assert browser.text("#done") == "All 3 outputs are answered. Thank you!"
    browser.click("#finish")
    lee = downloaded(browser, "answers-Lee.json")
    # Max by keys: 6 is no kind of answer.
    begin(browser, ambigdocs, "Max")
    browser.press("6", "5", "5", "5")
    browser.click("#finish")
    found = scored(capsys, ambigdocs, lee, downloaded(browser, "answers-Max.json"))
    assert (browser.console(), browser.requests()) == ([], [])
    # One of the three is merged: the same in one of three, as by chance.
    assert (found["people"][0]["observed"], found["people"][0]["kappa"]) == (pytest.approx(1 / 3), 0)
    assert found["automatic"][0]["kappa"] == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_forms_can_be_read_in_both_schemes_and_on_a_phone(
    browser: Browser, amber: Path, ambigdocs: Path, scheme: str
) -> None:
    browser.scheme(scheme)
    browser.size(360, 740)
    try:
        begin(browser, ambigdocs, f"Ivy in the {scheme}")
        browser.click("summary")
        _check_page(
            browser,
            ".document .title",
            ".document mark",
            "summary",
            "details p",
            "#output-text",
            "#choices .description",
        )
        begin(browser, amber, f"Ivy in the {scheme}")
        _check_page(browser, "#text", "#choices .title", "#choices .description")
        browser.press("1")
        browser.press(RIGHT, held=CONTROL + SHIFT)
        _check_page(browser, "#document", "#marked", "#marked mark", "#how", "#another", "#nothing", "#next")
        # The whole of a short document is in sight.
        assert browser.script(
            "const one = document.querySelector('#document'); return one.scrollHeight <= one.clientHeight"
        )
    finally:
        browser.scheme("light")
        browser.size(1200, 900)


def _check_page(browser: Browser, *parts: str) -> None:
    assert browser.script(f"return {WIDEST}") <= 360
    for part in parts:
        assert browser.script(CONTRAST, part) >= 4.5, part


def test_markup_in_documents_and_outputs_is_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    pages = [Document(f"d{n}", HOSTILE, f"{n} {HOSTILE}") for n in (1, 2, 3)]
    write_documents(tmp_path / "hostile" / "documents.jsonl", pages)
    asked = [question("q1", HOSTILE, ["1"], "d1")]
    sets = [amber_set(HOSTILE, entity(asked, "d1", head=True), entity([], "d2"), entity([], "d3"))]
    write_amber_sets(tmp_path / "hostile" / "amber" / "human" / "qa" / "amber_sets.jsonl", sets)
    write_sample(draw_amber_sample(open_collection(str(tmp_path / "hostile")), name=HOSTILE), tmp_path / "amber")
    begin(browser, tmp_path / "amber", "Jo")
    assert browser.script("return document.querySelector('#text').textContent") == HOSTILE
    assert browser.texts("#choices .title") == [HOSTILE] * 3
    browser.press("2")
    assert HOSTILE in browser.script("return document.querySelector('#document').value")
    browser.press("a", held=CONTROL)
    browser.wait("document.querySelector('#marked mark')")
    _check_hostile(browser)

    hostile = ambig_set("x", "Ace", (HOSTILE, HOSTILE), ("Ace (ship)", "oak"), question=HOSTILE)
    path = write_sets(tmp_path / "sets.json", hostile)
    (run,) = read_runs([write_answers(tmp_path / "toy", path, {"x": HOSTILE})])
    write_sample(draw_ambigdocs_sample(run, path), tmp_path / "ambigdocs")
    begin(browser, tmp_path / "ambigdocs", "Jo")
    assert browser.script("return document.querySelector('#output-text').textContent") == HOSTILE
    assert browser.texts(".document mark") == [HOSTILE, "oak"]
    _check_hostile(browser)


def _check_hostile(browser: Browser) -> None:
    assert browser.script("return document.title") != "run"
    assert browser.script("return document.querySelectorAll('main img, main script, main b, main i').length") == 0
    assert (browser.console(), browser.requests()) == ([], [])


def test_an_empty_output_says_so_and_a_long_document_is_cut_in_the_choice(browser: Browser, tmp_path: Path) -> None:
    path = write_sets(tmp_path / "sets.json")
    (run,) = read_runs([write_answers(tmp_path / "toy", path, {"avon": ""})])
    write_sample(draw_ambigdocs_sample(run, path), tmp_path / "empty")
    begin(browser, tmp_path / "empty", "Kim")
    assert browser.text("#output-text") == "(nothing)"

    trio = write_trio(tmp_path / "trio")
    trio.path.write_text(trio.path.read_text().replace("a judge.", "a judge." + " Word." * 2000))
    write_sample(draw_amber_sample(trio), tmp_path / "long")
    items = amber_items(tmp_path / "long")
    place, item = next((n, item) for n, item in enumerate(items) if item.name == "Ada Reed")
    number = next(n for n, document in enumerate(item.documents, 1) if document.id == "ada-judge")
    begin(browser, tmp_path / "long", "Kim")
    browser.press(*[RIGHT] * place)
    assert browser.script(f"return document.querySelector('#choices button:nth-child({number})').clientHeight") < 800
    browser.press(str(number))
    assert len(browser.script("return document.querySelector('#document').value")) > 12_000
    assert browser.script("return document.querySelector('#next').getBoundingClientRect().bottom") < 1400
