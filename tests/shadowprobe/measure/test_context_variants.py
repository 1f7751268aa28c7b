"""A snippet with less, more or other words around its mention."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import snippet

from shadowprobe import Card, Dataset, Entity, EntitySpace, Snippet, write_dataset
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.base.prose import Prose
from shadowprobe.dataset.kept_pages import Cut, PageText
from shadowprobe.measure.context_variants import cut_to_sentence, cut_to_words, extend_snippets, mask_mention

PROSE = Prose("en")


def avon(text: str, **fields: object) -> Snippet:
    """A snippet whose mention is the first Avon of a text."""
    return snippet("a", "top", text, "Avon", space="Avon", gold="River Avon", **fields)


def marked(found: Snippet) -> str:
    """The text with its mention in square brackets."""
    return f"{found.text[: found.start]}[{found.mention}]{found.text[found.end :]}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("It rained. The Avon rose by a foot. Nobody swam.", "The [Avon] rose by a foot."),
        ("Avon it is. Or was it?", "[Avon] it is."),
        ("We saw it: Avon", "We saw it: [Avon]"),
        ("Dr. Low of Avon St. Mary left. He came back.", "Dr. Low of [Avon] St. Mary left."),
    ],
)
def test_the_sentence_of_a_mention_is_cut_out_with_its_mention(text: str, sentence: str) -> None:
    assert marked(cut_to_sentence(avon(text), PROSE)) == sentence


def test_a_stop_within_the_mention_ends_no_sentence() -> None:
    found = snippet("a", "top", "She left. St. Ives. Then home.", "St. Ives", space="St. Ives", gold="St. Ives")
    assert marked(cut_to_sentence(found, PROSE)) == "[St. Ives]."


def test_a_sentence_that_ends_where_the_mention_begins_is_another_one() -> None:
    # Sentences in Chinese have no blank between them.
    found = avon("雨很大。Avon河很宽。没有人游泳。")
    assert marked(cut_to_sentence(found, Prose("zh"))) == "[Avon]河很宽。"


@pytest.mark.parametrize(
    ("text", "few"),
    [
        ("one two three four Avon five six seven eight", "two three four [Avon] five six seven"),
        ("one Avon", "one [Avon]"),
        ("Avon’s banks were wet with the rain", "[Avon]’s banks were wet"),
        ("a b c d (Avon), e f g h", "b c d ([Avon]), e f g"),
        ("a b c d “Avon” e f g h", "b c d “[Avon]” e f g"),
        ("(Avon)", "([Avon])"),
        ("Avon", "[Avon]"),
    ],
)
def test_a_text_cut_short_has_three_words_on_each_side(text: str, few: str) -> None:
    assert marked(cut_to_words(avon(text), 3)) == few


def test_a_masked_mention_is_gone_wherever_it_stands_as_a_whole_word() -> None:
    first = avon("Avon and Avonmouth: the Avon, Avon’s end.")
    assert marked(mask_mention(first, "this one")) == "[this one] and Avonmouth: the this one, this one’s end."
    later = Snippet("a", "top", first.text, 24, 28, space="Avon", gold="River Avon")
    assert later.mention == "Avon"
    assert marked(mask_mention(later, "this one")) == "this one and Avonmouth: the [this one], this one’s end."


def test_a_name_that_touches_the_masked_mention_is_masked_too() -> None:
    first = snippet("a", "top", "We said Ha!Ha! again", "Ha!", space="Ha!", gold="Ha!")
    assert marked(mask_mention(first, "this one")) == "We said [this one]this one again"


def built(tmp_path: Path, page: str, snippets: list[Snippet], cuts: list[Cut]) -> Dataset:
    """A dataset as a build leaves it, with the texts of its pages."""
    entities = [Entity("River Avon"), Entity("Avon (ship)")]
    spaces = [EntitySpace("Avon", ("River Avon", "Avon (ship)"))]
    dataset = write_dataset(tmp_path / "d", Card(name="d"), entities, spaces, {"top": snippets})
    build = tmp_path / "d" / "build"
    build.mkdir()
    (build / "snippets-texts.jsonl").write_bytes(encode_lines([PageText("http://a/1", page)]))
    (build / "cuts.jsonl").write_bytes(encode_lines(cuts))
    return dataset


def cut(text: str, original: str) -> Cut:
    """What a build notes of a snippet with one Avon."""
    start = text.index("Avon")
    return Cut("River Avon", "Avon", text, start, start + 4, "River Avon", original, "http://a/1", 0)


def test_a_page_gives_more_words_with_the_full_name_replaced(tmp_path: Path) -> None:
    page = "The River Avon is long.\nBoats on the River Avon race in May. All of Bath looks at the River Avon then."
    one = avon("Boats on the Avon race in May.", source="http://a/1")
    dataset = built(tmp_path, page, [one], [cut(one.text, "Boats on the River Avon race in May.")])
    (longer,) = extend_snippets([one], dataset, 4)
    # Four words of the page before it, and four after; the full name in them gives way to the ambiguous one.
    assert marked(longer) == "Avon is long.\nBoats on the [Avon] race in May. All of Bath looks"
    (longest,) = extend_snippets([one], dataset, 100)
    assert marked(longest) == (
        "The Avon is long.\nBoats on the [Avon] race in May. All of Bath looks at the Avon then."
    )


def test_the_full_title_of_an_entity_is_replaced_where_its_name_has_no_qualifier(tmp_path: Path) -> None:
    page = "All of Avon, Ohio knows it. The Avon fair is near. Avon, Ohio is small."
    one = avon("The Avon fair is near.", source="http://a/1")
    ohio = Cut("Avon, Ohio", "Avon", one.text, 4, 8, "Avon", one.text, "http://a/1", 0)
    (longer,) = extend_snippets([one], built(tmp_path, page, [one], [ohio]), 100)
    assert marked(longer) == "All of Avon knows it. The [Avon] fair is near. Avon is small."


def test_a_snippet_that_stands_twice_in_its_page_is_not_extended(tmp_path: Path) -> None:
    one = avon("Avon!", source="http://a/1")
    dataset = built(tmp_path, "River Avon! And again: River Avon!", [one], [cut("Avon!", "River Avon!")])
    assert list(extend_snippets([one], dataset, 5)) == []


def test_a_dataset_that_was_not_built_has_no_pages(world: Dataset) -> None:
    assert list(extend_snippets(list(world.snippets()), world, 5)) == []
