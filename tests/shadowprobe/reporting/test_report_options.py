"""Which options go with the report of which runs, and where it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shadowprobe import UsageError
from shadowprobe.reporting.html.page import write_report
from shadowprobe.running.finished import FinishedRun

PUBLISHED, QUERIES, DATASET = ({"published": True}, {"queries": Path("queries")}, {"dataset": "world"})


def refusal(kind: str, path: Path, **options: Any) -> str:
    """The first thing that is wrong; where all options fit, it is the directory in place of the file."""
    with pytest.raises(UsageError) as refused:
        write_report([FinishedRun(path, "run", {kind: {"name": "hand"}})], path, **options)
    return str(refused.value).partition(" ")[0]


@pytest.mark.parametrize(
    ("kind", "unfit"),
    [
        ("linker", ["--published:", "--queries:", None]),
        ("retriever", [None, None, None]),
        ("reader", [None, None, None]),
        ("model", ["--published:", None, "--dataset:"]),
    ],
)
def test_an_option_goes_with_runs_of_some_kinds(tmp_path: Path, kind: str, unfit: list[str | None]) -> None:
    found = [refusal(kind, tmp_path, **options) for options in (PUBLISHED, QUERIES, DATASET)]
    assert found == [option or str(tmp_path) for option in unfit]


def test_a_report_of_one_run_is_in_its_directory_and_one_of_several_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    run = FinishedRun(tmp_path / "run", "run", {"linker": {"name": "hand"}})
    for runs, path in (([run], tmp_path / "run" / "report.html"), ([run, run], Path("report.html"))):
        path.touch()
        with pytest.raises(UsageError, match=f"^{path} exists; give another --out, or --force"):
            write_report(runs)
