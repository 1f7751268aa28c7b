"""The last stage: which names have what it takes, what is drawn, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from shadowprobe import Card, Dataset
from shadowprobe.base.languages import Language, read_language
from shadowprobe.base.model import Snippet, Subset
from shadowprobe.build.assemble import (
    DRAWN_SUBSETS,
    ChosenSpaces,
    CutCheck,
    Draw,
    TailCuts,
    choose_spaces,
    write_parts,
)
from shadowprobe.build.card_counts import CardCounts, count_commonness, list_golds
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.record_file import RecordList
from shadowprobe.build.record_index import RecordTable
from shadowprobe.build.records import Crawled, FoundEntity, FoundSpace
from shadowprobe.dataset.kept_pages import Cut, PageText
from shadowprobe.errors import BuildError

SMITHS = FoundSpace("Smith", "Smith (disambiguation)", ("Ann Smith", "Bob Smith", "Cid Smith"))
ENTITIES = {
    "Ann Smith": FoundEntity("Ann Smith", 1, commonness=9),
    "Bob Smith": FoundEntity("Bob Smith", 2, commonness=40, qid="Q2", redirects=("Robert Smith",)),
    "Cid Smith": FoundEntity("Cid Smith", 3, commonness=4),
    "Ourika": FoundEntity("Ourika", 4, commonness=2),
}
ENGLISH = Language("en", neutral=("{name} again.", "Why {name}?"))


def cut(entity: str, number: int, space: str = "Smith") -> Cut:
    """The number-th snippet of an entity: seven words in one sentence."""
    original = f"Long ago {entity} wrote letter number {number}."
    text = original.replace(entity, space)
    return Cut(entity, space, text, 9, 9 + len(space), entity, original, f"http://{entity[:3]}.example/{number}", 0)


ANN, BOB, CID = (
    [cut(name, number) for number in range(count)]
    for name, count in (("Ann Smith", 3), ("Bob Smith", 2), ("Cid Smith", 1))
)
OURIKA = [cut("Ourika", 0, "Ourika"), cut("Ourika", 1, "Ourika")]


def chosen(*cuts: Cut, space: FoundSpace = SMITHS) -> tuple[ChosenSpaces, dict[str, int]]:
    funnel = Funnel("assemble")
    return choose_spaces([space], ENTITIES, RecordList(cuts), funnel), funnel.dropped


def draw(seed: int = 7, *cuts: Cut) -> Draw:
    """What is drawn from the snippets of the Smiths and of Ourika, in the order of a crawl: page by page."""
    found, _ = chosen(*(cuts or (*CID, *ANN, *BOB)))
    return Draw(found, TailCuts(RecordList(OURIKA)), "made", seed)


def benchmark(drawn: Draw, subset: Subset) -> list[Snippet]:
    return list(drawn.make_snippets(subset, are_drawn=True))


def train(drawn: Draw, subset: Subset) -> list[Snippet]:
    return list(drawn.make_snippets(subset, are_drawn=False))


def test_entities_stand_from_the_most_common_down() -> None:
    found, dropped = chosen(*ANN, *BOB)
    assert [space.entities for space in found.spaces] == [("Bob Smith", "Ann Smith", "Cid Smith")]
    assert dropped == {}


def test_an_entity_without_snippets_stays_a_candidate_of_its_name() -> None:
    found, _ = chosen(*ANN, *BOB)
    assert found.spaces[0].shadows == ("Ann Smith", "Cid Smith")
    assert found.list_shadows(found.spaces[0]) == ["Ann Smith"]


@pytest.mark.parametrize(
    ("cuts", "why"),
    [
        ([*ANN, *CID], "the most common entity has no snippet"),
        (BOB, "no other entity has a snippet"),
        ([], "the most common entity has no snippet"),
    ],
)
def test_a_name_without_top_and_shadow_snippets_is_left_out_with_the_reason(cuts: list[Cut], why: str) -> None:
    found, dropped = chosen(*cuts)
    assert found.spaces == []
    assert dropped == {why: 1}


def test_a_name_whose_first_two_are_equally_common_has_no_top() -> None:
    twins = {**ENTITIES, "Ann Smith": FoundEntity("Ann Smith", 1, commonness=40)}
    funnel = Funnel("assemble")
    assert choose_spaces([SMITHS], twins, RecordList([*ANN, *BOB]), funnel).spaces == []
    assert funnel.dropped == {"no entity is more common than every other": 1}


def test_the_median_of_shadow_counts_only_entities_with_snippets() -> None:
    # Ann (9) and Cid (4): 6.5. Without a snippet of Cid: 9.
    assert chosen(*ANN, *BOB, *CID)[0].shadow_median(ENTITIES) == 6.5
    assert chosen(*ANN, *BOB)[0].shadow_median(ENTITIES) == 9


def test_each_subset_gets_one_snippet_a_name_and_the_rest_is_to_train() -> None:
    found = draw()
    assert [len(benchmark(found, subset)) for subset in DRAWN_SUBSETS] == [1, 1, 1]
    # Six snippets of the Smiths and two of Ourika, less the three that were drawn.
    assert [len(train(found, subset)) for subset in DRAWN_SUBSETS] == [1, 3, 1]
    every = [s for subset in DRAWN_SUBSETS for s in (*benchmark(found, subset), *train(found, subset))]
    assert len({snippet.id for snippet in every}) == 8


def test_snippets_are_in_the_order_of_their_file_and_the_drawn_entity_comes_first() -> None:
    cuts = [drawn.cut for drawn in draw().list_cuts("shadow")]
    assert cuts in ([*ANN, *CID], [*CID, *ANN])
    seen = {tuple(drawn.cut.entity for drawn in draw(seed).list_cuts("shadow")) for seed in range(40)}
    assert len(seen) == 2


def test_the_drawn_snippet_has_the_name_of_its_space_and_the_others_their_numbers() -> None:
    top = {drawn.is_drawn: drawn.name for drawn in draw().list_cuts("top")}
    place = [drawn.is_drawn for drawn in draw().list_cuts("top")].index(False)
    assert top == {True: "made-top-0001", False: f"made-top-0001-0-{place}"}


def test_the_random_choice_depends_only_on_the_seed() -> None:
    assert list(draw().list_all()) == list(draw().list_all())
    drawn = {benchmark(draw(seed), "shadow")[0].source for seed in range(40)}
    # Each of Ann's three snippets and Cid's one can be drawn.
    assert len(drawn) == 4


def test_another_name_changes_nothing_of_what_is_drawn_for_the_first() -> None:
    avon = FoundSpace("Avon", "Avon", ("Avon River", "Avon Lake"))
    entities = {**ENTITIES, "Avon River": FoundEntity("Avon River", 8, 7), "Avon Lake": FoundEntity("Avon Lake", 9, 1)}
    cuts = [cut("Avon River", 0, "Avon"), cut("Avon Lake", 0, "Avon")]
    both = choose_spaces([SMITHS, avon], entities, RecordList([*ANN, *BOB, *CID, *cuts]), Funnel("assemble"))
    found = Draw(both, TailCuts(RecordList()), "made", 7)
    for subset in ("top", "shadow"):
        assert benchmark(found, subset)[0] == benchmark(draw(), subset)[0]


def test_neutral_contexts_are_each_name_in_each_template() -> None:
    assert [(s.text, s.start, s.end, s.template) for s in draw().make_neutral(ENGLISH)] == [
        ("Smith again.", 0, 5, 1),
        ("Why Smith?", 4, 9, 2),
    ]


def test_what_is_written_is_a_dataset_with_a_training_part_below(tmp_path: Path) -> None:
    write_parts(tmp_path / "made", draw(), ENTITIES, ENGLISH, Card(name="made"), has_training=True)
    dataset, training = Dataset.read(tmp_path / "made"), Dataset.read(tmp_path / "made" / "train")
    assert (dataset.name, training.name) == ("made", "made-train")
    assert [(e.title, e.page_id, e.qid, e.commonness, e.redirects) for e in dataset.entities.values()] == [
        ("Bob Smith", 2, "Q2", 40, ("Robert Smith",)),
        ("Ann Smith", 1, None, 9, ()),
        ("Cid Smith", 3, None, 4, ()),
        ("Ourika", 4, None, 2, ()),
    ]
    assert next(dataset.snippets("top")).source in {"http://Bob.example/0", "http://Bob.example/1"}
    assert training.count() == 5


def pages(*cuts: Cut) -> list[PageText]:
    return [PageText(one.url, f"Before. {one.original} After.") for one in cuts]


def check(cuts: list[Cut], *files: list[PageText]) -> None:
    """Checks snippets with the page texts of some files."""
    checking = CutCheck(RecordTable(map(RecordList, files), lambda page: page.url))
    for one in cuts:
        checking.check(one)


def test_right_snippets_pass() -> None:
    check(ANN, pages(*ANN))
    check([*ANN, *OURIKA], pages(*ANN), pages(*OURIKA))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"start": 8}, "the mention is ' Smith'"),
        ({"text": "Long ago Smithy wrote letter number 0."}, "the mention stands inside a longer word"),
        ({"written": "Eve Smith"}, "putting the original name back does not give its sentence"),
    ],
)
def test_one_wrong_span_and_nothing_is_written(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(BuildError, match=f"^a snippet of 'Ann Smith' from http://Ann.example/0 is wrong.*: {why}$"):
        check([replace(ANN[0], **wrong)], pages(ANN[0]))


QUALIFIED = Cut(
    entity="Ann Smith (poet)",
    space="Smith",
    text="Long ago Smith wrote to Smith (poet).",
    start=9,
    end=14,
    written="Ann Smith",
    original="Long ago Ann Smith wrote to Ann Smith (poet).",
    url="http://poets.example",
    place=0,
    also=((24, "Ann Smith"),),
)


def test_a_mention_without_the_qualifier_of_its_title_passes() -> None:
    check([QUALIFIED], pages(QUALIFIED))
    full = replace(QUALIFIED, text="Long ago Smith wrote to Smith.", also=((24, "Ann Smith (poet)"),))
    check([full], pages(full))


@pytest.mark.parametrize("written", ["Ann Smith (painter)", "Smith", "Ann"])
def test_a_mention_that_is_neither_the_title_nor_the_title_without_its_qualifier_is_refused(written: str) -> None:
    wrong = replace(QUALIFIED, written=written, original=f"Long ago {written} wrote to Ann Smith (poet).")
    with pytest.raises(BuildError, match=r"putting the original name back does not give its sentence$"):
        check([wrong], pages(wrong))


def count(drawn: Draw) -> CardCounts:
    counts = CardCounts(drawn, ENGLISH)
    for subset, each in drawn.list_all():
        counts.add(subset, each)
    return counts


def test_the_card_counts_snippets_by_the_kind_of_their_mention() -> None:
    bob = replace(BOB[1], entity="Bob Smith (poet)", written="Bob Smith")
    space = FoundSpace("Smith", "Smith", ("Ann Smith", "Bob Smith (poet)"))
    entities = {**ENTITIES, bob.entity: FoundEntity(bob.entity, 2, commonness=40)}
    cuts = RecordList([*ANN, bob, replace(bob, written=bob.entity)])
    found = Draw(choose_spaces([space], entities, cuts, Funnel("assemble")), TailCuts(RecordList(OURIKA)), "made", 7)
    assert count(found).count_mentions() == {
        "top": {"full title": 1, "without qualifier": 1},
        "shadow": {"full title": 3, "without qualifier": 0},
        "tail": {"full title": 2, "without qualifier": 0},
    }


def test_a_sentence_that_its_page_does_not_have_is_refused() -> None:
    with pytest.raises(BuildError, match=r"the page does not have its sentence$"):
        check([ANN[0]], [PageText(ANN[0].url, "Long ago Ann Smith wrote no letter.")])
    with pytest.raises(BuildError, match=r"its page is not kept$"):
        check([ANN[0]], [])


def golds() -> dict[Subset, set[str]]:
    return list_golds(chosen(*ANN, *BOB, *CID)[0], ["Ourika"])


def test_table_1_counts_both_parts_together() -> None:
    rows = count(draw(7, *ANN, *BOB, replace(CID[0], sentences=3))).make_table_1(golds(), 1)
    # Every snippet is "Long ago Smith wrote letter number N.": seven words. The templates have two words each.
    assert rows["top"] == {"spaces": 1, "entities": 1, "snippets": 2, "words": 7.0, "sentences": 1.0}
    # Three snippets of one sentence, and one of three: 6 / 4.
    assert rows["shadow"] == {"spaces": 1, "entities": 2, "snippets": 4, "words": 7.0, "sentences": 1.5}
    assert rows["tail"] == {"spaces": 0, "entities": 1, "snippets": 2, "words": 7.0, "sentences": 1.0}
    assert rows["neutral"] == {"spaces": 1, "entities": 0, "snippets": 2, "words": 2.0, "sentences": 1.0}


def test_averages_have_two_decimal_places() -> None:
    # Three snippets of Ann, one of them with two sentences: 4 / 3.
    longer = replace(ANN[0], text=f"{ANN[0].text} Again.", sentences=2)
    rows = count(draw(7, longer, *ANN[1:], *BOB)).make_table_1(golds(), 1)
    # Eight words and twice seven: 22 / 3.
    assert (rows["shadow"]["words"], rows["shadow"]["sentences"]) == (7.33, 1.33)


def test_there_is_a_training_part_only_if_snippets_are_left() -> None:
    assert count(draw()).has_training
    alone = Draw(chosen(ANN[0], BOB[0])[0], TailCuts(RecordList(OURIKA[:1])), "made", 7)
    assert not count(alone).has_training


def test_pages_of_snippets_are_counted_once_by_their_source() -> None:
    crawled = [
        Crawled(ANN[0].url, "GET a", captured="2020-03-05T10:00:00Z"),
        Crawled(ANN[1].url, "GET b", captured="2020-02-01T10:00:00Z"),
        Crawled(BOB[0].url, "GET c"),
        Crawled("http://elsewhere.example", "GET d"),
    ]
    found = count(draw()).count_pages(crawled, [crawled[0], Crawled(OURIKA[0].url, "GET e")])
    assert found == {
        "captured": {
            "pages": 2,
            "first": "2020-02-01",
            "last": "2020-03-05",
            "months": {"2020-02": 1, "2020-03": 1},
        },
        "requested": {"pages": 2},
    }


def test_without_captures_there_is_no_first_and_no_last_day() -> None:
    found = count(draw()).count_pages([Crawled(ANN[0].url, "GET a")])
    assert found == {"captured": {"pages": 0, "months": {}}, "requested": {"pages": 1}}


def test_the_distribution_of_commonness_is_in_bins_that_grow() -> None:
    found = count_commonness(golds(), ENTITIES)
    bins = found["bins"]
    assert (bins[:3], bins[-1]) == ([0, 1, 3], 1_000_000)
    assert bins[3:] == [10 * edge for edge in bins[1:-2]]
    # Shadow: Ann has 9 and Cid 4, both from 3 to below 10. Top: Bob has 40, from 30 to below 100. Ourika has 2.
    assert found["shadow"]["counts"][:4] == [0, 0, 2, 0]
    assert found["top"]["counts"][:6] == [0, 0, 0, 0, 1, 0]
    assert found["tail"]["counts"][:3] == [0, 1, 0]
    assert (found["shadow"]["median"], found["shadow"]["least"], found["shadow"]["most"]) == (6.5, 4, 9)


@pytest.mark.parametrize("code", ["de", "en", "es", "fr"])
def test_every_language_has_seven_templates_that_hold_the_name_once(code: str) -> None:
    templates = read_language(code).neutral
    assert len(set(templates)) == 7
    assert all(template.count("{name}") == 1 for template in templates)
