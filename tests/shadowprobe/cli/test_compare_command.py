"""`shadowprobe compare` and `shadowprobe table` as a user meets them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import world as hand_made
from world import linked, shadow, top

from shadowprobe import Prediction
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.cli import main

NAMES = tuple(f"Town{number:02d}" for number in range(20))
Command = Callable[..., tuple[int, str, str]]


def answers_right_on(right: set[int]) -> list[Prediction]:
    """The river everywhere, but the ship in these Shadow contexts."""
    found = [linked("tail1", "Ourika")]
    for number, name in enumerate(NAMES):
        found += [linked(f"t{name}", top(name)), linked(f"s{name}", shadow(name) if number in right else top(name))]
        found += [linked(f"n{name}{column}", top(name)) for column in (1, 2, 3)]
    return found


def ended(*arguments: str) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return int(end.value.code or 0)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the runs `a` and `b` over twenty names, and `small` over four."""
    place = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        hand_made.write_world(place / "world")
        assert ended("run", "--linker", "prior", "--dataset", "world", "--out", "small") == 0
        patch.setattr(hand_made, "NAMES", NAMES)
        hand_made.write_world(place / "twenty")
        # Shadow: both right on 5, a alone on 9, b alone on 1, neither on 5.
        for name, right in (("a", set(range(14))), ("b", {0, 1, 2, 3, 4, 14})):
            Path(f"{name}.jsonl").write_bytes(encode_lines(answers_right_on(right)))
            linker = ("--linker", "replay", "-o", f"file={name}.jsonl")
            assert ended("run", *linker, "--dataset", "twenty", "--out", name) == 0
    return place


@pytest.fixture
def shadowprobe(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Runs a command where the runs are."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = ended(*arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_printed_figures_are_those_worked_out_by_hand(shadowprobe: Command) -> None:
    code, out, _ = shadowprobe("compare", "a", "b", "--name", "first", "--name", "second")
    assert code == 0
    # 2 * (1 + 10) / 1024 = 0.021; 0.431 is what the sum over all outcomes in measure/test_power.py gives for 10 of 20.
    line = re.compile(r"Shadow +first − second +70\.0 +30\.0 +\+40\.0 \(\+.*\) +9/10/1 +0\.021 +43\.1")
    assert len(line.findall(out)) == 1
    assert re.search(r"Top +first − second +100\.0 +100\.0 +\+0\.0 \(\+0\.0 to \+0\.0\) +0/20/0 +1\.000 +–", out)
    assert re.search(r"overshadowed +first − second +30\.0 +70\.0 +-40\.0 \(.*\) +9/10/1 +0\.021", out)
    assert re.search(r"first +0\.70 +0\.70 +0\.70 +1\.00", out)


def test_runs_without_names_go_by_what_tells_them_apart(shadowprobe: Command) -> None:
    assert (
        "replay (file=a.jsonl) − replay (file=b.jsonl)" in shadowprobe("compare", "a", "b", "--format", "markdown")[1]
    )


def test_the_rates_are_those_that_the_probes_found(shadowprobe: Command) -> None:
    document = json.loads(shadowprobe("compare", "a", "b", "--json")[1])
    results = json.loads(Path("a/results.json").read_text(encoding="utf-8"))
    rates = {pair["measure"]: pair["first_rate"] for pair in document["pairs"]}
    probed = results["probes"]["overshadowing"]
    assert rates == {
        **{subset: results["subsets"][subset]["recall"] for subset in ("shadow", "top", "tail")},
        **{measure: probed[measure] for measure in ("overshadowed", "prior_bias")},
        "both_right": probed["consistent"],
    }
    assert rates["prior_bias"] == 6 / 20


def test_three_systems_have_holms_p(shadowprobe: Command) -> None:
    shadowprobe("run", "--linker", "prior", "--dataset", "twenty", "--out", "c")
    names = [word for label in "abc" for word in ("--name", label)]
    _, out, _ = shadowprobe("compare", "a", "b", "c", *names)
    # 22/1024 twice; 6/2^14 = 0.0004; 2/2^6 = 0.031, which may not be below 0.043.
    for pair, p, by_holm in (("a − b", "0.021", "0.043"), ("a − c", "<0.001", "<0.001"), ("b − c", "0.031", "0.043")):
        assert re.search(rf"Shadow +{pair} .* {p} +{by_holm} ", out)


def test_published_adds_the_papers_tables_with_their_source(shadowprobe: Command) -> None:
    _, out, _ = shadowprobe("compare", "a", "b", "--published")
    assert re.search(
        r"AIDA \(Yosef et al\., 2011\) † +0\.40 +0\.31 +0\.35 +0\.62 +0\.50 +0\.56 +0\.92 +0\.53 +0\.67", out
    )
    assert re.search(r"REL † +32\.3 +24\.8 +0\.6 +7\.7 +50\.9 +0\.6", out)
    assert out.count("†: as published, over the ShadowLink of the paper; the runs are over world") == 2
    assert len(re.findall(r"^.*† ", out, flags=re.MULTILINE)) == 12


def test_one_run_is_set_beside_the_paper_but_not_compared_with_nothing(shadowprobe: Command) -> None:
    code, out, _ = shadowprobe("compare", "a", "--published")
    assert code == 0
    assert "against" not in out
    assert shadowprobe("compare", "a") == (
        2,
        "",
        "shadowprobe: compare needs two runs, or one and --published; `shadowprobe table` shows one alone\n",
    )


def test_runs_over_different_datasets_are_refused(shadowprobe: Command) -> None:
    code, out, error = shadowprobe("compare", "a", "small")
    digests = [json.loads(Path(run, "results.json").read_text())["dataset"]["digest"] for run in ("a", "small")]
    assert (code, out) == (2, "")
    assert all(digest[:12] in error for digest in digests)
    assert shadowprobe("table", "3", "a", "small")[::2] == (2, error)


@pytest.mark.parametrize(
    ("file", "start"),
    [
        ("pairs.csv", "measure,unit,first,second,n,"),
        ("tables.md", "### Summary of 2 runs"),
        ("tables.tex", "% In the preamble: "),
        ("tables.json", "{\n"),
        ("tables.txt", "Summary of 2 runs"),
    ],
)
def test_the_ending_of_a_file_decides_its_format(shadowprobe: Command, file: str, start: str) -> None:
    assert shadowprobe("compare", "a", "b", "--out", file) == (0, "", f"Written to {file}\n")
    assert Path(file).read_text(encoding="utf-8").startswith(start)


def test_a_file_is_not_written_over_without_force(shadowprobe: Command) -> None:
    Path("kept.md").write_text("mine")
    for command in (("compare", "a", "b"), ("table", "3", "a")):
        code, _, error = shadowprobe(*command, "--out", "kept.md")
        assert (code, error) == (
            2,
            "shadowprobe: kept.md exists; give another --out, or --force to write over it\n",
        )
        assert Path("kept.md").read_text() == "mine"
    assert shadowprobe("table", "3", "a", "--out", "kept.md", "--force")[0] == 0
    assert Path("kept.md").read_text(encoding="utf-8").startswith("### Table 3")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("compare", "a", "b", "--format", "cvs"),
            "--format cvs: choose from terminal, markdown, csv, latex, json, html (did",
        ),
        (("compare", "a", "b", "--json", "--format", "csv"), "--json and --format csv: give one of them"),
        (("compare", "a", "b", "--out", ""), "--out: the name of the file is empty"),
        (("compare", "a", "b", "--out", "a"), "--out a: is a directory; name a file"),
        (("compare", "a", "b", "--out", "a.jsonl/such.md"), "a.jsonl is a file; give a directory"),
        (("compare", "a", "b", "--name", "x"), "1 names for 2 runs"),
        (("compare", "a", "b", "--published", "--format", "csv"), "--published: the CSV has pairs of runs alone"),
        (("table", "3"), "name a run directory, or give --published for the paper's own table"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(shadowprobe: Command, arguments: tuple[str, ...], words: str) -> None:
    code, out, error = shadowprobe(*arguments)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert words in error


def test_table_prints_the_paper_alone(shadowprobe: Command) -> None:
    _, out, _ = shadowprobe("table", "4", "--published", "--format", "csv")
    assert out.splitlines()[1:] == [
        "published,AIDA,15.5,12.9,8.6,4.8,20.0,7.9",
        "published,WAT,32.1,11.7,27.4,4.2,31.8,27.5",
        "published,GENRE,15.6,32.4,0.0,2.2,43.6,0.0",
        "published,REL,32.3,24.8,0.6,7.7,50.9,0.6",
    ]


def test_the_screen_fits_eighty_columns(shadowprobe: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shadowprobe("run", "--linker", "prior", "--dataset", "twenty", "--out", "c")
    names = ("a system whose name takes up a good part", "onewordthatisaslongashalfaline", "c")
    _, out, _ = shadowprobe("compare", "a", "b", "c", *(word for name in names for word in ("--name", name)))
    assert max(map(len, out.splitlines())) <= 80
    # Names are broken where they have a gap, figures stay whole: 14 alone against none, 2 / 2^14,
    # and 0.521 by the same sum for 14 of 20.
    assert re.search(r"^Shadow +a system +70\.0 +30\.0 .* 9/10/1 +0\.021 +0\.043 +43\.1 ?$", out, flags=re.MULTILINE)
    assert re.search(r"70\.0 +0\.0 .* 14/6/0 +<0\.001 +<0\.001 +52\.1 ?$", out, flags=re.MULTILINE)


@pytest.mark.parametrize("command", [("table", "3", "a"), ("compare", "a", "b")])
def test_the_directory_of_the_file_is_made(shadowprobe: Command, command: tuple[str, ...]) -> None:
    code, _, error = shadowprobe(*command, "--out", "made/now/t.md")
    assert (code, error) == (0, "Written to made/now/t.md\n")
    assert (
        Path("made/now/t.md")
        .read_text(encoding="utf-8")
        .startswith("### Table 3" if command[0] == "table" else "### Summary")
    )


def test_a_summary_has_a_row_for_each_run_and_marks_the_best_of_each_dataset(shadowprobe: Command) -> None:
    document = json.loads(shadowprobe("table", "summary", "a", "small", "b", "--json")[1])
    a, b, small = document["summary_linker"]["rows"]
    # Another dataset of the same name has its digest behind it.
    assert (a["data"], b["data"]) == ("world", "world")
    assert re.fullmatch(r"world \([0-9a-f]{8}\)", small["data"])
    assert [(row["shadow_f1"], row["top_f1"], row["consistent"]) for row in (a, b)] == [(70, 100, 70), (30, 100, 30)]
    # The same answer in both contexts where Shadow is not right, and it is the prior.
    assert [(row["overshadowed"], row["prior_bias"], row["verdict"]) for row in (a, b)] == [
        (30, 30, "undecided"),
        (70, 70, "undecided"),
    ]
    # a alone is right on 9 names, b on 1: p = 22/1024. Both are right on every Top context.
    best = {key: (a.get(key), b.get(key)) for key in {*a, *b} if key.endswith("_best")}
    assert best == {
        **{f"{key}_best": ("clear", None) for key in ("shadow_f1", "overshadowed", "prior_bias", "consistent")},
        "top_f1_best": ("close", "close"),
    }
    # A system that is alone with its dataset is not called the best.
    assert not any(key.endswith("_best") for key in small)


def test_the_marks_of_a_summary_are_seen_in_every_format(shadowprobe: Command) -> None:
    for format_name, clear, close in (
        ("terminal", "**70.0", " *100.0"),
        ("markdown", "**70.0 (48–85)**", "<u>100.0 (84–100)</u>"),
        ("latex", r"\textbf{70.0 (48--85)}", r"\underline{100.0 (84--100)}"),
        ("html", "<strong>70.0\n(48–85)</strong>", "<u>100.0\n(84–100)</u>"),
        ("csv", ",clear,", ",close,"),
    ):
        _, out, _ = shadowprobe("table", "summary", "a", "b", "--format", format_name)
        assert clear in out, format_name
        assert close in out, format_name


def test_a_difference_that_may_be_chance_is_not_marked_as_clear(shadowprobe: Command) -> None:
    # Right on Shadow alone: c 2 names, d 1 name; p = 1.
    for name, right in (("c", {0, 1}), ("d", {2})):
        Path(f"{name}.jsonl").write_bytes(encode_lines(answers_right_on(right)))
        shadowprobe("run", "--linker", "replay", "-o", f"file={name}.jsonl", "--dataset", "twenty", "--out", name)
    _, out, _ = shadowprobe("table", "summary", "c", "d", "--json")
    c, d = json.loads(out)["summary_linker"]["rows"]
    assert (c["shadow_f1"], c["shadow_f1_best"], "shadow_f1_best" in d) == (10, "close", False)


def test_a_summary_leaves_out_runs_that_are_not_finished_and_says_so(shadowprobe: Command) -> None:
    shutil.copytree("a", "begun")
    Path("begun/results.json").unlink()
    Path("notes").mkdir()
    code, out, error = shadowprobe("table", "summary", "a", "begun", "notes", "--json")
    assert (code, len(json.loads(out)["summary_linker"]["rows"])) == (0, 1)
    assert error.splitlines() == [
        "shadowprobe: warning: begun is not finished (the command that began it goes on) and is left out",
        "shadowprobe: warning: notes is no run and is left out",
    ]
    # One that is named alone is asked for.
    assert shadowprobe("table", "summary", "begun")[0] == 2
    code, _, error = shadowprobe("table", "summary", "begun", "notes")
    assert (code, error.splitlines()[-1]) == (2, "shadowprobe: none of the 2 directories is a finished run")


def test_a_summary_without_its_dataset_says_why_nothing_is_tested(shadowprobe: Command) -> None:
    shutil.rmtree("twenty")
    code, out, _ = shadowprobe("table", "summary", "a", "b", "--json")
    summary = json.loads(out)["summary_linker"]
    assert (code, summary["rows"][0]["shadow_f1_best"]) == (0, "close")
    assert any("no test, because" in note and "twenty" in note for note in summary["notes"])


def test_a_summary_is_no_table_of_a_paper(shadowprobe: Command) -> None:
    assert shadowprobe("table", "summary", "--published")[0] == 2
    assert shadowprobe("table", "summary", "a", "--published")[0] == 2
