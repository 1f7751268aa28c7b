"""`shadowprobe table`: its formats, and what it refuses before it reads anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import complaint, outcome
from world import write_world

import shadowprobe
from shadowprobe import UsageError
from shadowprobe.cli.table import choose_format


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("format_name", "target", "is_json", "chosen"),
    [
        (None, None, False, "terminal"),
        ("csv", None, False, "csv"),
        (None, None, True, "json"),
        ("json", None, True, "json"),
        (None, "a.md", False, "markdown"),
        (None, "a.MD", False, "markdown"),
        (None, "a.tex", False, "latex"),
        (None, "a.other", False, "terminal"),
        (None, "a", False, "terminal"),
        # What is asked for counts, and not the ending.
        ("csv", "a.md", False, "csv"),
        (None, "a.md", True, "json"),
    ],
)
def test_the_format_is_the_one_asked_for_or_that_of_the_file(
    format_name: str | None, target: str | None, is_json: bool, chosen: str
) -> None:
    path = Path(target) if target is not None else None
    assert choose_format(format_name, path, json=is_json, force=False) == chosen


def test_a_file_that_exists_is_refused_unless_it_is_forced_and_a_directory_always() -> None:
    Path("old.md").write_text("")
    Path("folder").mkdir()
    assert choose_format(None, Path("old.md"), json=False, force=True) == "markdown"
    with pytest.raises(UsageError, match=r"old\.md exists; give another --out, or --force to write over it"):
        choose_format(None, Path("old.md"), json=False, force=False)
    for force in (False, True):
        with pytest.raises(UsageError, match="--out folder: is a directory; name a file"):
            choose_format(None, Path("folder"), json=False, force=force)
    with pytest.raises(UsageError, match="--json and --format csv: give one of them"):
        choose_format("csv", None, json=True, force=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("3",), "name a run directory, or give --published for the paper's own table"),
        (("summary", "--published"), "table summary shows runs: name run directories; `compare --published` has"),
        (("kinds", "--published"), "table kinds shows runs: name a run directory; no paper's figures are known for it"),
        (("suspicion", "--published"), "--published: no paper's figures are known for table suspicion"),
        (("answers", "--published"), "--published: no paper's figures are known for table answers"),
        (("amber", "--published"), "name a run directory: table amber shows the paper's figures beside those of a run"),
        (("5", "--published"), "no table `5`: choose from summary, 3, 4, kinds,"),
        (("training", "--published", "--dataset", "mini"), "--dataset: goes with runs of linkers; table training"),
        (("readers", "runs/prior"), "runs/prior is a run of a linker; table readers takes runs of readers. Tables of"),
        (("kinds", "runs/prior"), "runs/prior has no table kinds: "),
    ],
)
def test_what_has_no_table_is_refused_with_what_there_is(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if "runs/prior" in arguments:
        write_world(tmp_path / "world")
        shadowprobe.run("prior", "world", out="runs/prior")
    assert complaint(capsys, "table", *arguments).startswith(words)


def test_the_paper_s_own_tables_need_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, "table", "3", "--published", "--json")
    assert (code, err) == (0, "")
    assert len(json.loads(out)["table_3"]["rows"]) == 8
    assert list(json.loads(outcome(capsys, "table", "4", "--published", "--json")[1])) == ["table_4_published"]
    training = json.loads(outcome(capsys, "table", "training", "--published", "--json")[1])
    assert list(training) == ["published-training-2", "published-training-3", "published-training-4"]


def test_a_run_stands_before_the_paper_and_without_published_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_world(tmp_path / "world")
    shadowprobe.run("prior", "world", out="runs/prior")
    both = json.loads(outcome(capsys, "table", "4", "runs/prior", "--published", "--json")[1])
    assert list(both) == ["table_4", "table_4_published"]
    alone = json.loads(outcome(capsys, "table", "4", "runs/prior", "--json")[1])
    assert list(alone) == ["table_4"]
    # To a file, nothing is printed but where it is.
    assert outcome(capsys, "table", "3", "runs/prior", "--out", "deep/t.csv") == (0, "", "Written to deep/t.csv\n")
    assert Path("deep/t.csv").read_text().splitlines()[1].startswith("run,prior,")
