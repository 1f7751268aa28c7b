"""The reports of retrievers and of language models in a real Chromium, over the files as they were written."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from browser import ENTER, ESCAPE, Browser
from measured_runs import READ, SAID, write_answers, write_questions_about_namesakes, write_retrieval
from namesake_sets import AVON, AVON_SAID, ambig_set, write_sets
from report_window import CONTRAST, choose, focused
from retrieval_world import ANSWERED, FOUND, SETS, write_collection
from retrieval_world import write_sets as write_amber_sets

from shadowprobe.reporting.html.page import write_report
from shadowprobe.running.finished import read_runs

pytestmark = pytest.mark.slow

MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"
HOSTILE = f"{MARKUP} &amp; \u202eright to left\u202c \N{CLAPPER BOARD} 50%"
LIST = "#list strong"


@pytest.fixture(scope="module")
def sets(place: Path) -> Path:
    """Two retrievers over the small world: one prefers the head, the other finds the tail too."""
    write_collection(place / "little")
    runs = [
        write_retrieval(place / "runs" / "confused", place / "little", {**FOUND, **ANSWERED}),
        write_retrieval(place / "runs" / "reader", place / "little", READ),
    ]
    return write_report(read_runs(runs), place / "sets.html", dataset=str(place / "little"))


@pytest.fixture(scope="module")
def alone(place: Path, sets: Path) -> Path:
    """The first of them by itself."""
    assert sets.exists()
    return write_report(read_runs([place / "runs" / "confused"]), place / "alone.html", dataset=str(place / "little"))


@pytest.fixture(scope="module")
def answers(place: Path) -> Path:
    """A model whose answers are partial, merged and complete, and one that says nothing and fails on one."""
    queries = write_questions_about_namesakes(place)
    runs = [
        write_answers(place / "runs" / "talker", queries, SAID),
        write_answers(place / "runs" / "mute", queries, {AVON.id: "I do not know."}),
    ]
    (runs[1] / "failures.jsonl").write_text('{"id": "como", "error": "time-out"}\n')
    return write_report(read_runs(runs), place / "answers.html", queries=queries)


@pytest.fixture(scope="module")
def hostile_sets(place: Path) -> Path:
    """Markup, script, marks of direction and emoji wherever sets, documents or rankings can have them."""
    collection = place / "hostile"
    write_collection(collection)
    one = json.loads(json.dumps(SETS[0]).replace("avon-ship", HOSTILE.replace('"', '\\"')))
    one["name"] = HOSTILE
    for entity in one["qids"].values():
        for query in entity["queries"]:
            query["input"] = f"Who is {HOSTILE}?"
            query["output"]["answer"] = [HOSTILE]
    write_amber_sets(collection / "amber" / "human" / "qa" / "amber_sets.jsonl", [one])
    found = {"a1": (HOSTILE, "avon-river-1"), "a2": (f"{HOSTILE} too", HOSTILE)}
    run = write_retrieval(place / "runs" / "bad", collection, found)
    return write_report(read_runs([run], names=[HOSTILE]), place / "hostile_sets.html", dataset=str(collection))


@pytest.fixture(scope="module")
def hostile_answers(place: Path) -> Path:
    """The same wherever questions, documents and answers can have them."""
    queries = write_sets(
        place / "hostile.json", ambig_set(HOSTILE, HOSTILE, (f"{HOSTILE} one", "1"), (f"{HOSTILE} two", HOSTILE))
    )
    run = write_answers(place / "runs" / "bad model", queries, {HOSTILE: f"It is {HOSTILE}."})
    return write_report(read_runs([run], names=[HOSTILE]), place / "hostile_answers.html", queries=queries)


def test_the_report_of_retrievers_opens_with_verdicts_figures_and_every_name(browser: Browser, sets: Path) -> None:
    browser.open(sets)
    assert browser.text("h1") == "confused, reader on little"
    verdicts = browser.texts(".verdict")
    assert [verdict.partition(" ")[0] for verdict in verdicts] == ["confused", "reader"]
    assert "head minus tail accuracy@1 is +30.0 points" in verdicts[0]
    pictures = browser.script("return [...document.images].map((one) => one.complete && one.naturalWidth > 100)")
    assert pictures == [True] * 5
    # They differ on all three queries of Avon, and on one of each other name: b1, c2 and d1.
    assert browser.texts(LIST) == ["Avon", "Berg", "Como", "Dale"]
    assert browser.text("#count") == "4 of 4 names"


def test_a_name_shows_its_entities_and_each_query_with_its_ranks(browser: Browser, sets: Path) -> None:
    browser.open(sets, "#name=Avon")
    assert browser.text("#detail h3") == "Avon"
    entities = browser.texts("#detail .spaces li")
    assert entities == ["avon-river (head), Q1, popularity 6", "avon-ship (tail), Q2, popularity 5"]
    groups = browser.script("return [...document.querySelectorAll('.context')].map((one) => one.dataset.group)")
    assert groups == ["head", "tail"]
    about = browser.text("[data-query=a2] th .quiet")
    assert about == "people, question answering · gold document: avon-ship · answer: it"
    cells = [cell.split("\n") for cell in (browser.text(f"[data-query=a2] td:nth-child({n})") for n in (2, 3))]
    assert cells == [
        ["namesake first", "gold at 2", "namesake at 1: avon-river"],
        ["right", "gold at 1", "namesake at 2: avon-river"],
    ]
    # What is neither gold nor a namesake's is told where it stands first.
    stranger = browser.text("[data-query=a1] td:nth-child(3)").split("\n")
    assert stranger == ["other document first", "gold at 2", "at 1: Elbe"]


def test_a_query_without_a_ranking_says_no_more(browser: Browser, alone: Path) -> None:
    browser.open(alone, "#name=Dale")
    assert browser.text("[data-query=d1] td") == "no ranking"
    assert browser.text("[data-query=d2] td").split("\n") == ["not found", "gold not found", "at 1: Elbe"]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"outcome": "namesake first"}, ["Avon", "Berg", "Como"]),
        ({"outcome": "namesake first", "about": "head"}, ["Berg"]),
        ({"outcome": "no ranking"}, ["Dale"]),
        ({"outcome": "right", "about": "tail"}, ["Berg"]),
        ({"task": "question answering", "collection": "people"}, ["Avon", "Berg", "Como", "Dale"]),
        # Of Avon two of three queries, of Berg and Como one of two, of Dale none.
        ({"order": "most confused first"}, ["Avon", "Berg", "Como", "Dale"]),
    ],
)
def test_filters_leave_the_names_that_have_such_a_query(
    browser: Browser, alone: Path, filters: dict[str, str], names: list[str]
) -> None:
    browser.open(alone)
    for field, words in filters.items():
        choose(browser, "group" if field == "about" else field, words)
    assert browser.texts(LIST) == names


def test_a_filter_narrows_the_queries_of_the_chosen_name_and_says_so(browser: Browser, alone: Path) -> None:
    browser.open(alone, "#name=Avon")
    assert len(browser.texts("#detail tbody tr")) == 3
    choose(browser, "outcome", "namesake first")
    assert browser.texts("#detail tbody th > bdi") == ["Who built Avon?", "What sort of ship was Avon?"]
    assert browser.text("#narrowed") == "The filters leave 2 of 3 queries."
    assert browser.text("#meaning") == "Namesake first: a document of a namesake stands above the gold one."


@pytest.mark.parametrize(
    ("text", "names"),
    [("SINGS", ["Berg"]), ("como-lake-b", ["Como"]), ("d2", ["Dale"]), ("nowhere", []), ("avon", ["Avon"])],
)
def test_text_is_looked_for_in_names_queries_documents_and_identifiers(
    browser: Browser, alone: Path, text: str, names: list[str]
) -> None:
    browser.open(alone)
    browser.keys("#text", text)
    assert browser.texts(LIST) == names


def test_the_outcome_can_be_that_of_one_system_and_only_where_they_differ(browser: Browser, sets: Path) -> None:
    browser.open(sets)
    choose(browser, "outcome", "other document first")
    assert browser.texts(LIST) == ["Avon"]
    choose(browser, "system", "confused")
    assert browser.texts(LIST) == []
    # b2 is right in both.
    browser.open(sets, "#name=Berg")
    browser.click("#differ")
    assert browser.texts("#detail tbody th > bdi") == ["Where is Berg?"]


def test_the_keyboard_alone_walks_through_the_names(browser: Browser, sets: Path) -> None:
    browser.open(sets)
    # The first name is open already.
    browser.press("j")
    assert (browser.text("#detail h3"), focused(browser)) == ("Berg", "Berg")
    assert browser.script("return location.hash") == "#name=Berg"
    browser.press(ENTER)
    assert focused(browser) == "detail"
    browser.press(ESCAPE)
    browser.press("k", "/")
    assert (browser.text("#detail h3"), focused(browser)) == ("Avon", "text")
    browser.press(*"como")
    assert browser.texts(LIST) == ["Como"]
    browser.press(ENTER)
    assert browser.text("#detail h3") == "Como"


def test_a_link_to_a_name_that_is_not_there_says_so(browser: Browser, sets: Path, answers: Path) -> None:
    for page in (sets, answers):
        browser.open(page, "#name=Nowhere%")
        assert browser.text("#detail h3") == "There is no name “Nowhere%” here"


def test_the_report_of_models_shows_question_documents_answers_and_category(browser: Browser, answers: Path) -> None:
    browser.open(answers, "#name=Avon")
    assert browser.text("h1") == "talker, mute on sets"
    assert browser.text(".verdict").startswith("talker gives every namesake its own answer to 33.3%")
    assert browser.text(".context .question") == AVON.question
    documents = browser.texts(".documents li > strong")
    assert documents == ["Avon (river)", "Avon (ship)"]
    assert browser.texts(".answers h5") == ["talker", "mute"]
    assert browser.texts(".answers .said") == [AVON_SAID, "I do not know."]
    assert browser.texts(".answers .outcome") == ["partial", "no answer"]
    assert browser.texts(".answers dd")[1] == "answers 50%, entities 100%, both 50%"
    browser.click(".documents summary")
    assert browser.text(".documents details p") == "All that is known of Avon (river)."


def test_a_set_without_an_answer_has_its_error(browser: Browser, answers: Path) -> None:
    browser.open(answers, "#name=Como")
    assert browser.texts(".answers > div:nth-child(2) p") == ["The model gave no answer."]
    assert browser.texts(".answers > div:nth-child(2) dd")[-1] == "time-out"


@pytest.mark.parametrize(
    ("category", "system", "names"),
    [
        ("partial", "any", ["Avon"]),
        ("merged", "talker", ["Berg"]),
        ("merged", "mute", []),
        ("no answer", "any", ["Avon", "Berg", "Como"]),
    ],
)
def test_answers_are_filtered_by_category(
    browser: Browser, answers: Path, category: str, system: str, names: list[str]
) -> None:
    browser.open(answers)
    choose(browser, "category", category)
    choose(browser, "system", system)
    assert browser.texts(LIST) == names


def test_markup_in_sets_documents_and_rankings_appears_as_text(browser: Browser, hostile_sets: Path) -> None:
    browser.open(hostile_sets, f"#name={quote(HOSTILE)}")
    assert browser.script("return document.querySelectorAll('img[src=x], #detail script').length") == 0
    assert browser.script("return document.querySelectorAll('script:not([type])').length") == 1
    assert browser.texts("#detail h3") == [HOSTILE]
    assert browser.texts("[data-query=a2] th > bdi") == [f"Who is {HOSTILE}?"]
    told = browser.texts("[data-query=a2] td .quiet")
    assert told == ["gold at 2", f"at 1: {HOSTILE} too"]
    assert browser.texts("[data-query=a1] td .quiet")[1] == f"namesake at 1: {HOSTILE}"


def test_markup_in_questions_and_answers_appears_as_text(browser: Browser, hostile_answers: Path) -> None:
    browser.open(hostile_answers, f"#name={quote(HOSTILE)}")
    assert browser.script("return document.querySelectorAll('img[src=x], #detail script').length") == 0
    assert browser.script("return document.querySelectorAll('script:not([type])').length") == 1
    assert browser.texts("#detail h3") == [HOSTILE]
    assert browser.texts(".said") == [f"It is {HOSTILE}."]
    assert browser.texts(".documents li > strong") == [f"{HOSTILE} one", f"{HOSTILE} two"]


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_all_text_stands_out_from_what_is_behind_it(
    browser: Browser, sets: Path, alone: Path, answers: Path, colours: str
) -> None:
    browser.scheme(colours)
    seen = set()
    for page, fragment in ((sets, "#name=Avon"), (alone, "#name=Dale"), (answers, "#name=Berg")):
        browser.open(page, fragment)
        ratio, text = browser.script(CONTRAST)
        assert ratio >= 4.5, text
        seen |= set(browser.texts(".outcome"))
    assert {"right", "namesake first", "other document first", "no ranking", "merged"} <= seen


def test_every_field_has_a_label_and_every_picture_words(browser: Browser, sets: Path, answers: Path) -> None:
    for page in (sets, answers):
        browser.open(page)
        unnamed = "return [...document.querySelectorAll('input, select')].filter((one) => !one.labels.length).length"
        assert browser.script(unnamed) == 0
        assert browser.script("return [...document.images].filter((one) => !one.alt).length") == 0


def test_nothing_is_wider_than_a_telephone(
    browser: Browser, sets: Path, answers: Path, hostile_sets: Path, hostile_answers: Path
) -> None:
    browser.size(360, 740)
    pages = ((sets, "Avon"), (answers, "Como"), (hostile_sets, quote(HOSTILE)), (hostile_answers, quote(HOSTILE)))
    for page, name in pages:
        browser.open(page, f"#name={name}")
        assert browser.script("return document.documentElement.scrollWidth <= window.innerWidth"), page
        # The cells of a query stand below one another there, and none has to be scrolled to.
        fits = (
            "return [...document.querySelectorAll('.context .wide')].every((one) => one.scrollWidth <= one.clientWidth)"
        )
        assert browser.script(fits), page


def test_on_paper_there_are_the_results_and_the_chosen_name_and_no_controls(
    browser: Browser, sets: Path, answers: Path
) -> None:
    browser.scheme("dark", "print")
    for page, table in ((sets, "#table-amber-human-1"), (answers, "#table-categories")):
        browser.open(page, "#name=Como")
        # Printing unfolds what is folded.
        browser.script("dispatchEvent(new Event('beforeprint'))")
        seen = "return arguments[0].map((css) => document.querySelector(css).checkVisibility())"
        shown = browser.script(seen, [table, "#detail", "#filters", "#side", ".help"])
        assert shown == [True, True, False, False, False]
        assert browser.script("return getComputedStyle(document.body).color") == "rgb(27, 30, 35)"
        assert browser.pdf().startswith(b"%PDF-")


def test_without_the_sets_the_report_says_why_and_nothing_goes_wrong(browser: Browser, place: Path, sets: Path) -> None:
    assert sets.exists()
    page = write_report(read_runs([place / "runs" / "confused"]), place / "left_out.html")
    browser.open(page)
    assert browser.text("#left-out").startswith("They are not shown: the collection `little` is not where")
    assert browser.text("#table-amber-human-1 tbody td") == "confused"
