"""The reader of the ShadowLink release, on small files with every quirk of the real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import formats
from shadowprobe.base.model import Entity, EntitySpace, Snippet, Subset
from shadowprobe.cli import main
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import InputError, UsageError
from shadowprobe.formats.imported import Imported, Remark

# The last holds the name "In" in its own words, as a template of the release does.
TEMPLATES = ("I see {}", "{} is a whole different story.", "There is {} because why not. In the end, I saw.")
LOCATED = "neutral mentions located (the release has no offsets)"

Row = dict[str, Any]


def row(name: str | None, page_id: int, title: str, text: str, span: tuple[int, int]) -> Row:
    named: Row = {"entity_space_name": name} if name is not None else {}
    return named | {"wiki_id": page_id, "entity_name": title, "example": text, "span": list(span)}


def neutral(name: str, *texts: str) -> Row:
    return {"entity_space": name, "neutral_examples": list(texts or (template.format(name) for template in TEMPLATES))}


TOP = row("Ree", 1, "Lough Ree", "They rowed on Ree all day.", (14, 3))
SHADOW = row("Ree", 2, "Ree (film)", "The film Ree won a prize.", (9, 3))
NEUTRAL = neutral("Ree")
TAIL = row(None, 3, "PandaDoc", "At work, PandaDoc is used.", (9, 8))


def release(
    tmp_path: Path,
    top: Any = (TOP,),
    shadow: Any = (SHADOW,),
    tail: Any = (TAIL,),
    neutrals: Any = (NEUTRAL,),
) -> Path:
    directory = tmp_path / "release"
    directory.mkdir()
    for name, rows in (("Top", top), ("Shadow", shadow), ("Tail", tail), ("Neutral", neutrals)):
        (directory / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    return directory


def read(directory: Path) -> Imported:
    return formats.read("shadowlink", [directory])


def remarks(imported: Imported) -> list[Remark]:
    """All but the one about neutral mentions, which every release gets."""
    return [remark for remark in imported.remarks if remark.why != LOCATED]


def spans(imported: Imported, subset: Subset) -> list[tuple[int, int]]:
    return [(snippet.start, snippet.end) for snippet in imported.snippets[subset]]


def test_a_faultless_release_is_taken_as_it_stands(tmp_path: Path) -> None:
    imported = read(release(tmp_path))
    assert imported.entities == [Entity("Lough Ree", 1), Entity("Ree (film)", 2), Entity("PandaDoc", 3)]
    assert imported.spaces == [EntitySpace("Ree", ("Lough Ree", "Ree (film)"))]
    assert imported.snippets["top"] == [
        Snippet("shadowlink-top-0000", "top", TOP["example"], 14, 17, space="Ree", gold="Lough Ree")
    ]
    assert imported.snippets["shadow"] == [
        Snippet("shadowlink-shadow-0000", "shadow", SHADOW["example"], 9, 12, space="Ree", gold="Ree (film)")
    ]
    assert imported.snippets["tail"] == [
        Snippet("shadowlink-tail-0000", "tail", TAIL["example"], 9, 17, gold="PandaDoc")
    ]
    assert spans(imported, "neutral") == [(6, 9), (0, 3), (9, 12)]
    assert [snippet.template for snippet in imported.snippets["neutral"]] == [0, 1, 2]
    assert imported.remarks == [Remark("repaired", LOCATED, "Neutral.json", "3")]


@pytest.mark.parametrize(
    ("text", "span", "mended", "action", "why"),
    [
        ("At three, Ree left.", (-1, 3), (10, 13), "repaired", "negative offset"),
        ("Ree and Ree.", (-1, 3), None, "dropped", "negative offset, and the name stands in 2 places"),
        ("At three.", (-1, 3), None, "dropped", "negative offset, and the name is not in the text"),
        ("Now Ree left.", (3, 5), (4, 7), "repaired", "white space in the span"),
        ("Now Ree left.", (8, 3), (4, 7), "repaired", "span on other words"),
        ("Ree or Ree left.", (11, 3), None, "dropped", "span on other words, and the name stands in 2 places"),
        ("Now Ree left.", (11, 3), (4, 7), "repaired", "offset outside the text"),
        ("At three Ree left.", (5, 3), (9, 12), "repaired", "span inside a longer word"),
        ("At three they left.", (5, 3), (5, 8), "kept", "span inside a longer word"),
    ],
)
def test_a_faulty_span_is_repaired_or_dropped_or_kept_and_listed(
    tmp_path: Path, text: str, span: tuple[int, int], mended: tuple[int, int] | None, action: str, why: str
) -> None:
    imported = read(release(tmp_path, top=[row("Ree", 1, "Lough Ree", text, span)]))
    assert spans(imported, "top") == ([mended] if mended else [])
    (remark,) = remarks(imported)
    assert (remark.action, remark.why, remark.where) == (action, why, "shadowlink-top-0000")
    assert remark.detail == f"'Ree' {span}"


def test_the_name_of_a_tail_row_is_its_title(tmp_path: Path) -> None:
    tail = [
        row(None, 3, "Rosemary M. Wixom", "Sister Rosemary M.", (-1, 17)),
        row(None, 4, "Matroid polytope", "We express the matroid polytope of", (-1, 16)),
    ]
    imported = read(release(tmp_path, tail=tail))
    assert [(snippet.id, snippet.mention) for snippet in imported.snippets["tail"]] == [
        ("shadowlink-tail-0001", "matroid polytope")
    ]
    assert [remark.action for remark in remarks(imported)] == ["dropped", "repaired"]


def test_offsets_count_code_points_and_a_name_in_other_case_is_no_fault(tmp_path: Path) -> None:
    imported = read(release(tmp_path, top=[row("Ree", 1, "Lough Ree", "\U0001f600\U0001f6a3 on REE!", (6, 3))]))
    assert imported.snippets["top"][0].mention == "REE"
    assert remarks(imported) == []


def test_two_titles_of_one_page_are_one_entity(tmp_path: Path) -> None:
    top = [TOP, row("Loop", 5, "Inclined loop", "A Loop.", (2, 4)), row("Turn", 5, "Immelmann_loop", "A Turn.", (2, 4))]
    imported = read(release(tmp_path, top=top))
    assert Entity("Inclined loop", 5, redirects=("Immelmann loop",)) in imported.entities
    assert [snippet.gold for snippet in imported.snippets["top"]] == ["Lough Ree", "Inclined loop", "Inclined loop"]
    detail = "'Immelmann loop' is 'Inclined loop' (5)"
    why = "two titles of one page made one entity"
    assert remarks(imported) == [Remark("repaired", why, "shadowlink-top-0002", detail)]


def test_two_page_ids_of_one_title_are_one_entity(tmp_path: Path) -> None:
    imported = read(release(tmp_path, tail=[TAIL, row(None, 4, "PandaDoc", "PandaDoc too.", (0, 8))]))
    assert [entity for entity in imported.entities if entity.title == "PandaDoc"] == [Entity("PandaDoc", 3)]
    why = "two page ids of one title made one entity"
    assert remarks(imported) == [Remark("repaired", why, "shadowlink-tail-0001", "'PandaDoc': 3, 4")]


def test_one_text_with_two_golds_is_kept_and_listed(tmp_path: Path) -> None:
    imported = read(release(tmp_path, shadow=[SHADOW | {"example": TOP["example"], "span": TOP["span"]}]))
    assert imported.snippets["shadow"][0].gold == "Ree (film)"
    why = "the same text and mention with another gold entity"
    assert remarks(imported) == [Remark("kept", why, "shadowlink-shadow-0000", "shadowlink-top-0000: 'Lough Ree'")]


@pytest.mark.parametrize(
    "shadow",
    [SHADOW | {"entity_space_name": "Goo", "example": "The film Goo won."}, SHADOW | {"wiki_id": 1}],
    ids=["no Top row of its name", "the page of its Top"],
)
def test_a_shadow_row_that_has_no_top_to_overshadow_it_is_dropped(tmp_path: Path, shadow: Row) -> None:
    imported = read(release(tmp_path, shadow=[shadow]))
    assert imported.snippets["shadow"] == []
    assert imported.spaces == [EntitySpace("Ree", ("Lough Ree",))]
    (dropped,) = [remark for remark in remarks(imported) if remark.action == "dropped"]
    assert dropped.where == "shadowlink-shadow-0000"
    assert dropped.why == "Shadow row without a Top row of its name, or with the same entity"


def test_a_name_whose_top_snippet_is_dropped_keeps_its_space(tmp_path: Path) -> None:
    imported = read(release(tmp_path, top=[TOP | {"example": "no name", "span": [-1, 3]}]))
    assert imported.spaces == [EntitySpace("Ree", ("Lough Ree", "Ree (film)"))]
    assert {subset: len(found) for subset, found in imported.snippets.items()} == {
        "top": 0,
        "shadow": 1,
        "tail": 1,
        "neutral": 3,
    }
    assert Dataset.read(imported.write(tmp_path / "out").path).subsets == ("shadow", "tail", "neutral")


def names(*found: str) -> list[Row]:
    return [
        row(name, 10 + number, f"Thing {number}", f"A {name}.", (2, len(name))) for number, name in enumerate(found)
    ]


def test_neutral_mentions_are_located_by_template_and_not_by_search(tmp_path: Path) -> None:
    # "In" stands in the third template's own words; "C++" and "A.C." are not to be read as patterns.
    found = ("Ree", "In", "C++", "A.C.", "Goo")
    imported = read(release(tmp_path, top=names(*found), shadow=[], neutrals=[neutral(name) for name in found]))
    assert [(snippet.space, snippet.start, snippet.end) for snippet in imported.snippets["neutral"]] == [
        *(("Ree", 6, 9), ("Ree", 0, 3), ("Ree", 9, 12)),
        *(("In", 6, 8), ("In", 0, 2), ("In", 9, 11)),
        *(("C++", 6, 9), ("C++", 0, 3), ("C++", 9, 12)),
        *(("A.C.", 6, 10), ("A.C.", 0, 4), ("A.C.", 9, 13)),
        *(("Goo", 6, 9), ("Goo", 0, 3), ("Goo", 9, 12)),
    ]
    assert imported.remarks == [Remark("repaired", LOCATED, "Neutral.json", "15")]


@pytest.mark.parametrize(
    ("text", "span", "action", "why"),
    [
        ("Today I met Ree.", (12, 15), "repaired", "neutral context of no template, its name located in its one place"),
        ("Ree met Ree.", None, "dropped", "neutral context in which the name cannot be located"),
        ("I see three", None, "dropped", "neutral context in which the name cannot be located"),
    ],
)
def test_a_neutral_context_of_no_template_is_located_in_its_one_place_or_dropped(
    tmp_path: Path, text: str, span: tuple[int, int] | None, action: str, why: str
) -> None:
    rows = [neutral("Goo", "I see Goo"), neutral("In", "I see In"), neutral("Ree", text)]
    imported = read(release(tmp_path, top=names("Ree", "Goo", "In"), shadow=[], neutrals=rows))
    found = [(snippet.start, snippet.end) for snippet in imported.snippets["neutral"] if snippet.space == "Ree"]
    assert found == ([span] if span else [])
    assert remarks(imported) == [Remark(action, why, "shadowlink-neutral-0002-0", "'Ree'")]  # type: ignore[arg-type]


def test_neutral_contexts_of_an_unknown_name_are_dropped_one_by_one(tmp_path: Path) -> None:
    imported = read(release(tmp_path, neutrals=[neutral("Ree"), neutral("Goo")]))
    assert [snippet.space for snippet in imported.snippets["neutral"]] == ["Ree"] * 3
    assert [(remark.action, remark.why, remark.where) for remark in remarks(imported)] == [
        ("dropped", "neutral context of an unknown name", f"shadowlink-neutral-0001-{column}") for column in range(3)
    ]


@pytest.mark.parametrize(("of_ree", "of_goo"), [(8, 8), (7, 7), (7, 8)])
def test_a_name_may_have_seven_or_eight_neutral_contexts(tmp_path: Path, of_ree: int, of_goo: int) -> None:
    templates = [f"Story {number} is about {{}}, they say." for number in range(8)]
    rows = [
        neutral("Ree", *(template.format("Ree") for template in templates[:of_ree])),
        neutral("Goo", *(template.format("Goo") for template in templates[:of_goo])),
    ]
    imported = read(release(tmp_path, top=names("Ree", "Goo"), shadow=[], neutrals=rows))
    found = imported.snippets["neutral"]
    assert [snippet.template for snippet in found] == [*range(of_ree), *range(of_goo)]
    assert {snippet.mention for snippet in found} == {"Ree", "Goo"}


@pytest.mark.parametrize(
    ("file", "parts", "field"),
    [
        ("Top.json", {"top": [TOP, TOP]}, "entity_space_name"),
        ("Shadow.json", {"shadow": [SHADOW, SHADOW | {"wiki_id": 9}]}, "entity_space_name"),
        ("Neutral.json", {"neutrals": [NEUTRAL, NEUTRAL]}, "entity_space"),
    ],
)
def test_a_name_that_stands_twice_in_a_file_is_refused(
    tmp_path: Path, file: str, parts: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError, match="'Ree' stands twice, in row 1") as caught:
        read(release(tmp_path, **parts))
    assert (caught.value.path.name, caught.value.field) == (file, field)


@pytest.mark.parametrize(
    ("file", "parts", "field", "problem"),
    [
        ("Top.json", {"top": {"rows": []}}, None, "Expected `array`, got `object`"),
        ("Top.json", {"top": [TOP | {"wiki_id": "1"}]}, "[0].wiki_id", "Expected `int`, got `str`"),
        ("Top.json", {"top": [TOP | {"wiki_id": 0}]}, "[0].wiki_id", "Expected `int` >= 1"),
        ("Top.json", {"top": [TOP | {"entity_name": ""}]}, "[0].entity_name", "is empty"),
        ("Top.json", {"top": [TOP | {"entity_space_name": ""}]}, "[0].entity_space_name", "is empty"),
        ("Top.json", {"top": [TAIL]}, "entity_space_name", "is missing in row 0"),
        ("Shadow.json", {"shadow": [SHADOW, SHADOW | {"span": [1]}]}, "[1].span", "Expected `array` of length 2"),
        ("Tail.json", {"tail": [TAIL | {"example": None}]}, "[0].example", "Expected `str`, got `null`"),
        ("Neutral.json", {"neutrals": [{"entity_space": "Ree"}]}, "[0]", "missing required field `neutral_examples`"),
        ("Neutral.json", {"neutrals": [neutral("")]}, "[0].entity_space", "is empty"),
    ],
)
def test_a_row_of_another_shape_is_refused_by_file_and_field(
    tmp_path: Path, file: str, parts: dict[str, Any], field: str | None, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(release(tmp_path, **parts))
    assert (caught.value.path.name, caught.value.field) == (file, field)
    assert problem in caught.value.problem


@pytest.mark.parametrize("name", ["Top.json", "Shadow.json", "Tail.json", "Neutral.json"])
def test_a_file_that_is_missing_or_not_json_is_named(tmp_path: Path, name: str) -> None:
    directory = release(tmp_path)
    (directory / name).write_text("<html>", encoding="utf-8")
    with pytest.raises(InputError, match=rf"{name}:.* not valid JSON"):
        read(directory)
    (directory / name).unlink()
    with pytest.raises(InputError, match=rf"{name}: no such file"):
        read(directory)


def test_anything_but_one_directory_is_refused(tmp_path: Path) -> None:
    for paths in ([], [tmp_path, tmp_path]):
        with pytest.raises(UsageError, match=r"takes one directory: the one that contains Top\.json"):
            formats.read("shadowlink", paths)
    with pytest.raises(
        UsageError, match=r"nowhere is not a directory: import shadowlink takes the one that contains Top"
    ):
        read(tmp_path / "nowhere")


def test_a_format_that_does_not_exist_gets_a_hint() -> None:
    with pytest.raises(UsageError, match=r"unknown format `shadowlinks` \(did you mean `shadowlink`\?\)"):
        formats.read("shadowlinks", [])


def test_the_card_and_the_command_list_every_repair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tail = [TAIL | {"span": [-1, 8]}, row(None, 4, "Nowhere", "not here", (-1, 7))]
    out = tmp_path / "out"
    arguments = ["import", "shadowlink", str(release(tmp_path, tail=tail)), "--out", str(out)]
    with pytest.raises(SystemExit, match="0"):
        main(arguments)
    printed = capsys.readouterr().out
    assert "repaired: negative offset (1)" in printed
    assert "dropped: negative offset, and the name is not in the text (1)" in printed
    assert "shadowlink-tail-0001  'Nowhere' (-1, 7)" in printed
    repairs = json.loads((out / "dataset.json").read_text(encoding="utf-8"))["repairs"]
    assert repairs["counts"] == {
        "repaired": {"negative offset": 1, LOCATED: 1},
        "dropped": {"negative offset, and the name is not in the text": 1},
    }
    assert [item["where"] for item in repairs["items"]] == [
        "shadowlink-tail-0000",
        "shadowlink-tail-0001",
        "Neutral.json",
    ]


def test_the_oracle_solves_an_imported_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read(release(tmp_path)).write(tmp_path / "out")
    run = ["run", "-l", "oracle", "-d", str(tmp_path / "out"), "--out", str(tmp_path / "run"), "--json"]
    with pytest.raises(SystemExit, match="0"):
        main(run)
    subsets = json.loads(capsys.readouterr().out)["subsets"]
    assert {name: (found["n"], found["f1"]) for name, found in subsets.items()} == {
        "top": (1, 1.0),
        "shadow": (1, 1.0),
        "tail": (1, 1.0),
    }
