"""The user study of AmbER (Table 8), on answers whose figures are worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from measured_runs import write_retrieval
from msgspec.structs import replace
from study_world import ANN, BOB, RANKED, annotate, write_trio

from shadowprobe import InputError
from shadowprobe.base.jsonl import encode_json
from shadowprobe.cli import main
from shadowprobe.human_study.amber_sample import AmberItem, AmberKey, draw_amber_sample
from shadowprobe.human_study.amber_score import PARTS, SystemAnswers, UserStudy, measure_user_study
from shadowprobe.human_study.amber_systems import find_first
from shadowprobe.human_study.annotations import Annotations, read_annotations
from shadowprobe.human_study.form import write_sample
from shadowprobe.measure.statistics import wilson
from shadowprobe.reporting.tables.study_tables import make_study_tables

# The number of the right document of each question; the others follow in the order of their ids.
GOLD = {"p1": 1, "p2": 2, "t1": 3, "t2": 1, "t3": 1}


@pytest.fixture
def key(tmp_path: Path) -> AmberKey:
    """The key of a sample of all five questions, with the right documents at fixed places."""
    drawn = draw_amber_sample(write_trio(tmp_path / "trio")).key
    items = sorted(drawn.items, key=lambda item: item.id)
    return replace(drawn, items=tuple(_place(number, item) for number, item in enumerate(items, start=1)))


def _place(number: int, item: AmberItem) -> AmberItem:
    right = item.documents[item.gold - 1]
    documents = sorted((one for one in item.documents if one is not right), key=lambda one: one.id)
    documents.insert(GOLD[item.id] - 1, right)
    return replace(item, item=number, gold=GOLD[item.id], documents=tuple(documents))


def hits(found: UserStudy, name: str, what: str) -> list[tuple[int, int]]:
    """How many are right, of how many, for all, people, things, head and tail."""
    (one,) = (one for one in found.scores if one.name == name)
    rates = getattr(one, what)
    return [(rates[part].hits, rates[part].n) for part in PARTS]


@pytest.fixture
def found(key: AmberKey) -> UserStudy:
    systems = [
        SystemAnswers("bm25", {item.id: n for item in key.items if (n := find_first(item, RANKED.get(item.id, ())))}),
        SystemAnswers("bert", answers={"p1": "porthgain.", "p2": "Hull", "t1": "The North Wind", "t3": "harbour"}),
    ]
    return measure_user_study(key, [annotate(key, "Ann", ANN), annotate(key, "Bob", BOB)], systems)


def test_the_right_document_counts_for_all_people_things_head_and_tail(found: UserStudy) -> None:
    # p1 and t1 are about the head. Bob: p1 and t1 right, p2 and t3 wrong, t2 not answered.
    assert hits(found, "Ann", "documents") == [(5, 5), (2, 2), (3, 3), (2, 2), (3, 3)]
    assert hits(found, "Bob", "documents") == [(2, 4), (1, 2), (1, 2), (2, 2), (0, 2)]


def test_an_answer_matches_by_squads_rule_and_one_that_is_not_marked_is_wrong(found: UserStudy) -> None:
    # Ann: p1, t1 and t3 (an article does not count) match; "built of oak" does not, and p2 has no mark.
    assert hits(found, "Ann", "exact") == [(3, 5), (1, 2), (2, 3), (2, 2), (1, 3)]
    # Bob: "north" is not "north wind".
    assert hits(found, "Bob", "exact") == [(1, 4), (1, 2), (0, 2), (1, 2), (0, 2)]
    assert {one.name: one.lacking for one in found.scores[:2]} == {"Ann": 1, "Bob": 0}


def test_all_annotators_together_have_the_interval_of_as_many_answers_as_questions(found: UserStudy) -> None:
    assert hits(found, "all annotators", "documents") == [(7, 9), (3, 4), (4, 5), (4, 4), (3, 5)]
    (together,) = (one for one in found.scores if one.kind == "annotators")
    assert together.documents is not None
    assert together.documents["all"].ci95 == wilson(7 / 9 * 5, 5)


def test_a_part_that_nobody_answered_has_no_rate(key: AmberKey) -> None:
    people = {name: answer for name, answer in ANN.items() if name.startswith("p")}
    found = measure_user_study(key, [annotate(key, "Ann", people), annotate(key, "Bob", people)], [])
    (together,) = (one for one in found.scores if one.kind == "annotators")
    assert together.documents is not None
    empty = together.documents["nonhuman"]
    assert (empty.n, empty.hits, empty.rate, empty.ci95) == (0, 0, None, None)


def test_wilsons_interval_is_that_of_the_formula(found: UserStudy) -> None:
    # 2 of 4: centre 1/2, half width 1.96 / (1 + 3.8415 / 4) * sqrt(1/16 + 3.8415 / 64) = 0.9998 * 0.3500 = 0.3500.
    bob = found.scores[1].documents
    assert bob is not None
    assert bob["all"].ci95 == pytest.approx((0.15, 0.85), abs=0.0001)


def test_a_retriever_chooses_the_first_of_the_three_and_none_of_them_is_wrong(found: UserStudy) -> None:
    # p1 and t1 right, p2 a namesake first; t2 has none of the three, and t3 no ranking.
    assert hits(found, "bm25", "documents") == [(2, 5), (1, 2), (1, 3), (2, 2), (0, 3)]
    (bm25,) = (one for one in found.scores if one.name == "bm25")
    assert (bm25.kind, bm25.exact, bm25.lacking) == ("retriever", None, 2)


def test_a_reader_is_measured_by_exact_match_and_a_missing_answer_is_wrong(found: UserStudy) -> None:
    assert hits(found, "bert", "exact") == [(2, 5), (1, 2), (1, 3), (2, 2), (0, 3)]
    (bert,) = (one for one in found.scores if one.name == "bert")
    assert (bert.kind, bert.documents, bert.lacking) == ("reader", None, 1)


def test_systems_are_measured_on_the_questions_that_people_answered(key: AmberKey) -> None:
    first = {"p1": ANN["p1"], "p2": ANN["p2"]}
    found = measure_user_study(key, [annotate(key, "Ann", first)], [SystemAnswers("bm25", {"p1": 1, "t1": 3})])
    assert (found.items, found.answered, found.unanswered) == (5, 2, 3)
    assert hits(found, "bm25", "documents")[0] == (1, 2)
    assert [one.kind for one in found.scores] == ["annotator", "retriever"]


def test_agreement_is_over_documents_and_over_answers_in_the_same_document(found: UserStudy) -> None:
    # p1, p2, t1, t3. Ann chooses 1, 2, 3, 1 and Bob 1, 1, 3, 2: "ada-diver" is first for p2, "tarn-play" second for t3.
    # The same in 2 of 4; by chance (2*2 + 1*1 + 1*1) / 16 = 6/16; kappa = (8 - 6) / (16 - 6) = 1/5.
    (kappa,) = found.kappa
    assert (kappa.annotators, kappa.n, kappa.observed) == (("Ann", "Bob"), 4, 0.5)
    assert kappa.kappa == pytest.approx(1 / 5)
    # In the same document both marked p1 (the same words) and t1: F1 of "north wind" and "north" is 2/3.
    (spans,) = found.spans
    assert (spans.n, spans.exact) == (2, 0.5)
    assert spans.f1 == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize(
    ("ranking", "choice"),
    [
        (("tarn-lake-1", "tarn-ship"), 3),
        (("tarn-lake", "tarn-ship"), 3),
        (("bo-song", "tarn-ship", "tarn-lake-2"), 2),
        (("tarn-play",), 1),
        (("bo-song",), None),
        ((), None),
    ],
)
def test_passages_and_articles_name_a_document_and_strangers_are_skipped(
    key: AmberKey, ranking: tuple[str, ...], choice: int | None
) -> None:
    (item,) = (item for item in key.items if item.id == "t1")
    assert [document.id for document in item.documents] == ["tarn-play", "tarn-ship", "tarn-lake"]
    assert find_first(item, ranking) == choice


def form_of(key: AmberKey, path: Path, *answers: dict[str, Any]) -> Path:
    """A file as the form writes it."""
    path.write_text(json.dumps({"schema": 1, "sample": key.sample, "annotator": "Ann", "answers": answers}))
    return path


def test_places_are_counted_in_characters_and_not_in_units_of_a_browser(key: AmberKey, tmp_path: Path) -> None:
    # "Ada Reed 🎉 was a poët": the emoji is one character.
    marked = {"item": 1, "choice": 1, "start": 17, "end": 21, "text": "poët"}
    (read,) = read_annotations([form_of(key, tmp_path / "a.json", marked)], key)
    assert (read.choices, read.spans) == ({1: 1}, {1: "poët"})


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"start": 18, "end": 22, "text": "poët"}, "is not what document 1 of item 1 has from 18 to 22"),
        ({"start": 0, "end": 3}, "is not what document 1 of item 1 has from 0 to 3"),
        ({"text": "Ada"}, "is not what document 1 of item 1 has from None to None"),
        ({"start": -21, "end": -17, "text": "gain"}, "is not what document 1"),
        ({"start": "0"}, "Expected `int | null`"),
        ({"choice": 4}, "is 4: give 1, 2 or 3"),
    ],
)
def test_a_mark_that_is_not_in_the_document_is_refused(
    key: AmberKey, tmp_path: Path, answer: dict[str, Any], problem: str
) -> None:
    path = form_of(key, tmp_path / "a.json", {"item": 1, "choice": 1, **answer})
    with pytest.raises(InputError) as refused:
        read_annotations([path], key)
    assert problem in str(refused.value)
    assert "answers[0]" in str(refused.value)


def test_an_empty_mark_says_that_there_is_no_answer(key: AmberKey, tmp_path: Path) -> None:
    path = form_of(key, tmp_path / "a.json", {"item": 1, "choice": 2, "start": 0, "end": 0, "text": ""})
    (read,) = read_annotations([path], key)
    assert (read.choices, read.spans) == ({1: 2}, {})


def sheet_of(key: AmberKey, path: Path, *rows: str) -> Annotations:
    path.write_text("sample,item,answer,span\n" + "".join(f"{key.sample},{row}\n" for row in rows), encoding="utf-8")
    (read,) = read_annotations([path], key)
    return read


def test_a_sheet_has_the_words_that_were_copied_however_their_spaces_are(key: AmberKey, tmp_path: Path) -> None:
    read = sheet_of(key, tmp_path / "Ann.csv", '4,1,"oak  and lost"', "1,1,poët", "2,2,", "3,,")
    assert read.choices == {4: 1, 1: 1, 2: 2}
    assert read.spans == {4: "oak\nand lost", 1: "poët"}
    assert (read.answers[1].start, read.answers[1].end) == (17, 21)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1,1,Leeds", ":2: field `span`: 'Leeds' does not stand in document 1: copy it from there"),
        ("1,,Leeds", ":2: field `answer`: is empty, but `span` is not"),
        ("1,5,Leeds", ":2: field `answer`: is '5': give 1, 2 or 3, or leave it empty"),
        ("1,1," + "x" * 5000, ":2: field `span`: 'xxxx"),
    ],
)
def test_an_invalid_sheet_is_refused(key: AmberKey, tmp_path: Path, row: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        sheet_of(key, tmp_path / "Ann.csv", row)
    assert problem in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_sheet_without_its_column_for_answers_is_refused(key: AmberKey, tmp_path: Path) -> None:
    (tmp_path / "Ann.csv").write_text(f"sample,item,answer\n{key.sample},1,1\n")
    with pytest.raises(InputError, match="field `span`: no such column"):
        read_annotations([tmp_path / "Ann.csv"], key)


def test_table_8_stands_below_the_runs_as_the_paper_prints_it(found: UserStudy) -> None:
    documents, answers = make_study_tables(found, published=True)
    printed = [[row.cells[0], *row.cells[4:6]] for row in documents.rows if row.published]
    assert printed == [
        ["TF-IDF", 43.3, 50.3],
        ["DPR", 69.1, 68.3],
        ["BLINK", 69.1, 74.1],
        ["Bootleg", 79.6, 73.1],
        ["Human", 100, 97.9],
    ]
    assert [[row.cells[0], *row.cells[4:6]] for row in answers.rows if row.published] == [
        ["BERT", 71.8, 75.5],
        ["Human", 78.8, 77.5],
    ]
    assert "Chen et al. (2021)" in answers.notes[-1]
    assert not any(row.published for table in make_study_tables(found) for row in table.rows)


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    key: AmberKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Runs a command where the collection, the sample, the answers of Ann and Bob and a run of a retriever lie."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "sample.json").write_bytes(encode_json(key))
    for name, given in (("Ann", ANN), ("Bob", BOB)):
        (tmp_path / f"{name}.json").write_bytes(encode_json(annotate(key, name, given)))
    write_retrieval(tmp_path / "stored", tmp_path / "trio", RANKED, probes=("amber",))

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return run


def score(command: Command, *arguments: str) -> tuple[int, str, str]:
    return command("annotate", "score", *arguments, "--sample", "study")


def test_score_compares_people_with_runs_of_retrievers_and_readers(command: Command) -> None:
    assert command("read", "--reader", "oracle-answer", "-c", "trio", "--out", "right")[0] == 0
    code, out, _ = score(command, "Ann.json", "Bob.json", "--run", "stored", "--run", "right", "--published")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert code == 0
    assert "trio: 5 questions of AmbER sets, documents of trio" in lines
    assert any(line.startswith("stored 5 2 40.0 (") for line in lines)
    assert any(line.startswith("oracle-answer 5 0 100.0 (57–100)") for line in lines)
    assert any(line.startswith("Ann 5 1 60.0 (") for line in lines)
    assert any(line.startswith("Bootleg † – 79.6 73.1") for line in lines)
    assert "Ann and Bob: Cohen's kappa 0.200, same answer in 50.0% of 4" in lines


def test_score_as_json_has_the_same_numbers(command: Command) -> None:
    code, out, _ = score(command, "Ann.json", "--run", "stored", "--json")
    found = json.loads(out)
    assert (code, found["study"], found["answered"]) == (0, "amber", 5)
    assert [one["documents"]["all"]["hits"] for one in found["scores"]] == [5, 2]


def test_score_exits_with_1_where_nobody_answered_a_question(command: Command) -> None:
    code, out, _ = score(command, "Bob.json")
    assert code == 1
    assert "1 of 5 questions have no answer of anybody" in " ".join(out.split())


def test_a_run_that_cannot_be_compared_is_one_line(command: Command, tmp_path: Path) -> None:
    assert command("read", "--documents", "stored", "-k", "2", "-c", "trio", "--out", "read")[0] == 0
    code, _, err = score(command, "Ann.json", "--run", "read")
    assert code == 2
    assert err.startswith("shadowprobe: --run read: the reader was given documents of `rankings`; `read --documents")
    (tmp_path / "trio" / "documents.jsonl").write_text('{"id": "a", "title": "A", "text": "b"}\n')
    write_retrieval(tmp_path / "other", tmp_path / "trio", {"p1": ("a",)}, probes=("amber",))
    code, _, err = score(command, "Ann.json", "--run", "other")
    assert code == 2
    assert err.startswith("shadowprobe: --run other: is over other documents than the sample: `trio` with the digest ")


def test_stored_answers_of_a_reader_say_that_nobody_knows_what_was_read(command: Command, tmp_path: Path) -> None:
    answers = [{"id": "p1", "answer": "Porthgain"}, {"id": "t1", "answer": "wind"}]
    (tmp_path / "bert.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    command("read", "-p", "bert.jsonl", "-c", "trio", "--probe", "amber_reading", "--out", "bert")
    code, out, _ = score(command, "Ann.json", "--run", "bert", "--json")
    (_, bert) = json.loads(out)["scores"]
    assert (code, bert["name"], bert["exact"]["all"]["hits"], bert["lacking"]) == (0, "bert (documents unknown)", 1, 3)


def test_the_sheet_that_sample_writes_can_be_filled_in_and_scored(command: Command, tmp_path: Path) -> None:
    code, out, _ = command("annotate", "sample", "--study", "amber", "-c", "trio", "--out", "new")
    assert code == 0
    assert "left out: 2 of the questions (fewer than 3 namesakes have a document)" in out
    key = json.loads(Path("new/sample.json").read_text())
    lines = Path("new/sample.csv").read_text(encoding="utf-8-sig").replace(",,\n", ",{},{}\n")
    cells = [cell for item in key["items"] for cell in (item["gold"], item["answers"][0])]
    Path("Zoë.csv").write_text(lines.format(*cells), encoding="utf-8")
    code, out, err = command("annotate", "score", "Zoë.csv", "--sample", "new", "--json")
    assert err == ""
    (row,) = json.loads(out)["scores"]
    assert (code, row["name"], row["documents"]["all"]["rate"], row["exact"]["all"]["rate"]) == (0, "Zoë", 1.0, 1.0)


def test_a_sample_without_a_study_in_its_key_is_of_shadowlink_and_takes_no_runs(
    command: Command, tmp_path: Path
) -> None:
    command("annotate", "sample", "--n", "2", "--out", "old")
    assert "study" not in json.loads(Path("old/sample.json").read_text())
    Path("a.json").write_text("{}")
    code, _, err = command("annotate", "score", "a.json", "--sample", "old", "--run", "stored")
    assert (code, err) == (
        2,
        "shadowprobe: --run: goes with a sample of --study amber, and old is one of shadowlink\n",
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--study", "ambr"), "--study ambr: choose from shadowlink, amber, ambigdocs (did you mean `amber`?)"),
        (("--study", "amber", "--dataset", "x"), "--dataset: goes with --study shadowlink"),
        (("--study", "amber", "--run", "x"), "--run: goes with --study ambigdocs"),
        (("--collection", "x"), "--collection: goes with --study amber"),
        (("--queries", "x"), "--queries: goes with --study amber or ambigdocs"),
        (("--study", "ambigdocs"), "--study ambigdocs: give --run, a run directory of `shadowprobe answer`"),
        (("--study", "ambigdocs", "--run", "stored"), "--run stored: is a run of a retriever; `shadowprobe answer`"),
        (("--study", "amber", "-c", "trio", "--n", "9"), "--n 9: `trio` has 5 questions with 3 documents"),
    ],
)
def test_options_that_do_not_fit_the_study_are_one_line(
    command: Command, arguments: tuple[str, ...], problem: str
) -> None:
    code, _, err = command("annotate", "sample", *arguments, "--out", "new")
    assert code == 2
    assert err.startswith(f"shadowprobe: {problem}")
    assert len(err.splitlines()) == 1


def test_the_form_is_written_with_the_other_files(command: Command) -> None:
    drawn = draw_amber_sample(write_trio(Path("again")))
    assert [path.name for path in write_sample(drawn, Path("new"))] == ["form.html", "sample.csv", "sample.json"]
    assert command("annotate", "sample", "--study", "amber", "-c", "trio")[0] == 0
    assert Path("annotation/amber-trio/form.html").exists()


def test_without_a_number_a_study_has_as_many_items_as_its_paper(command: Command) -> None:
    for study, n in (("shadowlink", 91), ("amber", 120)):
        assert command("annotate", "sample", "--study", study, "--out", study)[0] == 0
        assert len(json.loads(Path(study, "sample.json").read_text())["items"]) == n
