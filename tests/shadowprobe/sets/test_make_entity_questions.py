"""Entity questions from triples and from a small Wikidata."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from service import serving
from wikibase_standin import Wikibase
from wikidata_world import NAMES, write_dump, write_views

from shadowprobe.errors import BuildError, InputError, UsageError
from shadowprobe.queries.question_files import Question, read_questions
from shadowprobe.sets.entity_questions import (
    SampleSize,
    make_from_triples,
    make_from_wikidata,
    refuse_to_overwrite,
    write_questions,
)
from shadowprobe.sets.fact_source import Origin
from shadowprobe.sets.popularity import FileViews
from shadowprobe.sets.sampling import SubjectSample

TABLE = """\
Ada Quill\tP19\tPorthgain|Port Gain\t7
Veep\tP170\tArmando Iannucci
Ada Quill\tP19\tDunmere\t9
Ada Quill\tP21\tfemale
Veep\tP170\tArmando Iannucci|A. Iannucci
"""


@pytest.fixture
def triples(tmp_path: Path) -> Path:
    path = tmp_path / "triples.tsv"
    path.write_text(TABLE)
    return path


def test_objects_of_one_subject_and_relation_are_answers_to_one_question(triples: Path) -> None:
    made, dropped = make_from_triples(triples, SampleSize())
    assert made == {
        "P19": [Question("Where was Ada Quill born?", ("Porthgain", "Port Gain", "Dunmere"), "Ada Quill", 9)],
        "P170": [Question("Who was Veep created by?", ("Armando Iannucci", "A. Iannucci"), "Veep")],
    }
    assert dropped == {"triples whose relation has no question": 1}


def test_json_lines_say_the_same(triples: Path, tmp_path: Path) -> None:
    lines = [
        {"subject": "Ada Quill", "property": "P19", "object": ["Porthgain", "Port Gain"], "frequency": 7},
        {"subject": "Veep", "property": "P170", "object": "Armando Iannucci"},
        {"subject": "Ada Quill", "property": "P19", "object": "Dunmere", "frequency": 9},
        {"subject": "Ada Quill", "property": "P21", "object": "female"},
        {"subject": "Veep", "property": "P170", "object": ["Armando Iannucci", "A. Iannucci"]},
    ]
    path = tmp_path / "triples.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    assert make_from_triples(path, SampleSize()) == make_from_triples(triples, SampleSize())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Ada\tP19", "has 2 columns: expected subject, property, object and perhaps a frequency"),
        ("Ada\tP19\tRome\t7\t8", "has 5 columns"),
        ("Ada\tborn in\tRome", "field `property`: 'born in' is not the number of a property, such as P19"),
        ("\tP19\tRome", "field `subject`: is empty"),
        ("Ada\tP19\t", "field `object`: is empty"),
        ("Ada\tP19\tRome||Roma", "field `object`: is empty"),
        ("Ada\tP19\tRome\toften", "the frequency 'often' is not a whole number"),
        ('{"subject": "Ada", "property": "P19"}', "missing required field `object`"),
        ('{"subject": "Ada", "property": "P19", "object": []}', "field `object`: is empty"),
        ('{"subject": "Ada", "property": "P19", "object": "R", "frequency": -1}', "field `frequency`: is negative"),
        ('{"subject": "Ada",', r"not valid JSON \("),
        ("Ada\tP19\tR\udce9", "is not UTF-8"),
    ],
)
def test_an_invalid_triple_is_refused_with_its_line(line: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "triples.txt"
    path.write_bytes(f"Veep\tP170\tA\n\n{line}\n".encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=rf"triples\.txt:3: .*{problem}"):
        make_from_triples(path, SampleSize())


def drawn(sample: SubjectSample, subjects: Iterator[str] | list[str]) -> list[str | None]:
    for subject in subjects:
        sample.add(subject, subject, [f"of {subject}"])
    return [question.subject for question in sample.make_questions()]


def test_a_draw_takes_so_many_and_depends_on_nothing_but_the_seed() -> None:
    subjects = [f"subject {number}" for number in range(500)]
    first = drawn(SubjectSample("P19", 20, 7), subjects)
    shuffled = subjects.copy()
    random.Random(1).shuffle(shuffled)
    assert len(set(first)) == 20
    assert drawn(SubjectSample("P19", 20, 7), shuffled) == first
    assert drawn(SubjectSample("P19", 20, 8), subjects) != first
    assert drawn(SubjectSample("P20", 20, 7), subjects) != first


def test_a_smaller_draw_is_the_beginning_of_a_larger_one() -> None:
    subjects = [f"subject {number}" for number in range(100)]
    assert drawn(SubjectSample("P19", 5, 7), subjects) == drawn(SubjectSample("P19", 30, 7), subjects)[:5]


def test_a_sampled_subject_has_all_answers_in_any_order_of_the_file() -> None:
    facts = [(f"subject {number}", f"answer {which}") for number in range(200) for which in range(3)]
    random.Random(2).shuffle(facts)
    sample = SubjectSample("P19", 15, 7)
    for subject, answer in facts:
        sample.add(subject, subject, [answer])
    assert [sorted(question.answers) for question in sample.make_questions()] == [
        ["answer 0", "answer 1", "answer 2"]
    ] * 15


def test_a_draw_is_even() -> None:
    subjects = [f"subject {number}" for number in range(100)]
    times = sum("subject 0" in drawn(SubjectSample("P19", 50, seed), subjects) for seed in range(400))
    # Half of 400, and four standard deviations of 10 either way.
    assert 160 <= times <= 240


EXPECTED = {
    # Ada the trombonist and Mill Reach; the others have no article, no name, or no answer with one.
    "P19": {("Ada Quill", ("Porthgain",), 10000), ("Mill Reach", ("Porthgain", "Dunmere"), 1000)},
    "P175": {("Her Lantern", ("The Tallow Choir",), 0), ("Her Lantern", ("The Tallow Choir",), 1000)},
    "P264": {("Her Lantern", ("Copper Yard",), 0), ("Her Lantern", ("Alder Street",), 1000)},
}


def shown(made: dict[str, list[Question]]) -> dict[str, set[tuple[str | None, tuple[str, ...], int | None]]]:
    return {number: {(each.subject, each.answers, each.frequency) for each in many} for number, many in made.items()}


def test_questions_about_the_entities_of_a_dump(tmp_path: Path) -> None:
    views = FileViews(write_views(tmp_path / "views.tsv"), "en")
    origin = Origin(dump=write_dump(tmp_path / "dump.json.bz2"))
    made, dropped = make_from_wikidata(origin, tmp_path / "out", SampleSize(), views)
    assert shown(made) == EXPECTED
    assert dropped == {
        "entities without an article in the language": 1,
        "entities without a name in the language": 1,
        "subjects without a named answer": 1,
        "values without a name in the language": 1,
    }


def test_questions_about_the_entities_that_an_api_finds(tmp_path: Path) -> None:
    views = FileViews(write_views(tmp_path / "views.tsv"), "en")
    with serving(Wikibase()) as running:
        origin = Origin(api=running.url.removesuffix("/api"), names=NAMES, user_agent="tests")
        made, _ = make_from_wikidata(origin, tmp_path / "out", SampleSize(), views)
    assert shown(made) == EXPECTED
    # Nobody wants to know of what kind they are.
    assert {asked.query.get("props") for asked in running.requests} == {
        None,
        "labels|aliases|claims|sitelinks",
        "labels|aliases",
    }


def test_without_popularity_questions_have_no_frequency(tmp_path: Path) -> None:
    origin = Origin(dump=write_dump(tmp_path / "dump.json"), names=("Mill Reach",))
    made, _ = make_from_wikidata(origin, tmp_path / "out", SampleSize())
    assert made == {"P19": [Question("Where was Mill Reach born?", ("Porthgain", "Dunmere"), "Mill Reach")]}


def test_so_many_of_each_relation_are_drawn(tmp_path: Path) -> None:
    origin = Origin(dump=write_dump(tmp_path / "dump.json"))
    made, _ = make_from_wikidata(origin, tmp_path / "out", SampleSize(per_relation=1))
    assert {number: len(many) for number, many in made.items()} == {"P19": 1, "P175": 1, "P264": 1}


def test_what_is_written_can_be_read_as_the_release_can(triples: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = make_from_triples(triples, SampleSize())
    card = write_questions(out, made, {"triples": "triples.tsv"}, SampleSize(seed=3))
    assert sorted(path.name for path in out.iterdir()) == ["P170.test.json", "P19.test.json", "entity_questions.json"]
    assert read_questions(out) == made[0]
    assert json.loads((out / "P170.test.json").read_text()) == [
        {"question": "Who was Veep created by?", "answers": ["Armando Iannucci", "A. Iannucci"], "subject": "Veep"}
    ]
    assert json.loads((out / "entity_questions.json").read_text())["seed"] == 3
    assert card.counts == {"P19": 1, "P170": 1}


def test_questions_are_not_written_over_without_a_word(triples: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_questions(out, make_from_triples(triples, SampleSize()), {}, SampleSize())
    with pytest.raises(UsageError, match="out holds entity questions already; --force writes over them"):
        refuse_to_overwrite(out, force=False)
    triples.write_text("Ada Quill\tP19\tPorthgain\n")
    write_questions(out, make_from_triples(triples, SampleSize()), {}, SampleSize())
    assert sorted(path.name for path in out.iterdir()) == ["P19.test.json", "entity_questions.json"]


def test_the_error_says_why_no_question_can_be_made(triples: Path, tmp_path: Path) -> None:
    triples.write_text("Ada Quill\tP21\tfemale\n")
    with pytest.raises(BuildError, match=r"no question could be made \(1 triples whose relation has no question\)$"):
        write_questions(tmp_path / "out", make_from_triples(triples, SampleSize()), {}, SampleSize())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["entity_questions.json", "P17.test.json"])
def test_a_card_or_questions_alone_are_not_written_over(tmp_path: Path, name: str) -> None:
    refuse_to_overwrite(tmp_path, force=False)
    (tmp_path / name).touch()
    with pytest.raises(UsageError, match="holds entity questions already; --force writes over them"):
        refuse_to_overwrite(tmp_path, force=False)
    refuse_to_overwrite(tmp_path, force=True)


def test_questions_that_could_not_all_be_written_have_no_card(tmp_path: Path) -> None:
    (tmp_path / "entity_questions.json").write_text("{}")
    # No file can be written there.
    (tmp_path / "P17.test.json").mkdir()
    questions = {"P17": [Question("Where is Avon?", ("here",), "Avon", None)]}
    with pytest.raises(UsageError, match="cannot be written"):
        write_questions(tmp_path, (questions, Counter()), {}, SampleSize())
    assert not (tmp_path / "entity_questions.json").exists()
