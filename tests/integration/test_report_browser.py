"""The report in a real Chromium, over the file as it was written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

import pytest
from browser import ENTER, ESCAPE, Browser
from report_window import CONTRAST, choose, focused
from world import NAMES, hand_predictions, linked, shadow, snippet, top, write_world

from shadowprobe import Candidate, Card, Dataset, Entity, EntitySpace, Prediction, run, score, write_dataset
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.reporting.html.page import write_report
from shadowprobe.running.finished import read_runs

pytestmark = pytest.mark.slow

MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"
HOSTILE = f"{MARKUP} &amp; \u202eright to left\u202c \N{CLAPPER BOARD} 50%"
LIST = "#list strong"


def write_run(directory: Path, dataset: Dataset, predictions: Iterable[Prediction]) -> Path:
    """A finished run of these answers."""
    directory.mkdir()
    (directory / "predictions.jsonl").write_bytes(encode_lines(predictions))
    score(directory, dataset, name=directory.name, out=directory)
    return directory


@pytest.fixture(scope="module")
def world(place: Path) -> Dataset:
    return write_world(place / "world")


@pytest.fixture(scope="module")
def hand(place: Path, world: Dataset) -> Path:
    """The small world and the answers worked out by hand."""
    directory = write_run(place / "hand", world, hand_predictions())
    return write_report(read_runs([directory], str(world.path)))


@pytest.fixture(scope="module")
def two(place: Path, hand: Path, world: Dataset) -> Path:
    """The same beside a system that answers with the river whatever the context."""
    rivers = [linked(f"{subset}{name}", top(name)) for name in NAMES for subset in ("t", "s")]
    directory = write_run(place / "rivers", world, [*rivers, linked("tail1", "Ourika")])
    return write_report(read_runs([hand.parent, directory], str(world.path)), place / "two.html")


@pytest.fixture(scope="module")
def mini(place: Path) -> Path:
    """A report of several pages."""
    run("prior", "mini", out=place / "prior")
    return write_report(read_runs([place / "prior"]))


@pytest.fixture(scope="module")
def hostile(place: Path) -> Path:
    """Markup, script, marks of direction and emoji wherever a dataset or a linker can have them."""
    titles = [f"{MARKUP} one", f"{MARKUP} two"]
    entities = [Entity(title, commonness=2, description=HOSTILE) for title in titles]
    text = f"\N{CLAPPER BOARD} Über {HOSTILE} and {HOSTILE} again"
    snippets = [
        snippet(HOSTILE, "top", text, HOSTILE, space=HOSTILE, gold=titles[0], source="javascript:alert(3)"),
        snippet("link", "top", text, HOSTILE, space=HOSTILE, gold=titles[0], source=f"https://a.example/{HOSTILE}"),
    ]
    spaces = [EntitySpace(HOSTILE, tuple(titles))]
    dataset = write_dataset(place / "hostile", Card(name=HOSTILE), entities, spaces, {"top": snippets})
    answer = Prediction(HOSTILE, answer=f"{MARKUP} three", candidates=(Candidate(titles[1], score=0.5),))
    directory = write_run(place / "bad", dataset, [answer])
    return write_report(read_runs([directory], str(dataset.path), [HOSTILE]))


def test_the_report_opens_with_its_verdict_its_figures_and_every_name(browser: Browser, hand: Path) -> None:
    browser.open(hand)
    assert browser.text("h1") == "hand on world"
    assert browser.text(".verdict").startswith("hand reads the context about as often as it repeats its prior: of 4")
    assert browser.texts(LIST) == [*NAMES, "Ourika"]
    pictures = browser.script("return [...document.images].map((one) => one.complete && one.naturalWidth > 100)")
    assert pictures == [True, True, True, True]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"outcome": "overshadowed"}, ["Avon", "Como"]),
        ({"outcome": "overshadowed", "subset": "Shadow"}, ["Avon"]),
        ({"outcome": "NIL"}, ["Dale"]),
        ({"outcome": "skipped", "subset": "Top"}, []),
        ({"subset": "Tail"}, ["Ourika"]),
        ({"order": "lowest score first", "subset": "Top"}, ["Como", "Berg", "Avon", "Dale"]),
        ({"order": "highest score first", "subset": "Shadow"}, ["Avon", "Berg", "Como", "Dale"]),
    ],
)
def test_filters_leave_the_names_that_have_such_a_snippet(
    browser: Browser, hand: Path, filters: dict[str, str], names: list[str]
) -> None:
    browser.open(hand)
    for field, words in filters.items():
        choose(browser, field, words)
    assert browser.texts(LIST) == names
    assert browser.text("#count") == f"{len(names)} of 5 names and mentions"


@pytest.mark.parametrize(
    ("text", "names"),
    [("NOVEL", ["Ourika"]), ("como (ship)", ["Como"]), ("tberg", ["Berg"]), ("nowhere", []), ("avon", ["Avon"])],
)
def test_text_is_looked_for_in_names_texts_entities_and_identifiers(
    browser: Browser, hand: Path, text: str, names: list[str]
) -> None:
    browser.open(hand)
    browser.keys("#text", text)
    assert browser.texts(LIST) == names


def test_a_name_shows_all_its_contexts_with_gold_answer_prior_and_outcome(browser: Browser, hand: Path) -> None:
    browser.open(hand)
    browser.click("#list li:nth-child(1) a")
    assert browser.text("#detail h3") == "Avon"
    subsets = browser.script("return [...document.querySelectorAll('.context')].map((one) => one.dataset.subset)")
    assert subsets == ["top", "shadow", "neutral", "neutral", "neutral"]
    assert set(browser.texts(".context mark")) == {"Avon"}
    assert browser.text('[data-subset="shadow"] .words') == "The crew of Avon cut down both masts in the gale."
    shown = browser.texts('[data-subset="shadow"] dd')
    assert shown == [shadow("Avon"), top("Avon"), f"{top('Avon')} (the answer)", "overshadowed", "0.8"]


def test_the_keyboard_alone_walks_through_the_list(browser: Browser, hand: Path) -> None:
    browser.open(hand)
    # The first name is open already.
    browser.press("j")
    assert (browser.text("#detail h3"), focused(browser)) == ("Berg", "Berg")
    browser.press("k")
    assert browser.script("return location.hash") == "#space=Avon"
    browser.press(ENTER)
    assert focused(browser) == "detail"
    browser.press(ESCAPE)
    assert focused(browser) == "Avon"
    browser.press("/")
    assert focused(browser) == "text"
    # What is typed here is text, and no key.
    browser.press(*"jk")
    assert browser.script("return document.getElementById('text').value") == "jk"
    assert browser.texts(LIST) == []
    browser.press(ESCAPE)
    browser.script("document.activeElement.blur()")
    browser.press("x")
    browser.wait("document.querySelectorAll('#list li').length === 5")


def test_long_lists_have_pages_that_the_selection_crosses(browser: Browser, mini: Path) -> None:
    browser.open(mini)
    assert (len(browser.texts(LIST)), browser.text("#page")) == (50, "1 of 7")
    browser.press("]")
    assert browser.text("#page") == "2 of 7"
    browser.click("#list a")
    first = browser.texts(LIST)[0]
    assert browser.text("#detail h3") == first
    browser.press("k")
    assert browser.text("#page") == "1 of 7"
    choose(browser, "order", "by name")
    names = [name.casefold() for name in browser.texts(LIST)]
    assert names[:2] == sorted(names)[:2]


def test_a_link_leads_to_a_space(browser: Browser, hand: Path) -> None:
    browser.open(hand, "#space=Como")
    assert browser.text("#detail h3") == "Como"
    assert browser.texts('#list [aria-current="true"] strong') == ["Como"]
    browser.open(hand, "#snippet=tail1")
    assert browser.text("#detail h3") == "Ourika"
    browser.open(hand, "#space=Nowhere%")
    assert browser.text("#detail h3") == "There is no name “Nowhere%” here"


def test_two_systems_stand_side_by_side_with_their_disagreements_first(browser: Browser, two: Path) -> None:
    browser.open(two)
    # They differ on both contexts of Como and Dale, on one of Berg, and nowhere else.
    assert browser.texts(LIST) == ["Como", "Dale", "Berg", "Avon", "Ourika"]
    browser.click("#differ")
    assert browser.texts(LIST) == ["Como", "Dale", "Berg"]
    choose(browser, "outcome", "overshadowed")
    choose(browser, "system", "rivers")
    assert browser.texts(LIST) == ["Como", "Dale", "Berg"]
    choose(browser, "system", "hand")
    assert browser.texts(LIST) == ["Como"]
    browser.click("#list a")
    assert browser.texts('[data-subset="shadow"] h5') == ["hand", "rivers"]
    tops = browser.script(
        "return [...document.querySelectorAll('[data-subset=shadow] .answers > div')]"
        ".map((one) => one.getBoundingClientRect().top)"
    )
    assert tops[0] == tops[1]


def test_markup_script_and_marks_of_direction_appear_as_text(browser: Browser, hostile: Path) -> None:
    browser.open(hostile, f"#space={quote(HOSTILE)}")
    # The page's own figures are images too, but have no such source.
    assert browser.script("return document.querySelectorAll('img[src=x], #detail script').length") == 0
    assert browser.script("return document.querySelectorAll('script:not([type])').length") == 1
    assert browser.texts("#detail h3") == [HOSTILE]
    assert browser.texts("#detail mark") == [HOSTILE, HOSTILE]
    words = browser.texts("#detail .words")
    assert words[0] == f"\N{CLAPPER BOARD} Über {HOSTILE} and {HOSTILE} again"
    assert browser.texts('[data-subset="top"] dd')[1] == f"{MARKUP} three"
    # Only an address of the web is a link.
    links = browser.script("return [...document.querySelectorAll('#detail a')].map((one) => one.textContent)")
    assert links == [f"https://a.example/{HOSTILE}"]
    assert "Source: javascript:alert(3)" in words


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_all_text_stands_out_from_what_is_behind_it(browser: Browser, two: Path, hostile: Path, colours: str) -> None:
    browser.scheme(colours)
    seen = set()
    for page, fragment in ((two, "#space=Dale"), (hostile, f"#space={quote(HOSTILE)}")):
        browser.open(page, fragment)
        ratio, text = browser.script(CONTRAST)
        assert ratio >= 4.5, text
        seen |= set(browser.texts(".outcome"))
    # Every colour that an outcome can have is among them.
    assert {"correct", "overshadowed", "NIL", "gold not a candidate"} <= seen
    paper = browser.script("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (colours == "light")


def test_every_field_has_a_label_and_every_picture_words(browser: Browser, two: Path) -> None:
    browser.open(two)
    unnamed = "return [...document.querySelectorAll('input, select')].filter((one) => !one.labels.length).length"
    assert browser.script(unnamed) == 0
    assert browser.script("return [...document.images].filter((one) => !one.alt).length") == 0


def test_nothing_is_wider_than_a_telephone(browser: Browser, two: Path, hostile: Path) -> None:
    browser.size(360, 740)
    for page, fragment in ((two, "#space=Como"), (hostile, f"#space={quote(HOSTILE)}")):
        browser.open(page, fragment)
        assert browser.script("return document.documentElement.scrollWidth <= window.innerWidth")


def test_a_name_that_is_chosen_on_a_telephone_comes_into_sight(browser: Browser, hand: Path) -> None:
    browser.size(360, 740)
    browser.open(hand)
    browser.click("#list a")
    browser.wait("document.querySelector('#detail h3').textContent === 'Avon'")
    top_of_it = browser.script("return document.querySelector('#detail h3').getBoundingClientRect().top")
    assert 0 <= top_of_it < 370


def test_on_paper_there_are_the_results_and_the_chosen_name_and_no_controls(browser: Browser, hand: Path) -> None:
    browser.scheme("dark", "print")
    browser.open(hand, "#space=Como")
    seen = "return arguments[0].map((css) => document.querySelector(css).checkVisibility())"
    assert browser.script(seen, ["#table-scores", "#detail", "#filters", "#side", ".help"]) == [
        True,
        True,
        *[False] * 3,
    ]
    assert browser.script("return getComputedStyle(document.body).color") == "rgb(27, 30, 35)"
    assert browser.pdf().startswith(b"%PDF-")


# How far each character of the text behind an element's first child stands from the left, for those on its first line.
LEFTS = """
  const text = document.querySelector(arguments[0]).childNodes[1];
  const boxes = [...text.data].map((_, place) => {
    const range = document.createRange();
    range.setStart(text, place);
    range.setEnd(text, place + 1);
    return range.getBoundingClientRect();
  });
  return boxes.filter((box) => box.width && box.top === boxes[0].top).map((box) => box.left);
"""


def test_a_mark_of_direction_in_a_name_turns_nothing_behind_it(browser: Browser, place: Path, hand: Path) -> None:
    # Nothing ends this mark: what follows it in one run of text reads backwards, numbers and all.
    runs = read_runs([hand.parent], str(place / "world"), ["\u202eturned"])
    browser.open(write_report(runs, place / "turned.html"))
    for behind in (".verdict", "h1"):
        lefts = browser.script(LEFTS, behind)
        assert len(lefts) > 2
        assert lefts == sorted(lefts), behind


def test_how_common_an_entity_is_is_called_commonness_whatever_was_counted(browser: Browser, hand: Path) -> None:
    browser.open(hand, "#space=Avon")
    assert browser.texts("#detail .spaces li") == [
        "Avon (river) (Top), commonness 50: Fresh water that runs to the sea.",
        "Avon (ship) (Shadow), commonness 5: Vessel with a crew and masts.",
    ]


def test_a_figure_that_is_alone_is_no_wider_than_beside_others(
    browser: Browser, place: Path, world: Dataset, hand: Path
) -> None:
    nothing = write_run(place / "nothing", world, [Prediction(one.id, status="nil") for one in world.snippets()])
    report = write_report(read_runs([nothing], str(world.path)))
    widths = []
    for page, count in ((hand, 4), (report, 1)):
        browser.open(page)
        found = browser.script("return [...document.querySelectorAll('figure img')].map((one) => one.width)")
        assert len(found) == count
        widths += found
    assert len(set(widths)) == 1


def test_the_first_name_is_open_and_the_page_stays_at_its_top(browser: Browser, hand: Path) -> None:
    browser.open(hand)
    assert browser.text("#detail h3") == "Avon"
    assert browser.script("return [scrollY, location.hash]") == [0, ""]


def test_filters_are_kept_in_the_address(browser: Browser, two: Path) -> None:
    browser.open(two)
    choose(browser, "outcome", "overshadowed")
    choose(browser, "system", "hand")
    browser.keys("#text", "crew")
    assert browser.script("return location.hash") == "#text=crew&outcome=overshadowed&system=hand"
    assert browser.texts(LIST) == ["Avon"]
    browser.click("#list a")
    address = browser.script("return location.hash")
    assert address == "#space=Avon&text=crew&outcome=overshadowed&system=hand"
    browser.open(two, address)
    assert (browser.texts(LIST), browser.text("#detail h3")) == (["Avon"], "Avon")
    assert browser.script("return document.getElementById('text').value") == "crew"
    browser.click("#reset")
    browser.wait("document.querySelectorAll('#list li').length === 5")
    assert browser.script("return location.hash") == "#space=Avon"


def test_the_next_name_comes_into_sight(browser: Browser, hand: Path) -> None:
    for width in (360, 1200):
        browser.size(width, 500)
        browser.open(hand)
        browser.press("j")
        browser.wait("document.querySelector('#detail h3').textContent === 'Berg'")
        top_of_it = browser.script("return document.querySelector('#detail h3').getBoundingClientRect().top")
        assert 0 <= top_of_it < 400


def test_texts_in_many_blocks_are_found_and_shown(
    browser: Browser, hand: Path, world: Dataset, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shadowprobe.reporting.html.strings.BLOCK", 20)
    many = write_report(read_runs([hand.parent], str(world.path)), place / "many.html")
    browser.open(many)
    blocks = browser.script("return data.passages.starts.length")
    # The first name alone was opened.
    assert browser.script("return openTexts.size") < blocks
    browser.keys("#text", "crew of dale cut")
    browser.wait("!document.querySelector('[aria-busy=true]')")
    assert browser.texts(LIST) == ["Dale"]
    assert browser.text('[data-subset="shadow"] .words') == "The crew of Dale cut down both masts in the gale."


def test_a_browser_that_cannot_open_the_data_says_so(browser: Browser, hand: Path, place: Path) -> None:
    content = hand.read_text(encoding="utf-8")
    broken = place / "broken.html"
    broken.write_text(content.replace('id="block-0">', 'id="block-0">0'), encoding="utf-8")
    browser.open(broken)
    assert browser.text("#count").startswith("This browser cannot open the list")
    assert browser.text(".verdict").startswith("hand reads the context")


def test_figures_are_dark_where_the_page_is(browser: Browser, hand: Path, place: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    lights = {}
    for colours in ("light", "dark"):
        browser.scheme(colours)
        browser.open(hand)
        browser.script("document.querySelector('figure').scrollIntoView()")
        box = browser.script(
            "const one = document.querySelector('figure img').getBoundingClientRect(); return one.toJSON()"
        )
        browser.screenshot(place / f"{colours}.png")
        picture = pyplot.imread(place / f"{colours}.png")[int(box["top"]) : int(box["bottom"]), :, :3]
        # Its corner, beside everything that is drawn.
        lights[colours] = float(picture[4:8, int(box["left"]) + 4 : int(box["left"]) + 8].mean())
    assert lights["light"] > 0.95
    assert lights["dark"] < 0.15


def test_on_a_telephone_the_score_is_in_sight(browser: Browser, two: Path) -> None:
    browser.size(360, 740)
    browser.open(two)
    heads = browser.texts("#table-scores th[scope=col]")
    assert heads.index("F") < heads.index("n")
    place = heads.index("F") + 1
    edge = f"return document.querySelector('#table-scores tbody td:nth-child({place})').getBoundingClientRect().right"
    assert browser.script(edge) <= 360
