"""`entity_questions`, every figure worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from retrieval_world import ANSWERED, rankings_of, write_collection, write_questions

from shadowprobe.measure.query_probes import RankingProbe
from shadowprobe.measure.seen_entities import SeenEntities
from shadowprobe.plugins import make_retrieval_probe
from shadowprobe.queries.collection import Collection

Z = 1.959963984540054


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return write_collection(tmp_path / "little")


def probe_of(folder: Path) -> RankingProbe:
    probe = make_retrieval_probe("entity_questions", RankingProbe)
    probe.load(folder)
    return probe


@pytest.fixture
def found(collection: Collection) -> dict[str, Any]:
    assert collection.directory is not None
    return probe_of(collection.directory / "entity_questions").measure(rankings_of(collection, ANSWERED))


def test_each_relation_has_its_accuracy_at_each_k(found: dict[str, Any]) -> None:
    # At 1 the first of the three; at 2 the second too; the third has no ranking.
    assert found["questions"] == 4
    assert found["relations"]["P19"]["n"] == 3
    assert found["relations"]["P19"]["accuracy"] == {"1": 1 / 3, "2": 2 / 3}
    assert found["relations"]["P20"]["accuracy"] == {"1": 1.0, "2": 1.0}


def test_each_question_has_a_row_with_the_rank_of_its_first_answer(collection: Collection) -> None:
    assert collection.directory is not None
    rows = probe_of(collection.directory / "entity_questions").rows(rankings_of(collection, ANSWERED))
    assert list(rows) == [
        {"id": "P19-0", "relation": "P19", "rank": 1},
        {"id": "P19-1", "relation": "P19", "rank": 2},
        {"id": "P19-2", "relation": "P19", "rank": None},
        {"id": "P20-0", "relation": "P20", "rank": 1},
    ]


def test_an_answer_in_the_title_counts_unless_only_the_text_is_read(collection: Collection) -> None:
    assert collection.directory is not None
    probe = probe_of(collection.directory / "entity_questions")
    found = probe.measure(rankings_of(collection, ANSWERED, text_only=True))
    # "Como Lake" is the title of its document, and not in the text.
    assert found["relations"]["P20"]["accuracy"] == {"1": 0.0, "2": 0.0}
    assert found["relations"]["P19"]["accuracy"] == {"1": 1 / 3, "2": 2 / 3}
    assert found["micro"]["accuracy"] == {"1": 1 / 4, "2": 2 / 4}


def test_each_relation_has_the_wording_of_the_paper(found: dict[str, Any]) -> None:
    assert found["relations"]["P19"]["question"] == "Where was [E] born?"


def test_macro_is_the_mean_over_relations_and_micro_over_questions(found: dict[str, Any]) -> None:
    assert found["macro"] == {"1": pytest.approx((1 / 3 + 1) / 2), "2": pytest.approx((2 / 3 + 1) / 2)}
    assert found["micro"]["n"] == 4
    assert found["micro"]["accuracy"] == {"1": 2 / 4, "2": 3 / 4}


def test_a_rate_has_wilsons_interval(found: dict[str, Any]) -> None:
    # Of one question of one: from n / (n + z²) to 1.
    assert found["relations"]["P20"]["accuracy_ci95"]["1"] == [pytest.approx(1 / (1 + Z**2)), 1.0]
    # Two of four: the interval is the same on both sides of 1/2.
    low, high = found["micro"]["accuracy_ci95"]["1"]
    assert high - 1 / 2 == pytest.approx(1 / 2 - low)
    assert 0 < low < 1 / 2


def test_without_frequencies_there_are_no_buckets(found: dict[str, Any]) -> None:
    assert found["buckets"] is None


def test_a_relation_that_the_paper_does_not_have_is_measured_without_its_wording(
    collection: Collection, tmp_path: Path
) -> None:
    probe = probe_of(write_questions(tmp_path / "own", {"P9999": [{"question": "Elbe?", "answers": ["Cuxhaven"]}]}))
    found = probe.measure(rankings_of(collection, {"P9999-0": ["elbe"]}))
    assert found["relations"]["P9999"]["question"] is None
    assert found["macro"] == {"1": 1.0, "2": 1.0}


def answered(collection: Collection, tmp_path: Path, answer: str, *documents: str) -> bool:
    """Whether the first document, or one of the first two, holds an answer."""
    probe = probe_of(write_questions(tmp_path / "one", {"P19": [{"question": "?", "answers": [answer]}]}))
    found = probe.measure(rankings_of(collection, {"P19-0": documents}, ks=(len(documents),)))
    return bool(found["macro"][str(len(documents))])


@pytest.mark.parametrize(
    ("answer", "document", "holds"),
    [
        ("LAKE OF LOMBARDY", "como-lake-a", True),
        ("lombardy, fed", "como-lake-a", True),
        ("Lombardy fed", "como-lake-a", False),
        ("Lombard", "como-lake-a", False),
        # The title is part of what is searched, and goes before the text.
        ("Lake Como", "como-lake-a", True),
        ("Como A", "como-lake-a", True),
        ("...", "como-lake-a", False),
    ],
)
def test_an_answer_stands_in_title_or_text_word_by_word(
    collection: Collection, tmp_path: Path, answer: str, document: str, holds: bool
) -> None:
    assert answered(collection, tmp_path, answer, document) == holds


def test_a_document_that_the_collection_lacks_holds_no_answer(collection: Collection, tmp_path: Path) -> None:
    assert not answered(collection, tmp_path, "Dale", "dale-ship")
    assert answered(collection, tmp_path, "Dale", "dale-ship", "dale-river")


def test_here_passages_count_and_not_articles(collection: Collection, tmp_path: Path) -> None:
    # Three passages, of which the third answers; the first two are of one article.
    questions = {"P19": [{"question": "?", "answers": ["Millwall"]}]}
    probe = probe_of(write_questions(tmp_path / "passages", questions))
    found = probe.measure(rankings_of(collection, {"P19-0": ["avon-river-1", "avon-river-2", "avon-ship"]}, ks=(2, 3)))
    assert found["micro"]["accuracy"] == {"2": 0.0, "3": 1.0}


def test_questions_are_put_into_buckets_by_the_frequency_of_their_subjects(
    collection: Collection, tmp_path: Path
) -> None:
    # 16 in all, so that each of the eight buckets is 2 wide. 0 has its middle at 0, both ones at 1, 2 at 3, 12 at 10.
    frequencies = [12, 1, 0, 2, 1]
    questions = [{"question": "?", "answers": ["Cuxhaven"], "frequency": frequency} for frequency in frequencies]
    questions.append({"question": "?", "answers": ["Cuxhaven"]})
    probe = probe_of(write_questions(tmp_path / "often", {"P19": questions}))
    right = {"P19-0": ["elbe"], "P19-1": ["elbe"], "P19-5": ["elbe"]}
    buckets = probe.measure(rankings_of(collection, right, ks=(1,)))["buckets"]
    told = [
        (row["bucket"], row["lowest_frequency"], row["highest_frequency"], row["n"], row["accuracy"]["1"])
        for row in buckets
    ]
    # The one whose frequency is not told is in none of them.
    assert told == [(0, 0, 1, 3, 1 / 3), (1, 2, 2, 1, 0.0), (5, 12, 12, 1, 1.0)]


def test_the_buckets_of_the_released_folders_are_taken_as_they_are(collection: Collection, tmp_path: Path) -> None:
    folder = tmp_path / "buckets" / "P19"
    for number, answer in enumerate(("Cuxhaven", "Naseby")):
        written = write_questions(folder / str(number), {"P19": [{"question": "?", "answers": [answer]}]})
        (written / "P19.test.json").rename(folder / f"bucket{number}.test.json")
    probe = probe_of(tmp_path / "buckets")
    found = probe.measure(rankings_of(collection, {"P19-0": ["elbe"], "P19-1": ["elbe"]}, ks=(1,)))
    rows = [(row["bucket"], row["lowest_frequency"], row["accuracy"]["1"]) for row in found["buckets"]]
    assert rows == [(0, None, 1.0), (1, None, 0.0)]


def test_queries_carry_the_subject_where_it_is_known(collection: Collection, tmp_path: Path) -> None:
    questions = [{"question": "Where was Elbe born?", "answers": ["x"], "subject": "Elbe"}]
    (asked,) = probe_of(write_questions(tmp_path / "one", {"P19": questions})).queries()
    assert (asked.id, asked.text, asked.name) == ("P19-0", "Where was Elbe born?", "Elbe")


def test_entities_that_were_seen_in_training_are_counted_apart(collection: Collection, tmp_path: Path) -> None:
    frequencies = (5, 5, 1000)
    questions = [
        {"question": f"Where was {subject} born?", "answers": [answer], "frequency": frequency}
        for subject, answer, frequency in zip(
            ("Avon", "Berg", "Elbe"), ("Naseby", "western cape", "Cuxhaven"), frequencies, strict=True
        )
    ]
    # No pattern says whom this one is about.
    questions.append({"question": "Who?", "answers": ["Naseby"], "frequency": 5})
    folder = write_questions(tmp_path / "marked", {"P19": questions})
    (tmp_path / "seen.txt").write_text("Avon\nElbe\n")
    seen = SeenEntities(tmp_path / "seen.txt", collection)
    ranked = {"P19-0": ("avon-river-1",), "P19-1": ("berg-song", "berg-river"), "P19-3": ("avon-river-1",)}
    found = probe_of(folder).measure(rankings_of(collection, ranked, seen=seen))
    # Avon at once, Elbe not at all; Berg at the second place.
    assert found["seen"]["seen"]["n"] == 2
    assert found["seen"]["seen"]["accuracy"] == {"1": 0.5, "2": 0.5}
    assert found["seen"]["unseen"]["accuracy"] == {"1": 0.0, "2": 1.0}
    assert [found["seen"]["difference"][k]["difference"] for k in ("1", "2")] == [0.5, -0.5]
    assert found["seen"]["unknown"] == 1
    rare, frequent = found["buckets"]
    # Avon and Berg are rare, Elbe is frequent.
    assert (rare["n"], rare["seen"]["n"], rare["unseen"]["n"]) == (3, 1, 1)
    assert rare["seen"]["accuracy"] == {"1": 1.0, "2": 1.0}
    assert (frequent["seen"]["n"], frequent["unseen"]) == (1, {"n": 0, "accuracy": None, "accuracy_ci95": None})


def test_without_a_list_nothing_is_said_about_training(found: dict[str, Any]) -> None:
    assert "seen" not in found
