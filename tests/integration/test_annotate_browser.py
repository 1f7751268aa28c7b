"""The annotation form in a real browser, from the file that was written to the score of what it hands in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import ENTER, LEFT, RIGHT, Browser, chromium
from form_steps import CONTRAST, WIDEST, begin, downloaded

from shadowprobe import Card, Entity, EntitySpace, Snippet, open_dataset, write_dataset
from shadowprobe.cli import main
from shadowprobe.human_study.answer_keys import read_key
from shadowprobe.human_study.form import write_sample
from shadowprobe.human_study.shadowlink_sample import AnswerKey, KeyItem, draw_sample


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample of ten of `mini`."""
    path = tmp_path_factory.mktemp("study")
    write_sample(draw_sample(open_dataset("mini"), 10, 7), path)
    return path


@pytest.fixture(scope="module")
def key(study: Path) -> AnswerKey:
    read = read_key(study)
    assert isinstance(read, AnswerKey)
    return read


def right(item: KeyItem) -> int:
    """The number of the right answer."""
    return item.choices.index(item.gold) + 1


def test_ten_items_answered_by_two_people_are_scored(
    browser: Browser, study: Path, key: AnswerKey, capsys: pytest.CaptureFixture[str]
) -> None:
    begin(browser, study, "Ann")
    for place, item in enumerate(key.items):
        assert browser.text("#count") == f"{place} of 10 answered"
        assert tuple(browser.texts("#choices .title")[:2]) == item.choices
        assert browser.text("mark") in browser.text("#text")
        browser.click(f"#choices button:nth-child({right(item)})")
    assert browser.text("#done") == "All 10 texts are answered. Thank you!"
    browser.click("#finish")
    ann = downloaded(browser, "answers-Ann.json")

    # Bob by keys: all right but the first Top item, not sufficient to him, and the first Shadow item, wrong.
    begin(browser, study, "Bob")
    unsure = next(item for item in key.items if item.subset == "top")
    missed = next(item for item in key.items if item.subset == "shadow")
    for item in key.items:
        browser.press("3" if item is unsure else str(3 - right(item)) if item is missed else str(right(item)))
    browser.click("#finish")
    bob = downloaded(browser, "answers-Bob.json")
    assert (browser.console(), browser.requests()) == ([], [])

    with pytest.raises(SystemExit) as end:
        main(["annotate", "score", str(ann), str(bob), "--sample", str(study), "--json"])
    assert end.value.code == 0
    found = json.loads(capsys.readouterr().out)
    # Ann: 5 Top, 5 Shadow. Bob: 5 Top, 4 Shadow, 1 not sufficient. The same in 8 of 10; by chance 0.25 + 0.2 = 0.45.
    assert found["kappa"][0]["kappa"] == pytest.approx((0.8 - 0.45) / (1 - 0.45))
    assert found["sufficient"]["rate"] == 0.9
    rates = {
        row["annotator"]: (row["subsets"]["top"]["rate"], row["subsets"]["shadow"]["rate"])
        for row in found["annotators"]
    }
    assert rates == {"Ann": (1.0, 1.0), "Bob": (1.0, 0.8)}


def test_answers_outlast_the_page_and_can_be_changed(browser: Browser, study: Path) -> None:
    begin(browser, study, "Cleo")
    browser.press("1", "2")
    begin(browser, study, "Cleo")
    assert browser.text("#count") == "2 of 10 answered"
    assert browser.text("#place") == "Text 3 of 10"
    browser.press(LEFT)
    assert browser.script("return document.querySelector('#choices [aria-pressed=true] kbd').textContent") == "2"
    browser.press("3", LEFT)
    assert browser.script("return document.querySelector('#choices [aria-pressed=true] kbd').textContent") == "3"
    assert browser.text("#count") == "2 of 10 answered"


def test_who_comes_second_does_not_see_the_answers_of_the_first(browser: Browser, study: Path) -> None:
    begin(browser, study, "First")
    browser.press("1", "1")
    begin(browser, study, "Second")
    assert browser.text("#count") == "0 of 10 answered"


def test_the_end_leads_to_what_has_no_answer_yet(browser: Browser, study: Path) -> None:
    begin(browser, study, "Dora")
    browser.press("1", RIGHT, *"11111111")
    assert browser.text("#done") == "1 of 10 texts have no answer yet."
    browser.press("1", RIGHT)
    assert browser.text("#count") == "9 of 10 answered"
    browser.click("#unanswered")
    assert browser.text("#place") == "Text 2 of 10"


def test_part_of_the_answers_can_be_handed_in(browser: Browser, study: Path, key: AnswerKey) -> None:
    begin(browser, study, "Zoë / 🎉")
    browser.press(RIGHT, "2")
    browser.click("#download")
    found = json.loads(downloaded(browser, "answers-Zoë-.json").read_text(encoding="utf-8"))
    assert found == {"schema": 1, "sample": key.sample, "annotator": "Zoë / 🎉", "answers": [{"item": 2, "choice": 2}]}


def test_one_enter_and_one_held_key_answer_one_text(browser: Browser, study: Path) -> None:
    begin(browser, study, "Fay")
    browser.script("document.querySelector('#choices button').focus()")
    browser.press(ENTER, ENTER)
    assert browser.text("#count") == "1 of 10 answered"
    assert browser.script("return document.activeElement.id") == "text"
    browser.script("document.dispatchEvent(new KeyboardEvent('keydown', {key: '1', repeat: true}))")
    assert browser.text("#count") == "1 of 10 answered"
    browser.script("document.dispatchEvent(new KeyboardEvent('keydown', {key: '1', ctrlKey: true}))")
    assert browser.text("#count") == "1 of 10 answered"


def test_a_browser_that_keeps_nothing_says_so(browser: Browser, study: Path) -> None:
    begin(browser, study, "Gus")
    browser.script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    browser.press("1")
    assert browser.text("#trouble").startswith("This browser does not keep your answers")
    assert browser.text("#count") == "1 of 10 answered"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_form_can_be_read_in_both_schemes_and_on_a_phone(browser: Browser, study: Path, scheme: str) -> None:
    browser.scheme(scheme)
    browser.size(360, 740)
    try:
        begin(browser, study, f"Hal in the {scheme}")
        browser.press("1", LEFT)
        assert browser.script(f"return {WIDEST}") <= 360
        for part in (
            "#text",
            "mark",
            "#place",
            "#choices .title",
            "#choices .description",
            "#choices kbd",
            "#download",
        ):
            assert browser.script(CONTRAST, part) >= 4.5, part
        dark = browser.script("return getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        assert dark == (scheme == "dark")
    finally:
        browser.scheme("light")
        browser.size(1200, 900)


def test_markup_and_marks_of_direction_are_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    text = "<img src=x onerror=document.title='run'></script><script>document.title='run'</script> Ace \u202e<b>&amp;"
    titles = ("<i>Ace</i>", "Ace (\u05d0\u05d1 ship)")
    start = text.index("Ace")
    snippets = [
        Snippet(f"{subset}1", subset, text, start, start + 3, space="Ace", gold=gold)  # type: ignore[arg-type]
        for subset, gold in zip(("top", "shadow"), titles, strict=True)
    ]
    entities = [Entity(title, description="<script>document.title='run'</script>") for title in titles]
    hostile = write_dataset(
        tmp_path / "data",
        Card(name="hostile"),
        entities,
        [EntitySpace("Ace", titles)],
        {"top": snippets[:1], "shadow": snippets[1:]},
    )
    write_sample(draw_sample(hostile, 2, 7, "<script>document.title='run'</script>"), tmp_path / "study")
    begin(browser, tmp_path / "study", "<b>Ivy</b>")
    assert browser.script("return document.querySelector('#text').textContent") == text
    assert set(browser.texts("#choices .title")[:2]) == set(titles)
    assert browser.texts("h1") == ["<script>document.title='run'</script>"]
    assert browser.script("return document.title") != "run"
    assert browser.script("return document.querySelectorAll('main img, main script, main b, main i').length") == 0
    assert (browser.console(), browser.requests()) == ([], [])
