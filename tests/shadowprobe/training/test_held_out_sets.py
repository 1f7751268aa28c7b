"""AmbER sets that training has not seen."""

from __future__ import annotations

from pathlib import Path

from retrieval_world import SETS, write_sets

from shadowprobe.queries.amber_sets import read_amber_sets
from shadowprobe.queries.question_files import Question
from shadowprobe.training.content_overlap import Triple
from shadowprobe.training.held_out_sets import hold_sets_out


def trained(*words: str) -> list[Triple]:
    return [Triple("P19", word, Question("Q?", ("x",)), frozenset({word})) for word in words]


def test_sets_whose_name_shares_a_word_with_training_are_left_out(tmp_path: Path) -> None:
    write_sets(tmp_path / "amber/human/qa/amber_sets.jsonl")
    # The same sets under other ids, as claims.
    text = (tmp_path / "amber/human/qa/amber_sets.jsonl").read_text().replace('"id":"', '"id":"f')
    (tmp_path / "amber/human/fc").mkdir()
    (tmp_path / "amber/human/fc/amber_sets.jsonl").write_text(text)
    out = tmp_path / "out"
    assert hold_sets_out(tmp_path / "amber", trained("avon", "dale", "elbe"), out) == (4, 4)
    kept = read_amber_sets(out)
    assert {part: [one.name for one in sets] for part, sets in kept.items()} == {
        ("human", "fc"): ["Berg", "Como"],
        ("human", "qa"): ["Berg", "Como"],
    }
    original = read_amber_sets(tmp_path / "amber")
    assert kept["human", "qa"] == original["human", "qa"][1:3]


def test_nothing_is_written_where_nothing_is_left(tmp_path: Path) -> None:
    write_sets(tmp_path / "amber/human/qa/amber_sets.jsonl", SETS[:1])
    assert hold_sets_out(tmp_path / "amber", trained("avon"), tmp_path / "out") == (0, 1)
    assert not (tmp_path / "out").exists()
    assert hold_sets_out(tmp_path / "amber", [], tmp_path / "out") == (1, 0)
