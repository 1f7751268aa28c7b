"""EntityQuestions: the released layout, the relations, and buckets of equal cumulative frequency."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from retrieval_world import write_questions

from shadowprobe import InputError
from shadowprobe.queries.question_files import equal_buckets, make_question, read_questions, relations

GOOD = {"question": "Where was Elbe born?", "answers": ["Cuxhaven"]}


def test_a_folder_of_the_release_is_read_by_relation(tmp_path: Path) -> None:
    write_questions(tmp_path, {"P19": [GOOD, GOOD], "P106": [GOOD]})
    (tmp_path / "README.json").write_text("{}")
    found = read_questions(tmp_path)
    assert {relation: len(many) for relation, many in found.items()} == {"P106": 1, "P19": 2}
    assert found["P19"][0].question == "Where was Elbe born?"
    assert found["P19"][0].answers == ("Cuxhaven",)


def test_a_single_file_is_read(tmp_path: Path) -> None:
    write_questions(tmp_path, {"P19": [GOOD]})
    assert list(read_questions(tmp_path / "P19.test.json")) == ["P19"]


def test_a_folder_of_buckets_says_the_bucket_of_each_question(tmp_path: Path) -> None:
    for bucket in (0, 7):
        folder = tmp_path / "common-random-buckets" / "P19"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"bucket{bucket}.test.json").write_text(json.dumps([GOOD]))
    assert [question.bucket for question in read_questions(tmp_path)["P19"]] == [0, 7]


def test_a_file_of_a_bucket_alone_is_of_the_relation_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "P19").mkdir()
    (tmp_path / "P19" / "bucket3.test.json").write_text(json.dumps([GOOD]))
    monkeypatch.chdir(tmp_path / "P19")
    assert [question.bucket for question in read_questions(Path("bucket3.test.json"))["P19"]] == [3]


def test_the_splits_of_the_release_are_not_mixed(tmp_path: Path) -> None:
    for split in ("train", "dev", "test"):
        (tmp_path / split).mkdir()
        (tmp_path / split / f"P19.{split}.json").write_text(json.dumps([GOOD]))
    assert len(read_questions(tmp_path / "dev")["P19"]) == 1
    with pytest.raises(InputError, match="holds questions of dev and test and train: give the folder of one of these"):
        read_questions(tmp_path)


REFUSED = [
    ("[", "not valid JSON", None),
    ('{"question": "?"}', "Expected `array`, got `object`", None),
    ("[]", "holds no questions", None),
    ('[{"answers": ["x"]}]', "missing required field `question`", "[0]"),
    ('[{"question": "?"}]', "missing required field `answers`", "[0]"),
    ('[{"question": "?", "answers": ["x"]}, {"question": " ", "answers": ["x"]}]', "is empty", "[1].question"),
    ('[{"question": "?", "answers": []}]', "is empty", "[0].answers"),
    ('[{"question": "?", "answers": ["x", ""]}]', "is empty", "[0].answers[1]"),
    ('[{"question": "?", "answers": "x"}]', "Expected `array`, got `str`", "[0].answers"),
    ('[{"question": "?", "answers": ["x"], "frequency": -1}]', "Expected `int` >= 0", "[0].frequency"),
    ('[{"question": "?", "answers": ["x"], "frequency": 1.5}]', "Expected `int | null`, got `float`", "[0].frequency"),
]


@pytest.mark.parametrize(("content", "words", "field"), REFUSED, ids=[words for _, words, _ in REFUSED])
def test_a_file_with_a_fault_is_refused(tmp_path: Path, content: str, words: str, field: str | None) -> None:
    path = tmp_path / "P19.test.json"
    path.write_text(content)
    with pytest.raises(InputError) as refused:
        read_questions(path)
    assert words in str(refused.value)
    assert (refused.value.path, refused.value.field) == (path, field)


def test_bytes_that_are_not_utf_8_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "P19.test.json"
    path.write_bytes(b'[\n{"question": "\xff", "answers": ["x"]}]')
    with pytest.raises(InputError, match="is not UTF-8") as refused:
        read_questions(path)
    assert refused.value.line == 2


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        read_questions(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"holds no questions: their files are named by relation, as in P19\.test"):
        read_questions(tmp_path)


def test_there_are_the_24_relations_of_the_paper() -> None:
    assert len(relations()) == 24
    assert {number: relations()[number].question for number in ("P36", "P40", "P413", "P800")} == {
        "P36": "What is the capital of [E]?",
        "P40": "Who is [E]'s child?",
        # Table 5 has these two exchanged; Tables 6 and 8 have them as they are here.
        "P413": "What position does [E] play?",
        "P800": "What is [E] famous for?",
    }


def test_a_question_is_the_template_with_its_subject() -> None:
    assert make_question("P40", "Erasmus Darwin") == "Who is Erasmus Darwin's child?"


@pytest.mark.parametrize(
    ("frequencies", "count", "buckets"),
    [
        # Eight ones weigh as much as the one eight.
        ([1] * 8 + [8], 2, [0] * 8 + [1]),
        # In any order: 1 + 1 + 2, and 4.
        ([4, 1, 2, 1], 2, [1, 0, 0, 0]),
        # Equal frequencies cannot be parted, whatever the buckets then hold.
        ([3, 3, 3, 3], 2, [1, 1, 1, 1]),
        ([1, 3, 3, 1], 2, [0, 1, 1, 0]),
        # Nothing weighs nothing, and is the rarest.
        ([0, 0, 1, 1], 2, [0, 0, 1, 1]),
        ([0, 0, 0], 8, [0, 0, 0]),
        ([], 8, []),
        # One that spans all buckets stands in the middle of them.
        ([1000], 8, [4]),
        # Eight ones, four twos, two fours and an eight each weigh a quarter of all.
        ([1] * 8 + [2] * 4 + [4] * 2 + [8], 4, [0] * 8 + [1] * 4 + [2] * 2 + [3]),
    ],
)
def test_buckets_have_about_the_same_cumulative_frequency(
    frequencies: list[int], count: int, buckets: list[int]
) -> None:
    assert equal_buckets(frequencies, count) == buckets


def test_there_are_eight_buckets_as_in_the_paper() -> None:
    # 840 ones, 420 twos, and so on up to 105 eights: each value weighs 840.
    frequencies = [value for value in range(1, 9) for _ in range(840 // value)]
    assert dict(zip(frequencies, equal_buckets(frequencies), strict=True)) == dict(
        zip(range(1, 9), range(8), strict=True)
    )
