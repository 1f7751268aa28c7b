"""`shadowprobe table` and `shadowprobe compare` for retrievers and language models."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from measured_runs import READ, SAID, write_answers, write_questions_about_namesakes, write_retrieval
from namesake_sets import AVON
from refusals import complaint, outcome
from retrieval_world import ANSWERED, FOUND, write_collection


@pytest.fixture
def retrievers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The retriever of the small world, which prefers the head, and one that finds the tail too."""
    monkeypatch.chdir(tmp_path)
    write_collection(Path("little"))
    write_retrieval(Path("confused"), Path("little"), {**FOUND, **ANSWERED})
    write_retrieval(Path("reader"), Path("little"), READ)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose answers are partial, merged and complete, and one that knows nothing."""
    monkeypatch.chdir(tmp_path)
    queries = write_questions_about_namesakes(Path())
    write_answers(Path("talker"), queries, SAID)
    write_answers(Path("mute"), queries, {AVON.id: "I do not know."})


def pairs_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The pairs of a comparison by their measure."""
    code, out, _ = outcome(capsys, "compare", *arguments, "--json")
    assert code == 0
    return {pair["measure"]: pair for pair in json.loads(out)["pairs"]}


def cells(pair: dict[str, Any]) -> tuple[int, ...]:
    return tuple(pair[key] for key in ("both", "first_only", "second_only", "neither"))


@pytest.mark.usefixtures("retrievers")
def test_retrievers_are_paired_by_query_of_head_and_tail(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = pairs_of(capsys, "confused", "reader", "--dataset", "little")
    # Head, first: c1 by both, a1 by the confused one alone, b1 and d1 by the reader alone.
    head = pairs["human/qa/head@1"]
    assert (head["unit"], cells(head)) == ("queries", (1, 1, 2, 0))
    assert (head["first_rate"], head["second_rate"]) == (2 / 4, 3 / 4)
    # Tail: b2 by both; a2, a3 and c2 by the reader alone; d2 has no document.
    tail = pairs["human/qa/tail@1"]
    assert cells(tail) == (1, 0, 3, 1)
    assert (tail["win"], tail["tie"], tail["loss"]) == (0, 2, 3)
    # 2 / 2^3
    assert tail["mcnemar_p"] == 0.25
    # a2 and a3 are of one set, b2, c2 and d2 of others.
    assert [(pair["drawn"], pair["drawn_n"]) for pair in (head, tail)] == [("queries", 4), ("sets", 4)]
    # Two of four questions have an answer in the first document; the reader has no ranking for any.
    assert (pairs["questions@1"]["unit"], cells(pairs["questions@1"])) == ("questions", (0, 2, 0, 2))
    assert list(pairs) == [
        *("human/qa/head@1", "human/qa/tail@1", "human/qa/head@2", "human/qa/tail@2"),
        *("questions@1", "questions@2"),
    ]


@pytest.mark.usefixtures("retrievers")
def test_answers_in_the_text_alone_are_compared_with_such_answers(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--collection", "little", "--text-only", "-k", "1", "-k", "2")
    # Exit 1: some queries have no ranking.
    code, out, err = outcome(capsys, "retrieve", "-p", "confused", "--out", "confused", *options)
    assert code == 1
    assert "counted with --text-only: an answer in the title" in " ".join((out + err).split())
    said = complaint(capsys, "compare", "confused", "reader", "--dataset", "little")
    assert said.startswith("reader is counted without --text-only and the other run with it: `shadowprobe retrieve")
    assert outcome(capsys, "retrieve", "-p", "reader", "--out", "reader", *options)[0] == 1
    # Of the two questions that the confused one answers at first, one is answered by the title.
    pairs = pairs_of(capsys, "confused", "reader", "--dataset", "little")
    assert cells(pairs["questions@1"]) == (0, 1, 0, 3)


@pytest.mark.usefixtures("retrievers")
def test_the_rates_of_pairs_are_those_that_the_probes_found(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = pairs_of(capsys, "confused", "reader", "--dataset", "little")
    for side, name in (("first_rate", "confused"), ("second_rate", "reader")):
        probes = json.loads(Path(name, "results.json").read_text())["probes"]
        part = probes["amber"]["human"]["qa"]["accuracy"]
        for k in ("1", "2"):
            rates = {group: pairs[f"human/qa/{group}@{k}"][side] for group in ("head", "tail")}
            assert rates == {group: pytest.approx(part[k][group]["rate"]) for group in rates}
            micro = probes["entity_questions"]["micro"]["accuracy"][k]
            assert pairs[f"questions@{k}"][side] == pytest.approx(micro)


@pytest.mark.usefixtures("retrievers")
def test_the_screen_of_retrievers_has_their_tables_side_by_side_and_the_pairs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    _, out, _ = outcome(capsys, "compare", "confused", "reader", "--dataset", "little", "--published")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "question answering confused 33.3 (12–65) 50.0 (15–85) 20.0 (4–62) 0.0 (0–49)" in "\n".join(lines)
    # Table 5 of the paper.
    assert any(line.startswith("question answering BLINK † 31.7 40.5 24.6 6.6") for line in lines)
    pair = next(line for line in lines if line.startswith("people, question answering, tail: first 1"))
    assert pair.startswith("people, question answering, tail: first 1 confused − reader 20.0 80.0 -60.0 (")
    assert pair.endswith(") 0/2/3 0.250 –")
    assert "A against B on little, paired by query and by question (%)" in lines


@pytest.mark.usefixtures("retrievers")
def test_queries_that_no_ranking_answers_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = outcome(capsys, "compare", "confused", "reader", "--dataset", "little", "--format", "markdown")
    # The four questions.
    assert "- reader: 4 queries have no ranking; they count as not right." in out


@pytest.mark.usefixtures("retrievers")
def test_retrievers_without_a_probe_in_common_have_tables_and_no_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    write_retrieval(Path("asked"), Path("little"), ANSWERED, probes=["entity_questions"])
    write_retrieval(Path("found"), Path("little"), FOUND, probes=["amber"])
    assert pairs_of(capsys, "asked", "found", "--dataset", "little") == {}


@pytest.mark.usefixtures("models")
def test_models_are_paired_by_set(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = pairs_of(capsys, "talker", "mute", "--queries", "sets.json")
    # Only Como's answer is complete, with every word of its answers and entities.
    assert {name: (pair["unit"], cells(pair)) for name, pair in pairs.items()} == {
        "complete": ("sets", (0, 1, 0, 2)),
        "entity_answer": ("sets", (0, 1, 0, 2)),
    }
    assert pairs["complete"]["mcnemar_p"] == 1.0


@pytest.mark.usefixtures("models")
def test_three_models_are_corrected_by_holm(capsys: pytest.CaptureFixture[str]) -> None:
    write_answers(Path("third"), Path("sets.json"), SAID)
    _, out, _ = outcome(capsys, "compare", "talker", "mute", "third", "--queries", "sets.json", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["first"], row["second"], row["holm_p"]) for row in rows[:3]] == [
        ("talker", "mute", "1.0"),
        ("talker", "third", "1.0"),
        ("mute", "third", "1.0"),
    ]


@pytest.mark.usefixtures("retrievers")
def test_tables_of_retrievers_have_names(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, "table", "amber", "confused", "reader", "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["table"], row["system"], row["head"]) for row in rows] == [
        ("amber-human-1", "confused", "50.0"),
        ("amber-human-1", "reader", "75.0"),
        ("amber-human-2", "confused", "75.0"),
        ("amber-human-2", "reader", "100.0"),
    ]
    _, out, _ = outcome(capsys, "table", "confusion", "confused", "--published", "--json")
    rows = json.loads(out)["amber-human-confusion"]["rows"]
    assert (rows[0]["tail"], rows[1]["system"], rows[1]["source"], rows[1]["tail"]) == (
        pytest.approx(60.0),
        "TF-IDF",
        "published",
        76.1,
    )
    _, out, _ = outcome(capsys, "table", "questions", "confused", "--format", "latex")
    assert r"P19 & place of birth & Where was {[}E{]} born? & 3 & 33.3 & 66.7 \\" in out


@pytest.mark.usefixtures("models")
def test_tables_of_models_have_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, "table", "answers", "talker", "mute", "--format", "markdown")
    assert code == 0
    assert "| talker | all | 3 |" in out
    assert "| complete | all, each with its entity | 33.3% (6.1 to 79.2) |" in out


@pytest.mark.usefixtures("retrievers")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("table", "3", "confused"),
            "confused is a run of a retriever; table 3 takes runs of linkers. Tables of a retriever: summary, amber,"
            " confusion, questions",
        ),
        (
            ("table", "ambr", "confused"),
            "no table `ambr`: choose from summary, 3, 4, kinds, suspicion, amber, confusion, questions, readers,",
        ),
        (("table", "amber", "--published"), "name a run directory: table amber shows the paper's figures beside"),
        (("table", "answers", "asked"), "asked is a run of a retriever; table answers takes runs of language models."),
        (("table", "amber", "asked"), "asked has no table amber: its probe was left out"),
        (("compare", "confused", "reader", "--dataset", "nowhere"), "unknown collection `nowhere`"),
        (("compare", "confused", "other"), "the runs are over different documents: confused over `little`"),
    ],
)
def test_what_a_retriever_has_no_table_for_is_refused_with_the_names_that_fit(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    write_retrieval(Path("asked"), Path("little"), ANSWERED, probes=["entity_questions"])
    write_collection(Path("changed"))
    with Path("changed/documents.jsonl").open("a") as file:
        file.write('{"id": "new", "title": "New", "text": ""}\n')
    write_retrieval(Path("other"), Path("changed"), FOUND)
    assert complaint(capsys, *arguments).startswith(words)


@pytest.mark.usefixtures("models")
def test_no_paper_has_rows_for_the_answers_of_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, "table", "answers", "talker", "--published") == (
        "--published: no paper's figures are known for table answers"
    )
    assert complaint(capsys, "compare", "talker", "mute") == (
        "the questions `sets` are not where the run had them; --queries says where they are"
    )


@pytest.mark.usefixtures("retrievers")
def test_the_verdict_of_a_retriever_is_on_its_screen(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("retrieve", "--collection", "little", "--predictions", "reader", "-k", "1", "-k", "2")
    _, out, _ = outcome(capsys, *arguments, "--out", "reader")
    assert (
        "rankings finds the less popular namesake about as often as the popular one, no difference being certain in any"
        " of 1 tasks: head minus tail accuracy@1 is -5.0 points ("
    ) in " ".join(out.split())


@pytest.mark.usefixtures("models")
def test_the_verdict_of_a_model_is_on_its_screen(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = outcome(capsys, "answer", "--queries", "sets.json", "--predictions", "talker", "--out", "talker")
    assert "answers gives every namesake its own answer to 33.3% (6.1 to 79.2) of 3 questions" in " ".join(out.split())
