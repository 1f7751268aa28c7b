"""A sample that does not depend on the order of the stream."""

from __future__ import annotations

import random

from shadowprobe.sets.sampling import SubjectSample

NAMES = [f"Subject {number}" for number in range(30)]


def sample(size: int, names: list[str], seed: int = 7) -> list[str]:
    drawn = SubjectSample("P19", size, seed)
    for name in names:
        drawn.add(name, name, ["Place"])
    return [question.subject for question in drawn.make_questions()]  # type: ignore[misc]


def test_a_sample_has_its_size_and_is_the_same_for_any_order() -> None:
    shuffled = random.Random(1).sample(NAMES, len(NAMES))
    assert sample(5, NAMES) == sample(5, shuffled)
    assert len(sample(5, NAMES)) == 5
    assert sorted(sample(30, NAMES)) == sorted(sample(31, NAMES)) == sorted(NAMES)
    # A smaller sample is the beginning of a larger one.
    assert sample(9, NAMES)[:5] == sample(5, NAMES)


def test_the_seed_decides_and_every_subject_can_be_drawn() -> None:
    assert {sample(1, NAMES[:4], seed)[0] for seed in range(60)} == set(NAMES[:4])


def test_answers_are_collected_once_and_the_highest_frequency_counts() -> None:
    drawn = SubjectSample("P19", 1, 7)
    for answers, frequency in ((["Rome", "Roma"], 3), (["Rome", "Paris"], 9), (["Oslo"], 4), ([], None)):
        drawn.add("Q1", "Ann", answers, frequency)
    (question,) = drawn.make_questions()
    assert list(question.answers) == ["Rome", "Roma", "Paris", "Oslo"]
    assert drawn.kept["Q1"].frequency == 9
    assert drawn.accepts("Q1")


def test_an_entity_that_nothing_mentions_has_the_frequency_zero() -> None:
    drawn = SubjectSample("P19", 2, 7)
    drawn.add("Q1", "Ann", ["Rome"], 0)
    drawn.add("Q2", "Bo", ["Rome"])
    assert [drawn.kept[qid].frequency for qid in ("Q1", "Q2")] == [0, None]


def test_a_subject_is_rejected_each_time_once_the_sample_is_full() -> None:
    drawn = SubjectSample("P19", 5, 7)
    for name in NAMES:
        drawn.add(name, name, ["Place"])
    rejected = [name for name in NAMES if name not in drawn.kept]
    assert not any(map(drawn.accepts, rejected))
    drawn.add(rejected[0], rejected[0], ["Place"])
    assert rejected[0] not in drawn.kept
