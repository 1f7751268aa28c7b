"""Which tables a name stands for, and which runs it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from figure_runs import run_of

from shadowprobe import UsageError
from shadowprobe.reporting.tables import named_tables
from shadowprobe.reporting.tables.named_tables import make_tables
from shadowprobe.running import reading_losses
from shadowprobe.running.finished import FinishedRun

PAIR = {"top": "city", "shadow": "person", "n": 3}
RATES = dict.fromkeys(("overshadowed", "prior_bias", "consistent"), 0.5)
KINDS = {"pairs": [PAIR | RATES | {f"{key}_ci95": [0.25, 0.75] for key in RATES}]}


def rate(value: float) -> dict[str, Any]:
    return {"rate": value, "ci95": [0.0, 1.0], "n": 8}


def retriever(**probes: Any) -> FinishedRun:
    results = {"retriever": {"name": "r"}, "settings": {"k": [1]}, "queries": {}, "missing": 0, "probes": probes}
    return FinishedRun(Path("runs/r"), "r", results)


def amber() -> dict[str, Any]:
    groups = {group: rate(0.5) for group in ("all", "head", "tail")}
    task = {
        "sets": 4,
        "entities": 9,
        "accuracy": {"1": groups},
        "all_correct": {"1": rate(0.25)},
        "gap": None,
        "confusion": groups,
        "neither": rate(0.0),
    }
    return {"human": {"qa": task}}


def questions() -> dict[str, Any]:
    shares = {"accuracy": {"1": 0.5}, "accuracy_ci95": {"1": [0.25, 0.75]}, "n": 8}
    bucket = {"bucket": 0, "lowest_frequency": 5, "highest_frequency": 9, **shares}
    relation = {"question": "Where?", "n": 8, "accuracy": {"1": 0.5}}
    return {
        "questions": 8,
        "relations": {"P19": relation},
        "macro": {"1": 0.5},
        "micro": shares,
        "buckets": [bucket],
        "seen": {"seen": shares, "unseen": shares, "unknown": 0, "difference": {"1": None}},
    }


def keys(name: str, *runs: FinishedRun, **how: Any) -> list[str]:
    return [table.key for table in make_tables(name, runs, **how)]


def test_a_name_stands_for_its_tables_of_all_that_a_run_has() -> None:
    run = retriever(amber=amber(), entity_questions=questions())
    assert keys("amber", run) == ["amber-human-1"]
    assert keys("confusion", run) == ["amber-human-confusion"]
    assert keys("questions", run) == ["questions", "buckets", "seen"]


def test_published_rows_are_added_only_if_they_are_asked_for() -> None:
    run = retriever(amber=amber())
    for is_asked in (False, True):
        (table,) = make_tables("amber", [run], published=is_asked)
        assert any(row.published for row in table.rows) == is_asked


def test_tables_of_the_paper_need_no_run_where_it_has_its_own() -> None:
    assert keys("3", published=True) == ["table_3"]
    # Of Table 4 the paper has other columns than a run.
    assert keys("4", published=True) == ["table_4_published"]


@pytest.mark.parametrize(
    ("name", "runs", "published", "problem"),
    [
        ("kind", [], False, "no table `kind`: choose from summary, 3, 4, kinds, suspicion, amber, confusion,"),
        ("summary", [], False, "table summary shows runs: name run directories; `compare --published` has"),
        ("summary", [run_of()], True, "table summary shows runs: name run directories;"),
        ("kinds", [], False, "table kinds shows runs: name a run directory; no paper's figures are known for it"),
        ("kinds", [run_of(kinds=KINDS)], True, "table kinds shows runs: name a run directory;"),
        ("suspicion", [run_of()], True, "--published: no paper's figures are known for table suspicion"),
        ("answers", [], True, "--published: no paper's figures are known for table answers"),
        ("amber", [], True, "name a run directory: table amber shows the paper's figures beside those of a run"),
        ("amber", [run_of()], False, "runs/a is a run of a linker; table amber takes runs of retrievers. Tables of a "),
        ("kinds", [run_of()], False, "runs/a has no table kinds: its probe was left out"),
        ("kinds", [run_of(kinds={"not_measured": "no kinds"})], False, "runs/a has no table kinds: no kinds"),
        ("questions", [retriever(amber=amber())], False, "runs/r has no table questions: its probe was left out"),
    ],
)
def test_what_cannot_be_shown_is_refused(name: str, runs: list[FinishedRun], published: bool, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        make_tables(name, runs, published=published)
    assert str(refused.value).startswith(problem)


def test_a_run_of_another_kind_says_which_tables_it_has() -> None:
    with pytest.raises(UsageError, match=r"Tables of a linker: summary, 3, 4, kinds, suspicion$"):
        make_tables("readers", [run_of()])
    with pytest.raises(UsageError, match=r"Tables of a retriever: summary, amber, confusion, questions$"):
        make_tables("3", [retriever()])


def test_the_table_of_a_probe_has_its_rows() -> None:
    (table,) = make_tables("kinds", [run_of(kinds=KINDS)])
    assert [row.cells[:4] for row in table.rows] == [("a", "person", "city", 3)]


@pytest.mark.parametrize(("losses", "keys_of"), [([], ["t"]), (["a loss"], ["t", "losses"])])
def test_readers_show_who_loses_what_where_two_runs_tell(
    monkeypatch: pytest.MonkeyPatch, losses: list[str], keys_of: list[str]
) -> None:
    from shadowprobe.reporting.tables import losses_table
    from shadowprobe.reporting.tables.table import Table

    run = FinishedRun(Path("runs/b"), "b", {"reader": {"name": "b"}, "probes": {}})
    table = Table("t", "", (), ())
    monkeypatch.setattr(reading_losses, "list_losses", lambda _: losses)
    monkeypatch.setattr(losses_table, "losses_table", lambda _: Table("losses", "", (), ()))
    assert [one.key for one in named_tables._add_losses([table], [run])] == keys_of
    # Of other kinds of runs nobody asks.
    assert named_tables._add_losses([table], [retriever()]) == [table]


def test_where_the_queries_have_gone_a_note_says_why_the_losses_are_not_split(monkeypatch: pytest.MonkeyPatch) -> None:
    from shadowprobe.reporting.tables.table import Table

    def refuse(_: Any) -> Any:
        raise UsageError("the sets are not there")

    monkeypatch.setattr(reading_losses, "list_losses", refuse)
    run = FinishedRun(Path("runs/b"), "b", {"reader": {"name": "b"}, "probes": {}})
    first, second = named_tables._add_losses([Table(key, "", (), ()) for key in "ab"], [run])
    assert (first.key, second.key, first.notes) == ("a", "b", ())
    assert second.notes == ("Not split between retriever and reader: the sets are not there.",)
