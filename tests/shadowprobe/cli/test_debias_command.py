"""`shadowprobe debias` as a user meets it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from scored_world import scored_predictions, store_run
from world import write_world

from shadowprobe.cli import main

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shadowprobe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command where the run `hand` is; returns its exit code and what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    store_run(tmp_path, write_world(tmp_path / "world"), scored_predictions())
    capsys.readouterr()

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        output = capsys.readouterr()
        return int(end.value.code or 0), output.out, output.err

    return run


def test_it_shows_before_and_after_and_whether_it_pays(shadowprobe: Command) -> None:
    code, out, err = shadowprobe("debias", "hand", "--weight", "0.6")
    assert code == 0
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert any(row.startswith("hand Shadow: right 4 50.0 100.0 +50.0 (") and row.endswith(" 100.0") for row in rows)
    assert any(row.startswith("hand Top: right 4 75.0 50.0 -25.0 (") and row.endswith(" -100.0") for row in rows)
    assert any(row.startswith("hand both contexts right 4 25.0 50.0 +25.0 (") for row in rows)
    assert any(row.startswith("hand and it is the prior 4 50.0 0.0 -50.0 (") for row in rows)
    assert (
        "hand: not worth it: no gain in both contexts right was found; weight 0.6 (given); 2 names gained, 1 lost."
        in " ".join(rows)
    )
    assert "hand: break-even share 33.3%: it pays where the share of Shadow cases is above that." in rows
    assert err == "Written to hand-debiased/\n"


def test_what_is_not_worth_it_gets_the_weight_0(shadowprobe: Command) -> None:
    _, out, _ = shadowprobe("debias", "hand")
    assert "hand: not worth it: no gain in both contexts right was found; the weight is 0;" in " ".join(out.split())
    assert "break-even" not in out


def test_the_table_comes_in_every_format(shadowprobe: Command) -> None:
    for format_name in ("markdown", "csv", "latex", "json", "html"):
        code, out, _ = shadowprobe("debias", "hand", "--weight", "0.6", "--force", "--format", format_name)
        assert code == 0
        assert "both contexts right" in out
    table = json.loads(shadowprobe("debias", "hand", "--weight", "0.6", "--force", "--json")[1])["correction"]
    shadow = next(row for row in table["rows"] if row["measure"] == "Shadow: right")
    assert (shadow["before"], shadow["after"], shadow["difference"]) == (50.0, 100.0, 50.0)


def test_other_commands_work_on_the_corrected_run(shadowprobe: Command) -> None:
    assert shadowprobe("debias", "hand", "--weight", "0.6", "--out", "better")[0] == 0
    code, out, err = shadowprobe("compare", "hand", "better")
    assert code == 0, err
    assert "hand − hand debiased" in out
    assert shadowprobe("report", "hand", "better")[0] == 0
    assert shadowprobe("table", "4", "better")[0] == 0
    assert shadowprobe("plot", "overshadowing", "hand", "better")[0] == 0
    assert shadowprobe("score", "--predictions", "better")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "nowhere: no such run directory"),
        (("hand", "--weight", "2"), "--weight 2: give a number from 0 (no correction) to 1"),
        (("hand", "--top-loss", "-1"), "--top-loss -1: give points from 0 to 100"),
        (("hand", "--top-loss", "101"), "--top-loss 101: give points from 0 to 100"),
        (("hand", "--top-loss", "nan"), "--top-loss nan: give points from 0 to 100"),
        (("hand", "--top-loss", "1", "--weight", "0.5"), "--top-loss: limits the weights that are chosen from, and"),
        (("hand", "--weight", "nan"), "--weight nan: give a number from 0 (no correction) to 1"),
        (("hand", "--scale", "logs"), "--scale logs: choose from log, probability, other (did you mean `log`?)"),
        (("hand", "--scale", "probability"), "hand has a score of -6, and a probability is not below 0; choose log or"),
        (("hand", "hand", "--out", "x"), "--out: goes with one run; without it each is written to its own"),
        (("hand", "--format", "pdf"), "--format pdf: choose from"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(shadowprobe: Command, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = shadowprobe("debias", *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_runs_of_other_systems_are_refused(shadowprobe: Command) -> None:
    assert shadowprobe("retrieve", "--retriever", "tfidf", "--probe", "amber", "--out", "found")[0] == 0
    code, _, err = shadowprobe("debias", "found")
    assert code == 2
    assert "found is a run of a retriever; only answers of linkers can be corrected" in err


def test_runs_that_are_not_finished_are_left_out_with_a_warning(shadowprobe: Command) -> None:
    shutil.copytree("hand", "begun")
    Path("begun/results.json").unlink()
    code, _, err = shadowprobe("debias", "hand", "begun", "--weight", "0.6")
    assert (code, err.splitlines()) == (
        0,
        [
            "shadowprobe: warning: begun is not finished (the command that began it goes on) and is left out",
            "Written to hand-debiased/",
        ],
    )


def test_nothing_is_written_unless_all_runs_can_be_corrected(shadowprobe: Command) -> None:
    assert shadowprobe("run", "--linker", "nil", "--dataset", "mini", "--limit", "2", "--out", "silent")[0] == 0
    code, _, err = shadowprobe("debias", "hand", "silent")
    assert code == 2
    assert "silent: cannot be corrected: no entity is named" in err
    assert not Path("hand/debias.json").exists()
    assert not Path("hand-debiased").exists()


@pytest.mark.parametrize(("inside", "path"), [("hand", "."), ("hand/deeper", "..")])
def test_a_run_may_be_given_from_within(
    shadowprobe: Command, inside: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(inside).mkdir(exist_ok=True)
    monkeypatch.chdir(inside)
    code, _, err = shadowprobe("debias", path)
    assert (code, err.count("\n")) == (0, 1)
    assert (tmp_path / "hand-debiased" / "results.json").exists()
