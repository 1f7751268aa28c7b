"""What annotators are asked: the draw, the form and the sheet."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from world import shadow, top, write_world

from shadowprobe import Card, Dataset, Entity, EntitySpace, Snippet, UsageError, open_dataset, write_dataset
from shadowprobe.cli import main
from shadowprobe.human_study.answer_keys import read_key
from shadowprobe.human_study.form import FORM, SHEET, render_form, render_sheet, write_sample
from shadowprobe.human_study.sample import KEY, Sample
from shadowprobe.human_study.shadowlink_sample import AnswerKey, draw_sample


@pytest.fixture(scope="module")
def mini() -> Dataset:
    return open_dataset("mini")


def study(form: bytes) -> dict[str, Any]:
    """The questions that a form holds."""
    found = re.search(r'<script type="application/json" id="study">(.*?)</script>', form.decode(), re.DOTALL)
    assert found is not None
    held: dict[str, Any] = json.loads(found[1])
    return held


def sheet(sample: Sample[AnswerKey]) -> list[dict[str, str]]:
    """The rows of a sheet as a spreadsheet reads them."""
    return list(csv.DictReader(io.StringIO(render_sheet(sample).decode("utf-8-sig"), newline="")))


def one_name(path: Path, text: str, start: int, end: int, titles: tuple[str, str] = ("Ace", "Ace (ship)")) -> Dataset:
    """A dataset of one name, whose Top and Shadow snippets are the same text."""
    name = text[start:end]
    entities = [Entity(titles[0], commonness=4711), Entity(titles[1], commonness=4712, description="A vessel.")]
    snippets = [
        Snippet(f"{subset}-id", subset, text, start, end, space=name, gold=gold)  # type: ignore[arg-type]
        for subset, gold in zip(("top", "shadow"), titles, strict=True)
    ]
    spaces = [EntitySpace(name, titles)]
    return write_dataset(path, Card(name="one"), entities, spaces, {"top": snippets[:1], "shadow": snippets[1:]})


@pytest.mark.parametrize(("n", "shadows", "tops"), [(1, 1, 0), (10, 5, 5), (91, 46, 45)])
def test_top_and_shadow_come_evenly_and_an_odd_one_is_shadow(mini: Dataset, n: int, shadows: int, tops: int) -> None:
    assert Counter(item.subset for item in draw_sample(mini, n, 7).key.items) == Counter(shadow=shadows, top=tops)


def test_the_same_seed_draws_the_same_and_another_seed_another_sample(mini: Dataset) -> None:
    assert draw_sample(mini, 20, 7) == draw_sample(mini, 20, 7)
    assert draw_sample(mini, 20, 7).key.sample != draw_sample(mini, 20, 8).key.sample


def test_a_larger_sample_asks_all_that_a_smaller_one_asks(mini: Dataset) -> None:
    small, large = ({(item.id, item.choices) for item in draw_sample(mini, n, 7).key.items} for n in (10, 30))
    assert small < large


def test_top_and_shadow_are_mixed(mini: Dataset) -> None:
    # Drawn in turn they would alternate; sorted they would change over once.
    subsets = [item.subset for item in draw_sample(mini, 40, 7).key.items]
    changes = sum(one != other for one, other in pairwise(subsets))
    assert 1 < changes < 39


def test_a_name_comes_again_only_when_all_names_have_come(world: Dataset) -> None:
    for n in (4, 8):
        come = Counter(item.space for item in draw_sample(world, n, 7).key.items)
        assert set(come.values()) == {n // 4}


def test_one_of_the_two_entities_is_the_top_and_one_of_them_is_meant(mini: Dataset) -> None:
    for item in draw_sample(mini, 91, 7).key.items:
        space = mini.spaces[item.space]
        assert sorted(space.rank(title) > 1 for title in item.choices) == [False, True]
        assert item.gold in item.choices
        assert (item.gold == space.top) == (item.subset == "top")


def test_the_place_of_an_entity_does_not_tell_which_it_is(mini: Dataset) -> None:
    firsts = Counter((item.subset, item.choices[0] == item.gold) for item in draw_sample(mini, 91, 7).key.items)
    # About 23 each where the lot decides the places; fewer than 10 would come in one sample of some thousands.
    assert len(firsts) == 4
    assert min(firsts.values()) >= 10


def test_the_rival_of_a_top_entity_is_one_that_shadow_snippets_mean(mini: Dataset) -> None:
    meant: dict[str, set[str]] = {}
    for snippet in mini.snippets("shadow"):
        meant.setdefault(snippet.space or "", set()).add(snippet.gold or "")
    asked = [item for item in draw_sample(mini, 300, 7).key.items if item.subset == "top"]
    rivals = [(item.space, title) for item in asked for title in item.choices if title != item.gold]
    assert all(title in meant[space] for space, title in rivals)
    # Names with further entities, which the test needs to be able to fail.
    assert any(len(mini.spaces[space].shadows) > len(meant[space]) for space, _ in rivals)


def test_more_snippets_than_there_are_cannot_be_drawn(world: Dataset) -> None:
    assert len(draw_sample(world, 8, 7).questions) == 8
    with pytest.raises(UsageError, match=r"--n 9: `world` has 4 Top and 4 Shadow snippets; 8 at most"):
        draw_sample(world, 9, 7)


def test_a_dataset_without_shadow_snippets_has_nothing_to_choose(tmp_path: Path) -> None:
    snippet = Snippet("t", "top", "Ace came.", 0, 3, space="Ace", gold="Ace")
    alone = write_dataset(
        tmp_path, Card(name="alone"), [Entity("Ace")], [EntitySpace("Ace", ("Ace",))], {"top": [snippet]}
    )
    with pytest.raises(UsageError, match="`alone` has no Top snippets of a name with two entities"):
        draw_sample(alone, 2, 7)


def test_the_question_marks_the_mention_that_is_meant_behind_umlaut_and_emoji(tmp_path: Path) -> None:
    text = "Zoë 🎉 met Ace, and Ace met Zoë."
    sample = draw_sample(one_name(tmp_path, text, text.rindex("Ace"), text.rindex("Ace") + 3), 1, 7)
    question = sample.questions[0]
    assert (question.before, question.mention, question.after) == ("Zoë 🎉 met Ace, and ", "Ace", " met Zoë.")
    assert sheet(sample)[0]["text"] == "Zoë 🎉 met Ace, and [[Ace]] met Zoë."


def test_neither_form_nor_sheet_depend_on_the_right_answers(mini: Dataset) -> None:
    sample = draw_sample(mini, 91, 7)
    swapped = replace(sample, key=replace(sample.key, items=(), digest="", seed=0))
    assert render_form(sample) == render_form(swapped)
    assert render_sheet(sample) == render_sheet(swapped)


def test_neither_form_nor_sheet_show_commonness_or_what_tells_the_subset(tmp_path: Path) -> None:
    sample = draw_sample(one_name(tmp_path, "Ace came.", 0, 3), 2, 7)
    for content in (render_form(sample), render_sheet(sample)):
        assert b"A vessel." in content
        for secret in (b"4711", b"4712", b"top-id", b"shadow-id", b'"gold"', b'"subset"', b'"top"', b'"shadow"'):
            assert secret not in content


@pytest.mark.parametrize(
    "text",
    [
        "</script><script>alert(1)</script> Ace",
        "<!-- <script> Ace",
        "$script $study Ace",
        "Ace & <b>co</b> \u2028\u202e",
    ],
)
def test_markup_in_a_snippet_is_data_and_adds_nothing_to_the_page(tmp_path: Path, text: str) -> None:
    start = text.index("Ace")
    marked = draw_sample(one_name(tmp_path / "marked", text, start, start + 3), 1, 7)
    plain = draw_sample(one_name(tmp_path / "plain", "Ace", 0, 3), 1, 7)
    forms = render_form(marked), render_form(plain)
    assert forms[0].count(b"<") == forms[1].count(b"<")
    (item,) = study(forms[0])["items"]
    assert item["before"] + item["mention"] + item["after"] == text


def test_the_name_of_a_study_is_escaped(world: Dataset) -> None:
    page = render_form(draw_sample(world, 2, 7, "<i>Study</i> & co")).decode()
    assert "<title>&lt;i&gt;Study&lt;/i&gt; &amp; co: which one is meant?</title>" in page
    assert "<i>" not in page


def test_the_form_asks_for_nothing_outside_itself(world: Dataset) -> None:
    page = render_form(draw_sample(world, 2, 7)).decode()
    assert "default-src 'none'" in page
    assert not re.search(r"https?:|src=|href=", page)


@pytest.mark.parametrize("head", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(tmp_path: Path, head: str) -> None:
    text = f'{head}HYPERLINK("http://x","Ace")'
    start = text.index("Ace")
    (row,) = sheet(draw_sample(one_name(tmp_path, text, start, start + 3, ("-30-", "@home")), 1, 7))
    assert row["text"].startswith(f"'{head}HYPERLINK")
    assert {row["1"], row["2"]} == {"'-30-", "'@home: A vessel."}


def test_the_sheet_has_a_row_for_each_question_and_an_empty_answer(world: Dataset) -> None:
    sample = draw_sample(world, 8, 7)
    rows = sheet(sample)
    assert [row["item"] for row in rows] == [str(number) for number in range(1, 9)]
    assert {row["answer"] for row in rows} == {""}
    assert {row["sample"] for row in rows} == {sample.key.sample}
    for row, item in zip(rows, sample.key.items, strict=True):
        assert (row["1"].split(":")[0], row["2"].split(":")[0]) == item.choices
        assert set(item.choices) == {top(item.space), shadow(item.space)}


def test_a_sample_is_written_and_its_key_read_back(world: Dataset, tmp_path: Path) -> None:
    sample = draw_sample(world, 4, 7, "Pilot")
    written = write_sample(sample, tmp_path / "study")
    assert [path.name for path in written] == [FORM, SHEET, KEY]
    assert read_key(tmp_path / "study") == read_key(tmp_path / "study" / KEY) == sample.key
    assert sample.key.name == "Pilot"


@pytest.mark.parametrize("name", [FORM, SHEET, KEY])
def test_no_file_of_a_sample_is_written_over_without_force(world: Dataset, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match=f"holds {name} already; --force writes over it"):
        write_sample(draw_sample(world, 4, 7), tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [name]
    write_sample(draw_sample(world, 4, 7), tmp_path, force=True)
    assert (tmp_path / name).read_text(encoding="utf-8") != "mine"


@pytest.mark.parametrize(
    ("command", "directory"),
    [
        (("annotate", "sample", "--n", "4"), "annotation/.._.._elsewhere"),
        (("export", "simple-jsonl"), "exports/.._.._elsewhere-simple-jsonl"),
    ],
)
def test_the_name_of_a_dataset_leads_to_no_other_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], directory: str
) -> None:
    place = tmp_path / "a" / "b" / "c"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    world = write_world(tmp_path / "world")
    card = json.loads((world.path / "dataset.json").read_text())
    (world.path / "dataset.json").write_text(json.dumps({**card, "name": "../../elsewhere"}))
    with pytest.raises(SystemExit) as end:
        main([*command, "--dataset", str(world.path)])
    assert end.value.code == 0
    written = [path for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert written
    assert {path.parent for path in written} == {place / directory}


def test_what_is_under_the_pointer_looks_chosen_only_where_there_is_a_pointer(world: Dataset) -> None:
    page = render_form(draw_sample(world, 4, 7)).decode()
    hovered = [line for line in page.splitlines() if ":hover" in line]
    assert hovered
    assert all(line.startswith("@media (hover: hover) {") for line in hovered)
