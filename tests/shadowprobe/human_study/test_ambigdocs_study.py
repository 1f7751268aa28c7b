"""The study of the kinds of answers of AmbigDocs, on answers whose figures are worked out by hand."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from measured_runs import SAID, write_answers
from namesake_sets import AVON, write_sets

from shadowprobe import InputError, UsageError
from shadowprobe.cli import main
from shadowprobe.human_study import ambigdocs_sample
from shadowprobe.human_study.ambigdocs_sample import (
    CATEGORIES,
    AmbigdocsItem,
    AmbigdocsKey,
    Category,
    draw_ambigdocs_sample,
)
from shadowprobe.human_study.ambigdocs_score import measure_categories
from shadowprobe.human_study.annotations import Annotations, ItemChoice, read_annotations
from shadowprobe.human_study.answer_keys import read_key
from shadowprobe.human_study.form import render_form, render_sheet, write_sample
from shadowprobe.human_study.sample import Sample
from shadowprobe.human_study.wording import KINDS_OF_ANSWERS
from shadowprobe.measure.query_probes import AnswerProbe
from shadowprobe.plugins import make_retrieval_probe
from shadowprobe.queries.ambigdocs_sets import AmbigSet
from shadowprobe.reporting.model_summary import CATEGORIES as SHOWN
from shadowprobe.running.finished import FinishedRun, read_runs

C, P, N, A, M = CATEGORIES
# What the probe says, and two annotators.
PROBE: tuple[Category, ...] = (C, C, P, P, N, N, A, M, M, M)
ANN: tuple[Category, ...] = (C, C, P, P, N, N, A, A, M, M)
BOB: tuple[Category | None, ...] = (C, P, P, P, N, N, A, M, M, None)


def key_of(automatic: tuple[Category, ...] = PROBE) -> AmbigdocsKey:
    """The key of a sample with these kinds of answers."""
    items = (AmbigdocsItem(n, f"set{n}", "Who?", (), "Lee.", kind) for n, kind in enumerate(automatic, start=1))
    return AmbigdocsKey("s1", "study", "sets", "digest", "toy", 7, tuple(items))


def returned(name: str, kinds: tuple[Category | None, ...]) -> Annotations:
    """The answers of an annotator who says this; None is no answer."""
    answers = (ItemChoice(n, CATEGORIES.index(kind) + 1) for n, kind in enumerate(kinds, start=1) if kind is not None)
    return Annotations("s1", name, tuple(answers))


def test_agreement_of_people_is_over_the_items_that_both_answered() -> None:
    # Items 1-9. Ann: C2 P2 N2 A2 M1, Bob: C1 P3 N2 A1 M2. The same in all but 2 and 8: 7 of 9.
    # By chance (2*1 + 2*3 + 2*2 + 2*1 + 1*2) / 81 = 16/81; kappa = (63 - 16) / (81 - 16) = 47/65.
    (found,) = measure_categories(key_of(), [returned("Ann", ANN), returned("Bob", BOB)]).people
    assert (found.annotators, found.n) == (("Ann", "Bob"), 9)
    assert found.observed == pytest.approx(7 / 9)
    assert found.kappa == pytest.approx(47 / 65)


def test_each_person_is_compared_with_the_probe() -> None:
    # Ann differs in item 8 only. The probe: C2 P2 N2 A1 M3, Ann: C2 P2 N2 A2 M2.
    # By chance (4 + 4 + 4 + 2 + 6) / 100 = 0.2; kappa = (0.9 - 0.2) / 0.8 = 7/8.
    # Bob differs in item 2 only. The probe without item 10: C2 P2 N2 A1 M2; by chance (2 + 6 + 4 + 1 + 4) / 81 = 17/81;
    # kappa = (72 - 17) / (81 - 17) = 55/64.
    found = measure_categories(key_of(), [returned("Ann", ANN), returned("Bob", BOB)])
    ann, bob = found.automatic
    assert (ann.annotators, ann.n, bob.n) == (("Ann", "automatic"), 10, 9)
    assert [ann.observed, ann.kappa] == pytest.approx([9 / 10, 7 / 8])
    assert [bob.observed, bob.kappa] == pytest.approx([8 / 9, 55 / 64])
    assert found.average["automatic"] == {
        "observed": pytest.approx((9 / 10 + 8 / 9) / 2),
        "kappa": pytest.approx((7 / 8 + 55 / 64) / 2),
    }
    assert found.average["people"]["observed"] == pytest.approx(7 / 9)


def test_the_confusion_counts_the_answers_of_all_people() -> None:
    found = measure_categories(key_of(), [returned("Ann", ANN), returned("Bob", BOB)])
    # Both call two answers no answer, as the probe does; Bob calls a complete one partial, Ann a merged one ambiguous.
    counts = {own: {kind: n for kind, n in row.items() if n} for own, row in found.confusion.items()}
    assert counts == {C: {C: 3}, P: {C: 1, P: 4}, N: {N: 4}, A: {A: 2, M: 1}, M: {M: 4}}
    assert (found.items, found.answered, found.unanswered) == (10, 10, 0)


def test_one_person_alone_is_compared_with_the_probe_and_what_nobody_answered_is_counted() -> None:
    found = measure_categories(key_of(), [returned("Bob", BOB)])
    assert (found.people, found.average["people"]["kappa"], found.unanswered) == ((), None, 1)


def test_the_kinds_of_answers_are_those_of_the_probe_and_of_the_form() -> None:
    probe = make_retrieval_probe("ambigdocs", AnswerProbe)
    module = __import__(type(probe).__module__, fromlist=["CATEGORIES"])
    assert module.CATEGORIES == CATEGORIES == tuple(SHOWN)
    assert [kind.title.lower().replace(" ", "_") for kind in KINDS_OF_ANSWERS] == list(CATEGORIES)


@pytest.fixture
def run(tmp_path: Path) -> FinishedRun:
    """Answers that are partial, merged and complete, as the tests of the probe work out."""
    (finished,) = read_runs([write_answers(tmp_path / "toy", write_sets(tmp_path / "sets.json"), SAID)])
    return finished


def draw(run: FinishedRun, n: int | None = None) -> Sample[AmbigdocsKey]:
    return draw_ambigdocs_sample(run, run.path.parent / "sets.json", n)


def test_the_key_has_what_the_probe_takes_each_output_for(run: FinishedRun) -> None:
    key = draw(run).key
    assert {item.id: item.automatic for item in key.items} == {"avon": "partial", "berg": "merged", "como": "complete"}
    assert (key.system, key.queries) == ("toy", "sets")


def test_annotators_see_question_documents_and_output_and_not_the_kind(run: FinishedRun) -> None:
    sample = draw(run)
    (avon,) = (question for question in sample.questions if question.before == AVON.question)
    assert avon.output == SAID["avon"]
    assert [(one.title, one.answers) for one in avon.documents] == [
        ("Avon (river)", ("Bristol Channel",)),
        ("Avon (ship)", ("Falmouth harbour",)),
    ]
    for content in (render_form(sample), render_sheet(sample)):
        assert b"Falmouth harbour" in content
        for secret in (b'"partial"', b'"merged"', b"automatic", b"toy"):
            assert secret not in content


def test_the_sheet_explains_the_five_kinds(run: FinishedRun) -> None:
    rows = list(csv.DictReader(io.StringIO(render_sheet(draw(run)).decode("utf-8-sig"), newline="")))
    columns = ["sample", "item", "question", "documents", "output", "1", "2", "3", "4", "5", "answer"]
    assert [list(row) for row in rows] == [columns] * 3
    assert rows[0]["3"] == "No answer: It gives none of the answers."


def test_a_sample_is_written_and_its_key_read_back(run: FinishedRun, tmp_path: Path) -> None:
    sample = draw(run, 2)
    write_sample(sample, tmp_path / "study")
    assert read_key(tmp_path / "study") == sample.key
    assert len(sample.questions) == 2
    with pytest.raises(UsageError, match=r"--n 4: .*toy has 3 answers"):
        draw(run, 4)


def test_a_set_without_an_answer_is_not_asked_and_an_empty_answer_is(tmp_path: Path) -> None:
    sets = write_sets(tmp_path / "sets.json")
    (finished,) = read_runs([write_answers(tmp_path / "toy", sets, {"avon": "", "como": "Lyon."})])
    questions = draw_ambigdocs_sample(finished, sets).questions
    assert {question.output for question in questions} == {"", "Lyon."}


def test_all_answers_may_be_drawn_and_no_more_in_an_order_that_depends_on_the_seed(run: FinishedRun) -> None:
    sets = run.path.parent / "sets.json"
    orders = {tuple(item.id for item in draw_ambigdocs_sample(run, sets, seed=seed).key.items) for seed in range(8)}
    assert len(orders) > 1
    assert draw_ambigdocs_sample(run, sets) == draw_ambigdocs_sample(run, sets, seed=7)
    assert draw_ambigdocs_sample(run, sets).key.seed == 7
    # Three questions have an answer.
    assert [len(draw_ambigdocs_sample(run, sets, n).questions) for n in (1, 3)] == [1, 3]
    with pytest.raises(UsageError, match=r"--n 4: .* has 3 answers"):
        draw_ambigdocs_sample(run, sets, 4)


def test_without_a_number_a_hundred_answers_are_drawn(run: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def list_many(_run: FinishedRun, _queries: Path | None) -> list[tuple[AmbigSet, str, Category]]:
        return [(AVON, "Lee.", C)] * 101

    monkeypatch.setattr(ambigdocs_sample, "_list_outputs", list_many)
    # As many as the help of `annotate sample` says.
    assert len(draw_ambigdocs_sample(run).key.items) == 100


def test_a_number_that_is_no_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Ann.csv").write_text("sample,item,answer\ns1,1,5\ns1,2,6\n")
    with pytest.raises(InputError, match=r":3: field `answer`: is '6': give 1, 2, 3, 4 or 5, or leave it empty"):
        read_annotations([tmp_path / "Ann.csv"], key_of())


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    run: FinishedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["annotate", *arguments])
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return call


def test_a_run_is_sampled_and_the_filled_in_sheet_is_scored(command: Command) -> None:
    code, out, _ = command("sample", "--study", "ambigdocs", "--run", "toy", "--queries", "sets.json")
    assert (code, "annotation/ambigdocs-toy/form.html: open it in a browser" in out) == (0, True)
    folder = Path("annotation/ambigdocs-toy")
    key = json.loads((folder / "sample.json").read_text())
    # Ann says what the probe says; Bob calls every output complete.
    right = [CATEGORIES.index(item["automatic"]) + 1 for item in key["items"]]
    for name, choices in (("Ann", right), ("Bob", [1, 1, 1])):
        rows = "".join(f"{key['sample']},{item},{choice}\n" for item, choice in enumerate(choices, start=1))
        Path(f"{name}.csv").write_text(f"sample,item,answer\n{rows}")
    code, out, _ = command("score", "Ann.csv", "Bob.csv", "--sample", str(folder), "--published")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert code == 0
    assert "sets: 3 outputs of toy, questions of sets" in lines
    # Wilson: 3 / (3 + 3.8415) = 0.4385.
    assert "Ann and automatic 3 100.0% (43.9 to 100.0) 1.000" in lines
    # One of three is complete: by chance 1/3 too, so that kappa is 0.
    assert "Ann and Bob 3 33.3% (6.1 to 79.2) 0.000" in lines
    assert "complete 2 1 0 0 1" in lines
    words = " ".join(out.split())
    assert "people 0.85, people and automatic 0.83" in words
    assert "Lee et al. (2024)" in words


def test_a_run_whose_questions_moved_says_how_to_name_them(command: Command) -> None:
    Path("sets.json").rename("moved.json")
    code, _, err = command("sample", "--study", "ambigdocs", "--run", "toy", "--out", "new")
    assert code == 2
    assert "--queries says where they are" in err
    assert command("sample", "--study", "ambigdocs", "--run", "toy", "--out", "new", "--queries", "moved.json")[0] == 0
