"""Which answers are counted, and which depend on each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shadowprobe import Answers, Card, Dataset, Entity, EntitySpace, InputError, Prediction, Snippet, write_dataset
from shadowprobe.base.model import Candidate, Subset
from shadowprobe.measure.answer_columns import MISSING, NIL
from shadowprobe.measure.outcomes import OUTCOMES, classify_answers
from shadowprobe.measure.variants import Varied, against_the_run

ELSEWHERE = "http://own.example/x"


def snippet(
    name: str, subset: Subset, space: str | None = None, document: str | None = None, gold: str = "Ree"
) -> Snippet:
    return Snippet(name, subset, f"Ree, {name}", 0, 3, space=space, gold=gold, document=document)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    entities = [Entity("Ree"), Entity("Ree (film)"), Entity("Ree (ship)")]
    spaces = [EntitySpace("Ree", ("Ree", "Ree (film)", "Ree (ship)"))]
    snippets: dict[Subset, list[Snippet]] = {
        "shadow": [
            snippet("s0", "shadow", "Ree", gold="Ree (film)"),
            snippet("s1", "shadow", "Ree", gold="Ree (ship)"),
        ],
        "tail": [snippet("t0", "tail"), snippet("t1", "tail")],
        "all": [
            snippet("a0", "all", "Ree", "a"),
            snippet("b0", "all", "Ree", "b"),
            snippet("a1", "all", None, "a"),
            snippet("c0", "all"),
        ],
    }
    return write_dataset(tmp_path / "data", Card(name="x"), entities, spaces, snippets)


def test_snippets_depend_on_each_other_by_name_and_in_all_by_document(dataset: Dataset) -> None:
    answers = Answers(dataset)
    together: dict[int, list[str]] = {}
    for name, group in zip(answers.row, answers.groups.tolist(), strict=True):
        together.setdefault(group, []).append(name)
    assert list(together.values()) == [["s0", "s1"], ["t0"], ["t1"], ["a0", "a1"], ["b0"], ["c0"]]


def test_the_change_of_a_variant_draws_documents(tmp_path: Path) -> None:
    # Twenty documents with ten mentions each; the variant is wrong on half of the documents.
    snippets = [snippet(f"{place}#{n}", "all", document=str(place)) for place in range(20) for n in range(10)]
    dataset = write_dataset(tmp_path / "data", Card(name="x"), [Entity("Ree")], [], {"all": snippets})
    run = Answers(dataset).fill(Prediction(one.id, answer="Ree") for one in snippets)
    half = Answers(dataset).fill(Prediction(one.id, answer="Ree" if n < 100 else "X") for n, one in enumerate(snippets))
    found = against_the_run(run, Varied(half, run.rows("all")))["all"]
    assert (found["n"], found["accuracy"], found["change"]) == (200, 0.5, -0.5)
    # 1.96 * sqrt(0.25 / 20) is 0.22; with 200 independent mentions it would be 0.07.
    assert found["change_ci95"] == pytest.approx([-0.5 - 0.22, -0.5 + 0.22], abs=0.06)


def test_an_answer_outside_of_every_knowledge_base_is_nil_only_in_gerbils_counting(tmp_path: Path) -> None:
    places = {"gold": "Ree", "none": None, "wrong": None, "nil": None}
    snippets = [Snippet(name, "all", f"Ree, {name}", 0, 3, gold=gold) for name, gold in places.items()]
    dataset = write_dataset(tmp_path / "data", Card(name="x"), [Entity("Ree")], [], {"all": snippets})
    predictions = [
        Prediction("gold", answer=ELSEWHERE),
        Prediction("none", answer=ELSEWHERE),
        Prediction("wrong", answer="Ree"),
        Prediction("nil", status="nil"),
    ]
    ours, gerbils = (Answers(dataset, gerbil_nil=on).fill(predictions) for on in (False, True))
    assert [OUTCOMES[code] for code in classify_answers(ours)] == ["other wrong", "no gold", "no gold", "no gold"]
    assert [OUTCOMES[code] for code in classify_answers(gerbils)] == ["NIL", "correct", "other wrong", "correct"]
    assert (ours.scored("all").sum(), gerbils.scored("all").sum()) == (1, 4)


def write_lines(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_a_new_answer_is_stored_with_the_entities_that_it_means(dataset: Dataset) -> None:
    answers = Answers(dataset)
    given = Prediction("s0", answer="Ree_(film)", candidates=(Candidate("Ree (ship)"), Candidate("Ree_(film)")))
    stored = answers.add(given, [answers.row["s0"], answers.row["s1"]])
    assert stored.entity == "Ree (film)"
    assert [candidate.entity for candidate in stored.candidates] == ["Ree (ship)", "Ree (film)"]
    # Both snippets have the same question. Its first candidate is the gold entity of s1, its second that of s0.
    assert [answers.names[answers.entity[answers.row[name]]] for name in ("s0", "s1")] == ["Ree (film)"] * 2
    assert [answers.gold_rank[answers.row[name]] for name in ("s0", "s1")] == [2, 1]
    assert (answers.rules["title"], sum(answers.rules.values()), answers.page_id_conflicts) == (2, 2, 0)


def test_a_new_answer_that_names_nothing_is_stored_as_nil(dataset: Dataset) -> None:
    answers = Answers(dataset)
    stored = answers.add(Prediction("s0", answer="http://aksw.org/notInWiki/Ree"), [answers.row["s0"]])
    assert (stored.status, stored.answer, stored.entity) == ("nil", None, None)
    assert answers.entity[answers.row["s0"]] == NIL


def test_page_ids_that_contradict_a_title_are_counted_for_each_row(tmp_path: Path) -> None:
    entities = [Entity("Ree", page_id=1)]
    snippets = [snippet("t0", "tail"), snippet("t1", "tail")]
    answers = Answers(write_dataset(tmp_path / "data", Card(name="x"), entities, [], {"tail": snippets}))
    answers.add(Prediction("t0", answer="Ree", page_id=9), [0, 1])
    assert answers.page_id_conflicts == 2


def test_a_file_of_answers_is_read_and_its_faults_have_a_place(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    first, second = '{"id": "t0", "answer": "Ree"}', '{"id": "t1", "status": "nil"}'
    other = '{"id": "x", "answer": "Ree"}'
    answers = Answers(dataset).read(write_lines(path, first, second))
    assert (answers.entity != MISSING).sum() == 2
    assert answers.entity[answers.row["t1"]] == NIL
    for lines, message in (
        ((first, first), "2: field `id`: 't0' is answered twice"),
        ((first, other), "2: field `id`: 'x' is no snippet of the dataset `x`"),
        (('{"id": "t0"}',), "1: field `answer`: is missing"),
    ):
        with pytest.raises(InputError, match=re.escape(f"predictions.jsonl:{message}")):
            Answers(dataset).read(write_lines(path, *lines))
    partial = Answers(dataset).read(write_lines(path, first, other), partial=True)
    assert (partial.entity != MISSING).sum() == 1
    path.write_text(f"{first}\n{second}", encoding="utf-8")
    assert (Answers(dataset).read(path, torn=True).entity != MISSING).sum() == 1
