"""What annotators' answers say, on answers whose figures are worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from world import write_world

from shadowprobe import InputError, UsageError
from shadowprobe.base.jsonl import encode_json
from shadowprobe.cli import main
from shadowprobe.human_study.annotations import Annotations, ItemChoice, read_annotations
from shadowprobe.human_study.answer_keys import read_key
from shadowprobe.human_study.shadowlink_sample import AnswerKey, KeyItem, SampledSubset
from shadowprobe.human_study.shadowlink_score import Label, measure_agreement

T: SampledSubset = "top"
S: SampledSubset = "shadow"
N: Label = "not sufficient"
# Ten items; the top entity is choice 1 of the first five and choice 2 of the others.
GOLD = (T, T, T, S, T, S, S, S, T, S)
ANN: tuple[Label, ...] = (T, T, T, T, S, S, S, S, N, N)
BOB: tuple[Label, ...] = (T, T, T, T, T, S, S, S, S, N)


def key_of(gold: tuple[SampledSubset, ...]) -> AnswerKey:
    """The key of a sample with these right answers."""
    items = []
    for number, subset in enumerate(gold, start=1):
        choices = (T, S) if number <= len(gold) / 2 else (S, T)
        items.append(KeyItem(number, f"id{number}", subset, "Avon", choices, gold=subset))
    return AnswerKey("s1", "study", "world", "digest", 7, tuple(items))


def returned(key: AnswerKey, name: str, labels: tuple[Label | None, ...]) -> Annotations:
    """The answers of an annotator who says this; None is no answer."""
    answers = []
    for item, label in zip(key.items, labels, strict=True):
        if label is not None:
            answers.append(ItemChoice(item.item, 3 if label == N else item.choices.index(label) + 1))
    return Annotations(key.sample, name, tuple(answers))


@pytest.fixture
def key() -> AnswerKey:
    return key_of(GOLD)


def test_cohens_kappa_is_over_top_shadow_and_not_sufficient(key: AnswerKey) -> None:
    # Same answer in 1-4, 6-8 and 10: 8 of 10. Ann says top 4, shadow 4, not sufficient 2 times; Bob 5, 4 and 1.
    # By chance: (4*5 + 4*4 + 2*1) / 100 = 0.38. Kappa = (0.8 - 0.38) / (1 - 0.38) = 21/31.
    (found,) = measure_agreement(key, [returned(key, "Ann", ANN), returned(key, "Bob", BOB)]).kappa
    assert (found.annotators, found.n, found.observed) == (("Ann", "Bob"), 10, 0.8)
    assert found.kappa == pytest.approx(21 / 31)


def test_a_context_is_sufficient_if_no_annotator_says_that_it_is_not(key: AnswerKey) -> None:
    found = measure_agreement(key, [returned(key, "Ann", ANN), returned(key, "Bob", BOB)])
    assert (found.sufficient.hits, found.sufficient.n, found.sufficient.rate) == (8, 10, 0.8)
    assert [row.not_sufficient for row in found.annotators] == [2, 1]


def test_table_2_is_over_the_sufficient_contexts(key: AnswerKey) -> None:
    # Items 1-8. Top: 1, 2, 3, 5; Ann misses 5. Shadow: 4, 6, 7, 8; both miss 4.
    found = measure_agreement(key, [returned(key, "Ann", ANN), returned(key, "Bob", BOB)])
    ann, bob = found.annotators
    assert (ann.subsets["top"].hits, ann.subsets["top"].n, ann.subsets["top"].rate) == (3, 4, 0.75)
    assert (bob.subsets["top"].rate, bob.subsets["shadow"].rate, ann.subsets["shadow"].rate) == (1.0, 0.75, 0.75)
    assert found.average == {"shadow": 0.75, "top": 0.875}


def test_the_papers_counts_give_the_numbers_that_it_prints() -> None:
    # 91 entries, 77 sufficient: 37 Top and 40 Shadow. Table 2, Top: 0.973, 0.919, average 0.946, which are
    # 36/37, 34/37 and 70/74; Shadow of annotator 2: 0.950 = 38/40; sufficient: 85%.
    key = key_of((T,) * 37 + (S,) * 40 + (T,) * 14)
    first: tuple[Label, ...] = (S,) + (T,) * 36 + (T,) + (S,) * 39 + (N,) * 14
    second: tuple[Label, ...] = (S,) * 3 + (T,) * 34 + (T,) * 2 + (S,) * 38 + (T,) * 14
    found = measure_agreement(key, [returned(key, "Annotator 1", first), returned(key, "Annotator 2", second)])
    one, two = (row.subsets for row in found.annotators)
    assert [f"{rate:.3f}" for rate in (one[T].rate, two[T].rate, found.average[T], two[S].rate)] == [
        "0.973",
        "0.919",
        "0.946",
        "0.950",
    ]
    assert f"{found.sufficient.rate:.0%}" == "85%"


def test_an_item_without_the_answer_of_one_annotator_counts_for_neither(key: AnswerKey) -> None:
    without_first = (None, *BOB[1:])
    found = measure_agreement(key, [returned(key, "Ann", ANN), returned(key, "Bob", without_first)])
    assert (found.items, found.complete, found.sufficient.n) == (10, 9, 9)
    assert found.kappa[0].n == 9
    assert [row.answered for row in found.annotators] == [10, 9]
    assert found.annotators[0].subsets["top"].n == 3


def test_kappa_is_not_defined_where_every_answer_is_the_same(key: AnswerKey) -> None:
    (found,) = measure_agreement(key, [returned(key, name, (T,) * 10) for name in ("Ann", "Bob")]).kappa
    assert (found.observed, found.kappa) == (1.0, None)


def test_kappa_of_annotators_without_a_common_item_is_not_measured(key: AnswerKey) -> None:
    halves = (*ANN[:5], *[None] * 5), (*[None] * 5, *BOB[5:])
    found = measure_agreement(key, [returned(key, name, half) for name, half in zip("AB", halves, strict=True)])
    assert (found.kappa[0].n, found.kappa[0].kappa, found.complete, found.sufficient.rate) == (0, None, 0, None)
    assert found.average == {"shadow": None, "top": None}


def test_one_annotator_alone_has_a_row_and_no_kappa_and_three_have_three(key: AnswerKey) -> None:
    alone = measure_agreement(key, [returned(key, "Ann", ANN)])
    assert (alone.kappa, alone.sufficient.hits) == ((), 8)
    three = measure_agreement(key, [returned(key, name, ANN) for name in ("Ann", "Bob", "Eve")])
    assert [kappa.annotators for kappa in three.kappa] == [("Ann", "Bob"), ("Ann", "Eve"), ("Bob", "Eve")]
    assert {kappa.kappa for kappa in three.kappa} == {1.0}


def handed_in(path: Path, **changes: Any) -> Path:
    """A file as the form writes it."""
    answers = [{"item": 1, "choice": 1}, {"item": 2, "choice": 3}]
    path.write_text(json.dumps({"schema": 1, "sample": "s1", "annotator": "Ann", "answers": answers} | changes))
    return path


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"sample": "s2"}, "field `sample`: answers the sample 's2', but the key belongs to 's1'"),
        ({"annotator": " "}, "field `annotator`: is empty"),
        ({"schema": 2}, "field `schema`: is 2, and this shadowprobe reads 1: update it"),
        ({"answers": [{"item": 11, "choice": 1}]}, r"field `answers\[0\].item`: the sample has no item 11"),
        ({"answers": [{"item": 1, "choice": 4}]}, r"field `answers\[0\].choice`: is 4: give 1, 2 or 3"),
        ({"answers": [{"item": 1, "choice": 1}] * 2}, r"field `answers\[1\].item`: item 1 is answered twice"),
        ({"answers": [{"item": 1}]}, "missing required field `choice`"),
        ({"answers": "1 2 3"}, "field `answers`: Expected `array`"),
    ],
)
def test_an_invalid_file_of_answers_is_refused(
    key: AnswerKey, tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        read_annotations([handed_in(tmp_path / "a.json", **changes)], key)


def test_a_file_given_twice_is_refused_and_a_name_given_twice_is_numbered(key: AnswerKey, tmp_path: Path) -> None:
    one, other = handed_in(tmp_path / "a.json"), handed_in(tmp_path / "b.json")
    assert [found.annotator for found in read_annotations([one, other], key)] == ["Ann", "Ann #2"]
    with pytest.raises(UsageError, match="is given twice"):
        read_annotations([one, tmp_path / "." / "a.json"], key)


def read_sheet(key: AnswerKey, path: Path, content: bytes) -> dict[int, int]:
    """The choices in a sheet."""
    path.write_bytes(content)
    (found,) = read_annotations([path], key)
    assert found.annotator == path.stem
    return found.choices


@pytest.mark.parametrize(
    "content",
    [
        b"sample,item,text,answer\ns1,1,x,2\ns1,2,y,\ns1,3,z, 3 \n",
        "\ufeffsample,item,text,answer\r\ns1,1,x,2\r\ns1,2,y,\r\ns1,3,z,3\r\n,,,\r\n".encode(),
        b'sample;item;text;answer\ns1;1;"a, b\nc";2\ns1;2;y;\ns1;3;z;3\n',
        b"answer\titem\tsample\ttext\n2\t1\ts1\tx\n3\t3\ts1\tx\n",
        "sample,item,text,answer\ns1,1,Zoë,2\ns1,3,Zoë\u2026,3\n".encode("cp1252"),
        "sample,item,text,answer\ns1,1,a\u2028b,2\ns1,3,z,3\n".encode(),
    ],
    ids=["plain", "excel", "semicolons", "tabs", "code page", "line separator"],
)
def test_a_sheet_is_read_however_a_spreadsheet_saves_it(key: AnswerKey, tmp_path: Path, content: bytes) -> None:
    assert read_sheet(key, tmp_path / "bob.csv", content) == {1: 2, 3: 3}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "field `sample`: no such column"),
        (b"sample,item\ns1,1\n", "field `answer`: no such column"),
        ("sample,item,answer\ns1,1,1\n".encode("utf-16"), "field `sample`: no such column"),
        (b"sample,item,answer\ns1,1,1\ns9,2,1\n", ":3: field `sample`: answers the sample 's9'"),
        (b"sample,item,answer\ns1,99,1\n", ":2: field `item`: the sample has no item '99'"),
        (b"sample,item,answer\ns1,one,1\n", ":2: field `item`: the sample has no item 'one'"),
        (b"sample,item,answer\ns1,1,Avon\n", ":2: field `answer`: is 'Avon': give 1, 2 or 3, or leave it empty"),
        (b"sample,item,answer\ns1,1,1\ns1,1,2\n", ":3: field `item`: item 1 is answered twice"),
        (b'sample,item,answer\ns1,1,"1\n', "is not CSV"),
    ],
)
def test_an_invalid_sheet_is_refused(key: AnswerKey, tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_sheet(key, tmp_path / "bob.csv", content)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"schema": 9}, "field `schema`: is 9"),
        (
            {"items": [{"item": 2, "id": "x", "subset": "top", "space": "A", "choices": ["a", "b"], "gold": "a"}]},
            "field `items`: are not numbered 1, 2, 3 and so on",
        ),
        (
            {"items": [{"item": 1, "id": "x", "subset": "top", "space": "A", "choices": ["a", "b"], "gold": "c"}]},
            "field `gold`: 'c' is not one of the choices of item 1",
        ),
    ],
)
def test_an_invalid_key_is_refused(key: AnswerKey, tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    (tmp_path / "sample.json").write_text(json.dumps(json.loads(encode_json(key)) | changes))
    with pytest.raises(InputError, match=problem):
        read_key(tmp_path)


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command where the hand-made dataset, and a sample of ten with the answers of Ann and Bob, lie."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    write_world(tmp_path / "world")
    (tmp_path / "study").mkdir()
    key = key_of(GOLD)
    (tmp_path / "study" / "sample.json").write_bytes(encode_json(key))
    for name, labels in (("Ann", ANN), ("Bob", BOB)):
        (tmp_path / f"{name}.json").write_bytes(encode_json(returned(key, name, labels)))

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["annotate", *arguments])
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return run


def test_score_prints_table_2_and_the_kappa(command: Command) -> None:
    code, out, _ = command("score", "Ann.json", "Bob.json", "--sample", "study")
    words = " ".join(out.split())
    assert code == 0
    assert "Ann and Bob: Cohen's kappa 0.677, same answer in 80.0% of 10" in words
    assert "nobody calls not sufficient: 8 of 10, 80.0%" in words
    assert "Ann 10 2 0.750" in words
    assert "Average 0.750 0.875" in words


def test_score_as_json_has_the_same_numbers(command: Command) -> None:
    code, out, _ = command("score", "Ann.json", "Bob.json", "--sample", "study", "--json")
    found = json.loads(out)
    assert (code, found["complete"], found["sufficient"]["rate"]) == (0, 10, 0.8)
    assert found["kappa"][0]["kappa"] == pytest.approx(21 / 31)


def test_score_says_that_an_answer_is_missing_and_exits_with_1(command: Command) -> None:
    Path("cut.csv").write_text("sample,item,answer\n" + "".join(f"s1,{n},1\n" for n in range(1, 10)))
    code, out, _ = command("score", "Ann.json", "cut.csv", "--sample", "study")
    assert code == 1
    assert "1 of 10 items lack an answer" in " ".join(out.split())


def test_figures_of_the_papers_are_for_the_other_studies(command: Command) -> None:
    code, out, err = command("score", "Ann.json", "--sample", "study", "--published")
    assert (code, out) == (2, "")
    assert err == "shadowprobe: --published: goes with a sample of --study amber or ambigdocs\n"


def test_a_missing_key_is_one_line(command: Command) -> None:
    code, out, err = command("score", "Ann.json", "--sample", "elsewhere")
    assert (code, out) == (2, "")
    assert err == "shadowprobe: elsewhere: no such file\n"


def test_sample_writes_three_files_once_and_again_only_by_force(command: Command) -> None:
    code, out, _ = command("sample", "--dataset", "world", "--n", "6", "--out", "new", "--name", "Pilot")
    assert code == 0
    assert {path.name for path in Path("new").iterdir()} == {"form.html", "sample.csv", "sample.json"}
    for name in ("form.html", "sample.csv", "sample.json"):
        assert f"new/{name}" in out
    before = Path("new/form.html").read_bytes()
    code, _, err = command("sample", "--dataset", "world", "--n", "4", "--out", "new")
    assert (code, err) == (2, "shadowprobe: new holds form.html already; --force writes over it\n")
    assert Path("new/form.html").read_bytes() == before
    assert command("sample", "--dataset", "world", "--n", "4", "--out", "new", "--force")[0] == 0
    assert len(read_key(Path("new")).items) == 4


def test_the_sheet_that_sample_writes_can_be_filled_in_and_scored(command: Command) -> None:
    command("sample", "--dataset", "world", "--n", "6", "--out", "new")
    key = read_key(Path("new"))
    assert isinstance(key, AnswerKey)
    lines = Path("new/sample.csv").read_text(encoding="utf-8-sig").splitlines()
    right = [item.choices.index(item.gold) + 1 for item in key.items]
    filled = [lines[0], *(f"{line}{choice}" for line, choice in zip(lines[1:], right, strict=True))]
    Path("Zoë.csv").write_text("\n".join(filled), encoding="utf-8")
    code, out, _ = command("score", "Zoë.csv", "--sample", "new", "--json")
    (row,) = json.loads(out)["annotators"]
    assert (code, row["annotator"]) == (0, "Zoë")
    assert (row["subsets"]["top"]["rate"], row["subsets"]["shadow"]["rate"]) == (1.0, 1.0)
