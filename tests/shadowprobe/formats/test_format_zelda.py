"""ZELDA's JSONL, on small files with every quirk of the real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import Dataset, formats
from shadowprobe.base.model import Entity, EntitySpace, Snippet
from shadowprobe.cli import main
from shadowprobe.errors import InputError, UsageError
from shadowprobe.formats import zelda
from shadowprobe.formats.documents import AnnotatedDocument, Mention
from shadowprobe.formats.imported import Imported, Remark

Line = dict[str, Any]


def line(name: str | int, text: str, *mentions: tuple[int, int, int, str]) -> Line:
    """A document; a mention is start, end, page id and title."""
    return {
        "id": name,
        "text": text,
        "index": [[start, end] for start, end, _, _ in mentions],
        "wikipedia_ids": [page_id for _, _, page_id, _ in mentions],
        "wikipedia_titles": [title for _, _, _, title in mentions],
    }


TOP = line("Top: Ree", "They rowed on Ree all day.", (14, 17, 1, "Lough Ree"))
SHADOW = line("Shadow: Ree", "The film Ree won a prize.", (9, 12, 2, "Ree (film)"))
TAIL = line("Tail: PandaDoc", "At work, PandaDoc is used.", (9, 17, 3, "PandaDoc"))
SOCCER = line("1163testb SOCCER", "Japan beat Syria.", (0, 5, 11, "Japan team"), (11, 16, 12, "Syria team"))


def write(tmp_path: Path, *lines: Line, name: str = "test.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(item) + "\n" for item in lines), encoding="utf-8")
    return path


def read(tmp_path: Path, *lines: Line) -> Imported:
    return formats.read("zelda", [write(tmp_path, *lines)])


def test_documents_of_the_shadowlink_copy_keep_their_subsets_and_spaces(tmp_path: Path) -> None:
    paths = [
        # Not in the order of the subsets, as a shell sorts the names of the real files.
        write(tmp_path, SHADOW, name="shadow.jsonl"),
        write(tmp_path, TAIL, name="tail.jsonl"),
        write(tmp_path, TOP, name="top.jsonl"),
    ]
    imported = formats.read("zelda", paths)
    assert imported.entities == [Entity("Ree (film)", 2), Entity("PandaDoc", 3), Entity("Lough Ree", 1)]
    assert imported.spaces == [EntitySpace("Ree", ("Lough Ree", "Ree (film)"))]
    assert imported.snippets == {
        "top": [Snippet("zelda-top-0001", "top", TOP["text"], 14, 17, space="Ree", gold="Lough Ree")],
        "shadow": [Snippet("zelda-shadow-0001", "shadow", SHADOW["text"], 9, 12, space="Ree", gold="Ree (film)")],
        "tail": [Snippet("zelda-tail-0001", "tail", TAIL["text"], 9, 17, gold="PandaDoc")],
    }
    assert imported.remarks == []
    assert imported.card.title == "ZELDA: shadow, tail, top"


def test_every_mention_of_another_document_is_a_snippet_of_the_subset_all(tmp_path: Path) -> None:
    imported = read(tmp_path, SOCCER, line(7, "Ree", (0, 3, 1, "Lough Ree")))
    assert imported.snippets == {
        "all": [
            Snippet("zelda-test-0001#0", "all", SOCCER["text"], 0, 5, gold="Japan team", document="zelda-test-0001"),
            Snippet("zelda-test-0001#1", "all", SOCCER["text"], 11, 16, gold="Syria team", document="zelda-test-0001"),
            Snippet("zelda-test-0002", "all", "Ree", 0, 3, gold="Lough Ree"),
        ]
    }
    assert imported.spaces == []
    assert imported.remarks == []


def test_the_mentions_of_a_line_stay_one_document_when_they_go_out_again(tmp_path: Path) -> None:
    twice = line("1163testb SOCCER", "Syria beat Japan.", (0, 5, 12, "Syria team"), (11, 16, 11, "Japan team"))
    dataset = read(tmp_path, SOCCER, twice).write(tmp_path / "data")
    assert list(formats.write("zelda", dataset, tmp_path / "out").values()) == [2]
    found = list(zelda.read_documents(tmp_path / "out" / "zelda-all.jsonl"))
    assert [[mention.title for mention in document.mentions] for document in found] == [
        ["Japan team", "Syria team"],
        ["Syria team", "Japan team"],
    ]


def test_blank_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text(f"\n{json.dumps(TAIL)}\n  \n", encoding="utf-8")
    assert [snippet.id for snippet in formats.read("zelda", [path]).snippets["tail"]] == ["zelda-test-0002"]


@pytest.mark.parametrize(
    ("text", "index", "mended", "action", "why"),
    [
        ("COUNCIL FOR Ree PARISH", (11, 15), (12, 15), "repaired", "white space in the span"),
        ("While \u200bRee\u200b does", (6, 10), (7, 10), "repaired", "span on other words"),
        ("Village of Ree council", (8, 11), (11, 14), "repaired", "span on other words"),
        ("At three Ree left.", (5, 8), (9, 12), "repaired", "span inside a longer word"),
        ("At three they left.", (5, 8), (5, 8), "kept", "span inside a longer word"),
        ("Share this story.", (0, 5), None, "dropped", "span on other words, and the name is not in the text"),
        ("Ree and Ree.", (-1, 2), None, "dropped", "negative offset, and the name stands in 2 places"),
        ("Only Ree.", (0, 49), (5, 8), "repaired", "offset outside the text"),
    ],
)
def test_a_faulty_span_of_a_named_document_is_repaired_or_dropped_or_kept_and_listed(
    tmp_path: Path, text: str, index: tuple[int, int], mended: tuple[int, int] | None, action: str, why: str
) -> None:
    imported = read(tmp_path, line("Top: Ree", text, (*index, 1, "Lough Ree")), SHADOW)
    assert [(snippet.start, snippet.end) for snippet in imported.snippets.get("top", [])] == (
        [mended] if mended else []
    )
    detail = f"'Ree' [{index[0]}, {index[1]}]"
    assert imported.remarks == [Remark(action, why, "zelda-test-0001", detail)]  # type: ignore[arg-type]
    # The name keeps its space, so that its Shadow stays one.
    assert [snippet.space for snippet in imported.snippets["shadow"]] == ["Ree"]


@pytest.mark.parametrize(
    ("index", "mended", "action", "why"),
    [
        ((2, 6), (3, 6), "repaired", "white space in the span"),
        ((2, 3), None, "dropped", "span of nothing but white space"),
        ((-1, 2), None, "dropped", "offset outside the text"),
        ((3, 40), None, "dropped", "offset outside the text"),
        ((6, 3), None, "dropped", "offset outside the text"),
    ],
)
def test_a_span_of_a_document_without_a_name_is_trimmed_but_never_looked_for(
    tmp_path: Path, index: tuple[int, int], mended: tuple[int, int] | None, action: str, why: str
) -> None:
    imported = read(tmp_path, line("doc", "at Ree.", (*index, 1, "Ree")), TAIL)
    assert [(snippet.start, snippet.end) for snippet in imported.snippets.get("all", [])] == (
        [mended] if mended else []
    )
    detail = f"[{index[0]}, {index[1]}]"
    assert imported.remarks == [Remark(action, why, "zelda-test-0001", detail)]  # type: ignore[arg-type]


def test_offsets_count_code_points_and_names_are_no_patterns(tmp_path: Path) -> None:
    imported = read(tmp_path, line("Tail: C++", "\U0001f600 I like C and C++.", (15, 18, 4, "C++")))
    assert imported.snippets["tail"][0].mention == "C++"
    assert imported.remarks == []


def test_a_name_may_hold_a_colon_or_the_word_top(tmp_path: Path) -> None:
    text = "Watch Top: The Film now."
    imported = read(tmp_path, line("Top: Top: The Film", text, (6, 19, 4, "Top: The Film (1999)")))
    assert imported.spaces == [EntitySpace("Top: The Film", ("Top: The Film (1999)",))]


@pytest.mark.parametrize(
    "shadow",
    [line("Shadow: Goo", "Our Goo.", (4, 7, 5, "Goo")), line("Shadow: Ree", "On Ree.", (3, 6, 1, "Lough Ree"))],
    ids=["no Top line of its name", "the entity of its Top"],
)
def test_a_shadow_without_a_top_goes_into_all_and_is_listed(tmp_path: Path, shadow: Line) -> None:
    imported = read(tmp_path, TOP, shadow)
    assert [(snippet.subset, snippet.space) for snippet in imported.snippets["all"]] == [("all", None)]
    assert "shadow" not in imported.snippets
    name = shadow["id"].removeprefix("Shadow: ")
    why = "Shadow without its Top put into `all`"
    assert imported.remarks == [Remark("repaired", why, "zelda-test-0002", f"'{name}'")]


def test_a_second_top_of_a_name_goes_into_all_unless_it_is_the_same_entity(tmp_path: Path) -> None:
    again = line("Top: Ree", "Ree at dawn.", (0, 3, 1, "Lough Ree"))
    other = line("Top: Ree", "Ree the village.", (0, 3, 8, "Ree, Thuringia"))
    imported = read(tmp_path, TOP, again, other, SHADOW)
    assert imported.spaces == [EntitySpace("Ree", ("Lough Ree", "Ree (film)"))]
    assert [snippet.id for snippet in imported.snippets["top"]] == ["zelda-test-0001", "zelda-test-0002"]
    assert [snippet.id for snippet in imported.snippets["all"]] == ["zelda-test-0003"]
    why = "second Top of a name put into `all`"
    assert imported.remarks == [Remark("repaired", why, "zelda-test-0003", "'Ree'")]
    assert imported.write(tmp_path / "out").card.counts == {
        "entities": 3,
        "spaces": 1,
        "top": 2,
        "all": 1,
        "shadow": 1,
    }


def test_several_shadows_of_a_name_stand_in_one_space(tmp_path: Path) -> None:
    imported = read(tmp_path, TOP, SHADOW, line("Shadow: Ree", "The ship Ree.", (9, 12, 6, "Ree (ship)")), SHADOW)
    assert imported.spaces == [EntitySpace("Ree", ("Lough Ree", "Ree (film)", "Ree (ship)"))]
    assert len(imported.snippets["shadow"]) == 3


def test_two_titles_of_one_page_are_one_entity(tmp_path: Path) -> None:
    imported = read(tmp_path, TOP, line("doc", "On Ree.", (3, 6, 1, "Loch_Ribh")))
    assert imported.entities == [Entity("Lough Ree", 1, redirects=("Loch Ribh",))]
    assert imported.snippets["all"][0].gold == "Lough Ree"
    why = "two titles of one page made one entity"
    assert imported.remarks == [Remark("repaired", why, "zelda-test-0002", "'Loch Ribh' is 'Lough Ree' (1)")]


def test_one_text_with_two_golds_is_kept_and_listed(tmp_path: Path) -> None:
    imported = read(tmp_path, TOP, line("Shadow: Ree", TOP["text"], (14, 17, 2, "Ree (film)")))
    why = "the same text and mention with another gold entity"
    assert imported.remarks == [Remark("kept", why, "zelda-test-0002", "zelda-test-0001: 'Lough Ree'")]
    assert imported.snippets["shadow"][0].gold == "Ree (film)"


@pytest.mark.parametrize(
    ("bad", "field", "problem"),
    [
        ([TOP], None, "Expected `object`, got `array`"),
        (TOP | {"index": [[14]]}, "index[0]", "Expected `array` of length 2"),
        (TOP | {"index": [["14", 17]]}, "index[0][0]", "Expected `int`, got `str`"),
        (TOP | {"wikipedia_ids": ["1"]}, "wikipedia_ids[0]", "Expected `int | null`, got `str`"),
        (TOP | {"wikipedia_ids": [-1]}, "wikipedia_ids[0]", "Expected `int` >= 1"),
        (TOP | {"wikipedia_titles": [""]}, "wikipedia_titles[0]", "is empty"),
        (TOP | {"wikipedia_titles": []}, None, "index, wikipedia_ids and wikipedia_titles differ in length"),
        (TOP | {"scores": [0.5, 0.5]}, "scores", "index and scores differ in length"),
        ({"id": "Top: Ree"}, "text", "missing required field `text`"),
    ],
)
def test_a_line_of_another_shape_is_refused_by_line_and_field(
    tmp_path: Path, bad: Any, field: str | None, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, SHADOW, bad)
    assert (caught.value.path.name, caught.value.line, caught.value.field) == ("test.jsonl", 2, field)
    assert problem in caught.value.problem


def test_a_file_of_which_nothing_is_left_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"test\.jsonl: has no mention that can be imported"):
        read(tmp_path, line("doc", "at Ree.", (3, 40, 1, "Ree")))


def test_no_file_a_missing_one_and_two_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no \*\.jsonl: zelda takes such files"):
        formats.read("zelda", [tmp_path])
    with pytest.raises(InputError, match=r"none\.jsonl: no such file"):
        formats.read("zelda", [tmp_path / "none.jsonl"])
    (tmp_path / "more").mkdir()
    with pytest.raises(UsageError, match="two files are called test"):
        formats.read("zelda", [write(tmp_path, TOP), write(tmp_path / "more", SHADOW)])


def test_the_command_imports_several_files_that_the_oracle_solves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named, plain = write(tmp_path, TOP, SHADOW, TAIL, name="named.jsonl"), write(tmp_path, SOCCER, name="plain.jsonl")
    out, run = str(tmp_path / "out"), str(tmp_path / "run")
    with pytest.raises(SystemExit, match="0"):
        main(["import", "zelda", str(named), str(plain), "--out", out, "--name", "both", "--json"])
    assert json.loads(capsys.readouterr().out) == {
        "path": out,
        "counts": {"entities": 5, "spaces": 1, "top": 1, "shadow": 1, "tail": 1, "all": 2},
        "repairs": {"counts": {}, "items": []},
    }
    with pytest.raises(SystemExit, match="0"):
        main(["run", "-l", "oracle", "-d", out, "--out", run, "--json"])
    results = json.loads(capsys.readouterr().out)
    assert results["dataset"]["name"] == "both"
    assert {name: (found["n"], found["f1"]) for name, found in results["subsets"].items()} == {
        "top": (1, 1.0),
        "shadow": (1, 1.0),
        "tail": (1, 1.0),
        "all": (2, 1.0),
    }


def test_an_entity_may_lack_its_page_id_and_a_mention_its_entity(tmp_path: Path) -> None:
    nameless = {"wikipedia_ids": [None], "wikipedia_titles": [None]}
    imported = read(tmp_path, TOP | {"wikipedia_ids": [None]}, SHADOW | nameless, TAIL | {"id": "doc"} | nameless)
    assert imported.entities == [Entity("Lough Ree")]
    assert imported.spaces == [EntitySpace("Ree", ("Lough Ree",))]
    assert [snippet.gold for snippet in imported.snippets["all"]] == [None, None]
    why = "a mention without an entity, which is not counted as gold"
    assert imported.remarks == [
        Remark("kept", why, "zelda-test-0002"),
        Remark("kept", why, "zelda-test-0003"),
        Remark("repaired", "mention without an entity put into `all`", "zelda-test-0002", "'Ree'"),
    ]


@pytest.mark.parametrize("page_id", [None, 9])
def test_a_title_of_nil_is_no_gold(tmp_path: Path, page_id: int | None) -> None:
    nil = {"wikipedia_ids": [page_id], "wikipedia_titles": ["NIL"]}
    imported = read(tmp_path, TOP, TAIL | {"id": "doc"} | nil)
    assert imported.entities == [Entity("Lough Ree", 1)]
    assert [snippet.gold for snippet in imported.snippets["all"]] == [None]
    why = "a mention without an entity, which is not counted as gold"
    assert imported.remarks == [Remark("kept", why, "zelda-test-0002")]


NEUTRAL = {"id": "Neutral: Ree", "document": "n1", "text": "Why not Ree?", "index": [[8, 11]]}
NOBODY = {"wikipedia_ids": [None], "wikipedia_titles": [None]}


def test_a_neutral_context_of_ours_is_one_where_its_name_is_known(tmp_path: Path) -> None:
    imported = read(tmp_path, NEUTRAL | NOBODY, TOP)
    assert imported.snippets["neutral"] == [Snippet("n1", "neutral", "Why not Ree?", 8, 11, space="Ree")]
    assert imported.remarks == []


def test_a_neutral_context_of_no_name_or_with_an_entity_goes_into_all_and_is_listed(tmp_path: Path) -> None:
    answered = NEUTRAL | {"wikipedia_ids": [1], "wikipedia_titles": ["Lough Ree"]}
    imported = read(tmp_path, TOP, answered, NEUTRAL | NOBODY | {"id": "Neutral: Goo", "text": "Why not Goo?"})
    assert [(snippet.gold, snippet.space) for snippet in imported.snippets["all"]] == [
        ("Lough Ree", None),
        (None, None),
    ]
    assert [(remark.why, remark.detail) for remark in imported.remarks] == [
        ("neutral context with an entity put into `all`", "'Ree'"),
        ("neutral context of an unknown name put into `all`", "'Goo'"),
    ]


def test_a_document_of_zelda_that_happens_to_be_called_neutral_is_no_neutral_context(tmp_path: Path) -> None:
    imported = read(tmp_path, TOP, line("Neutral: Ree", "Why not Ree?", (8, 11, 1, "Lough Ree")))
    assert [snippet.gold for snippet in imported.snippets["all"]] == ["Lough Ree"]
    assert imported.remarks == []


def test_documents_have_all_their_mentions_under_the_line_s_id_or_ours(tmp_path: Path) -> None:
    path = write(tmp_path, SOCCER, TOP | {"document": "mini-1"}, TAIL | {"wikipedia_ids": [None]})
    assert list(zelda.read_documents(path)) == [
        AnnotatedDocument(
            "1163testb SOCCER", SOCCER["text"], (Mention(0, 5, "Japan team", 11), Mention(11, 16, "Syria team", 12))
        ),
        AnnotatedDocument("mini-1", TOP["text"], (Mention(14, 17, "Lough Ree", 1),)),
        AnnotatedDocument("Tail: PandaDoc", TAIL["text"], (Mention(9, 17, "PandaDoc"),)),
    ]
    with pytest.raises(InputError, match=r"test\.jsonl:1: index, wikipedia_ids and wikipedia_titles differ in length"):
        list(zelda.read_documents(write(tmp_path, TOP | {"index": []})))


def test_a_line_is_called_by_its_subset_and_name(tmp_path: Path) -> None:
    top = AnnotatedDocument("t1", TOP["text"], (Mention(14, 17, "Lough Ree", 1, space="Ree"),), "top")
    tail = AnnotatedDocument("x1", TAIL["text"], (Mention(9, 17, "PandaDoc"),), "tail")
    neutral = AnnotatedDocument("n1", "Why not Ree?", (Mention(8, 11, space="Ree"),), "neutral")
    first, second, third = (json.loads(one) for one in zelda.encode_documents([top, tail, neutral]))
    assert first == TOP | {"document": "t1"}
    assert second == TAIL | {"wikipedia_ids": [None], "document": "x1"}
    assert (third["id"], third["document"]) == ("Neutral: Ree", "n1")
    assert (third["wikipedia_ids"], third["wikipedia_titles"]) == ([None], [None])


def test_an_export_of_the_world_imports_with_its_subsets_spaces_and_spans(world: Dataset, tmp_path: Path) -> None:
    formats.write("zelda", world, tmp_path / "out")
    imported = formats.read("zelda", [tmp_path / "out"])
    assert {space.name: space for space in imported.spaces} == world.spaces
    for subset in world.subsets:
        assert [
            (snippet.text, snippet.start, snippet.end, snippet.space, snippet.gold)
            for snippet in imported.snippets[subset]
        ] == [
            (snippet.text, snippet.start, snippet.end, snippet.space, snippet.gold)
            for snippet in world.snippets(subset)
        ]
    assert imported.remarks == []
    assert {entity.title: entity.page_id for entity in imported.entities} == {
        entity.title: entity.page_id for entity in world.entities.values()
    }


def test_an_id_names_the_marked_words_of_tail_and_the_space_of_the_others() -> None:
    text, mention = "On Avon.", Mention(3, 7, title="Avon", space="The Avon")
    for subset, name in (
        ("tail", "Tail: Avon"),
        ("top", "Top: The Avon"),
        ("shadow", "Shadow: The Avon"),
        ("neutral", "Neutral: The Avon"),
        ("all", "d"),
    ):
        (made,) = zelda.encode_documents([AnnotatedDocument("d", text, (mention,), subset)])  # type: ignore[arg-type]
        assert json.loads(made)["id"] == name
    # Without a mention or a space there is nothing to name it by.
    for document in (
        AnnotatedDocument("d", text, (), "tail"),
        AnnotatedDocument("d", text, (), "top"),
        AnnotatedDocument("d", text, (Mention(3, 7, title="Avon"),), "top"),
    ):
        (made,) = zelda.encode_documents([document])
        assert json.loads(made)["id"] == "d"
