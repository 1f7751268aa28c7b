"""`shadowprobe retrieve` and `shadowprobe retrievers`, as their users meet them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from refusals import Damage, change, complaint, ids, outcome, put, single_line, spoil, whole
from retrieval_world import FOUND, write_collection, write_documents, write_sets
from retriever_scripts import write_retrievers

from shadowprobe.base.jsonl import encode_lines
from shadowprobe.queries.query import Ranking

LITTLE = ("retrieve", "--collection", "little", "--out", "run", "-k", "1", "-k", "2")


@pytest.fixture(autouse=True)
def _in_a_directory_with_a_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_collection(tmp_path / "little")
    write_retrievers(tmp_path)
    Path(tmp_path / "theirs.jsonl").write_bytes(encode_lines(Ranking(one, found) for one, found in FOUND.items()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")


def row(out: str, *begins: str) -> list[str]:
    """The cells of the row that begins with some words, in the table whose title begins with the first of them."""
    title, first = begins
    lines = out[out.index(title) :].splitlines()
    line = next(line for line in (" ".join(line.split()) for line in lines) if line.startswith(first))
    return line.removeprefix(first).split()


def test_the_tables_have_the_figures_that_were_worked_out_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, *LITTLE, "--probe", "amber", "--predictions", "theirs.jsonl")
    # One query has no ranking.
    assert code == 1
    assert out.startswith("theirs on little\n")
    at_1 = row(out, "AmbER, people: is the right document among the first 1?", "question answering")
    # All, head, tail, ∀, each with its interval; head minus tail is 2/4 - 1/5.
    assert at_1[:8:2] == ["33.3", "50.0", "20.0", "0.0"]
    assert at_1[8] == "+30.0"
    at_2 = row(out, "AmbER, people: is the right document among the first 2?", "question answering")
    assert at_2[::2] == ["66.7", "75.0", "60.0", "50.0"]
    confusion = row(out, "AmbER, people: does a namesake stand above the right document?", "question answering")
    assert confusion[::2] == ["25.0", "60.0", "22.2"]
    assert "4 sets of 8 entities" in out
    assert "1 queries have no ranking; they count as wrong" in out
    assert "note: 1 of the 9 documents that queries ask for are not in the collection `little`" in out
    assert err == "Written to run/\n"


def test_a_retriever_is_asked_and_then_taken_from_its_run(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, *LITTLE, "--retriever", "bm25")
    assert code == 0
    assert out.startswith("bm25 (k1=1.5 b=0.75) on little\n")
    assert err.startswith("13 answered in ")
    assert err.endswith("Written to run/\n")
    code, again, err = outcome(capsys, *LITTLE, "--retriever", "bm25")
    assert (code, again) == (0, out)
    assert err == "13 taken from an earlier run. Written to run/\n"


def test_questions_have_macro_and_micro_in_their_table(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = outcome(capsys, *LITTLE, "--retriever", "mine.py:Telling", "--probe", "entity_questions")
    # Always the river Avon, then its second passage: right for the first of three and of one question.
    assert row(out, "EntityQuestions", "P19")[-3:] == ["3", "33.3", "33.3"]
    assert row(out, "EntityQuestions", "P20")[-3:] == ["1", "0.0", "0.0"]
    assert row(out, "EntityQuestions", "macro")[-2:] == ["16.7", "16.7"]
    assert row(out, "EntityQuestions", "micro")[-3:] == ["4", "25.0", "25.0"]


def test_json_is_the_results_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, *LITTLE, "--retriever", "mine.py:Telling", "--json")
    assert code == 0
    assert json.loads(out) == json.loads(Path("run/results.json").read_text())


@pytest.mark.parametrize("columns", ["80", "60"])
@pytest.mark.parametrize("published", [(), ("--published",)])
def test_a_narrow_terminal_folds_figures_and_cuts_none_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str, published: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    code, out, _ = outcome(capsys, "retrieve", "--retriever", "linker:prior", "--out", "run", *published)
    assert code == 0
    assert max(map(len, out.splitlines())) <= int(columns)
    assert "…" not in out
    if columns == "80":
        # Words and intervals stay in one piece.
        assert "answering" in out
        assert re.search(r"\([0-9]+–100\)", out)
        # The last column of the widest table.
        assert not published or "80.4" in row(out, "EntityQuestions", "P20")


def test_published_rows_are_marked_and_their_sources_said(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--retriever", "bm25", "--published", "-k", "20")
    code, out, _ = outcome(capsys, *LITTLE, *arguments)
    assert code == 0
    first = out[out.index("among the first 1?") :]
    # Table 5, question answering about people.
    assert row(first, "among the first 1?", "question answering TF-IDF †") == ["16.7", "28.2", "7.3", "0.1", "–"]
    # Table 6.
    assert row(out, "does a namesake stand above", "question answering Bootleg †") == ["3.7", "28.7", "–"]
    # Table 5 of the other paper.
    assert row(out, "EntityQuestions", "P19")[-3:] == ["25.4", "41.8", "75.3"]
    assert row(out, "EntityQuestions", "macro")[-3:] == ["49.7", "56.7", "72.0"]
    assert "https://doi.org/10.18653/v1/2021.acl-long.345, on other data and other documents" in " ".join(out.split())
    assert "https://doi.org/10.18653/v1/2021.emnlp-main.496, on other data" in " ".join(out.split())


def test_published_rows_are_only_there_where_the_paper_has_some(capsys: pytest.CaptureFixture[str]) -> None:
    # Sets that say of people, and not which task; and no table of the paper has the first 2 documents.
    write_sets(Path("mine/human/other/amber_sets.jsonl"))
    given = ("--probe", "amber", "--queries", "mine", "--retriever", "bm25", "--published")
    code, out, _ = outcome(capsys, *LITTLE, *given)
    assert code == 0
    assert "TF-IDF †" not in out


def test_buckets_have_a_table_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    questions = [{"question": "?", "answers": ["Naseby"], "frequency": frequency} for frequency in (1, 1200)]
    Path("P19.test.json").write_text(json.dumps(questions))
    given = ("--probe", "entity_questions", "--queries", "P19.test.json", "--retriever", "mine.py:Telling")
    _, out, _ = outcome(capsys, *LITTLE, *given)
    # The frequent one fills almost all of it, and stands in the middle.
    assert row(out, "EntityQuestions by the frequency of the subject", "1 ")[:4] == ["1", "to", "1", "1"]
    assert row(out, "EntityQuestions by the frequency of the subject", "5 ")[:4] == ["1,200", "to", "1,200", "1"]


def test_what_a_retriever_prints_does_not_get_among_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("mine.py").open("a") as file:
        file.write("\nclass Loud(Telling):\n    def index(self, documents):\n")
        file.write("        print('indexing!')\n        super().index(documents)\n")
    _, out, err = outcome(capsys, *LITTLE, "--retriever", "mine.py:Loud", "--json")
    assert json.loads(out)["retriever"]["name"] == "telling"
    assert "indexing!" in err


# Line 2 of the sets is Berg, line 2 of the documents a passage of the river Avon.
FILES = [
    ("amber/human/qa/amber_sets.jsonl", put(2, b"{"), ":2: not valid JSON"),
    ("amber/human/qa/amber_sets.jsonl", change(2, name=""), ":2: field `name`: is empty"),
    ("amber/human/qa/amber_sets.jsonl", whole(b""), ": holds no sets"),
    ("entity_questions/P19.test.json", whole(b'[{"question": "?", "answers": []}]'), ": field `[0].answers`: is empty"),
    ("entity_questions/P19.test.json", whole(b"\xff"), ":1: is not UTF-8"),
    ("collection.json", whole(b"{}"), ": field `name`: Object missing required field `name`"),
]


@pytest.mark.parametrize(("file", "damage", "words"), FILES, ids=ids(FILES))
def test_queries_with_a_fault_are_refused_in_one_line_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str], file: str, damage: Damage, words: str
) -> None:
    spoil(Path("little") / file, damage)
    assert complaint(capsys, *LITTLE).startswith(f"little/{file}{words}")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (put(2, b"{"), ":2: not valid JSON"),
        (change(2, id="avon-ship"), ":3: field `id`: 'avon-ship' stands twice"),
        (whole(b""), ": holds no documents"),
    ],
)
def test_documents_with_a_fault_are_refused_in_one_line_and_claim_no_run(
    capsys: pytest.CaptureFixture[str], damage: Damage, words: str
) -> None:
    spoil(Path("little/documents.jsonl"), damage)
    said = single_line(*outcome(capsys, *LITTLE))
    assert said.startswith(f"little/documents.jsonl{words}")
    assert list(Path("run").iterdir()) == []


REFUSED = [
    (("--collection", "namesake"), "unknown collection `namesake` (did you mean `namesakes`?)"),
    (("--queries", "nowhere", "--probe", "amber"), "nowhere: no such file or folder"),
    (("--predictions", "nowhere"), "nowhere: no such file"),
    (("--predictions", "theirs.jsonl", "-o", "k1=2"), "-o: with --predictions no retriever is asked"),
    (("--retriever", "bm52"), "unknown retriever `bm52` (did you mean `bm25`?): `shadowprobe retrievers` lists them"),
    (("--retriever", "linker"), "retriever `linker`: name the linker too, as in linker:prior"),
    (("--retriever", "linker:"), "retriever `linker:`: name the linker too, as in linker:prior"),
    (("--retriever", "linker:pior"), "unknown linker `pior` (did you mean `prior`?)"),
    (
        ("--retriever", "linker:oracle"),
        "`oracle` needs the gold entities of a dataset, and cannot be used as a retriever",
    ),
    (("--retriever", "bm25", "-o", "k=1"), "retriever `bm25` has no option `k`"),
    (("--retriever", "bm25", "-o", "k1=high"), "option `k1`: 'high' is not a number"),
    (("--retriever", "dense", "-o", "kind=dpr"), "retriever `dense`: kind=dpr needs the encoder of the documents too"),
    (("--retriever", "dense", "-o", "index=tree"), "option `index`: 'tree' is not one of flat, faiss"),
    (("--retriever", "nowhere.py:Mine"), "nowhere.py: no such file"),
    (("--retriever", "mine.py"), "mine.py: name the class too, as in mine.py:MyRetriever"),
    (("--retriever", "mine.py:Telln"), "`mine.py:Telln`: there is no class `Telln` in it (did you mean `Telling`?)"),
    (("--retriever", "mine.py:Path"), "`mine.py:Path`: `Path` does not derive from shadowprobe.retrieval.Retriever"),
    (
        ("--probe", "ambr"),
        "unknown probe `ambr` (did you mean `amber`?): there are amber, amber_reading, ambigdocs,",
    ),
    (("--probe", "ambigdocs"), "--probe ambigdocs: asks no retriever"),
    (("-k", "0"), "Invalid value for '-k'"),
    (("-k", "200"), "--depth: is 100, and less than the largest -k, 200"),
    (("--depth", "1"), "--depth: is 1, and less than the largest -k, 2"),
    (("--depth", "0"), "Invalid value for '--depth'"),
    (("--out", ""), "--out: the name of the directory is empty"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=[" ".join(arguments) for arguments, _ in REFUSED])
def test_what_cannot_be_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert complaint(capsys, *LITTLE, *arguments).startswith(words)


def test_a_file_of_documents_goes_with_released_queries(capsys: pytest.CaptureFixture[str]) -> None:
    write_documents(Path("passages.jsonl"))
    released = write_sets(Path("data/human/qa/amber_sets.jsonl"))
    given = ("--probe", "amber", "--queries", str(released.parent), "--collection", "passages.jsonl")
    code, out, err = outcome(capsys, "retrieve", *given, "--retriever", "tfidf")
    assert code == 0
    assert "AmbER, people" in out
    assert err.endswith("Written to runs/tfidf-passages/\n")


def test_retrievers_are_listed_with_what_each_needs(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = outcome(capsys, "retrievers")
    for name in ("tfidf", "bm25", "dense", "linker"):
        assert f"\n {name}" in out or f"\n{name}" in out
    _, listed, _ = outcome(capsys, "retrievers", "--json")
    found = {item["name"]: item["needs"] for item in json.loads(listed)}
    assert found["bm25"] == "nothing"
    assert found["dense"].startswith("pip install 'shadowprobe[dense]'")
