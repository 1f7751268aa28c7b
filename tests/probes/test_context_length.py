"""Accuracy with less context and without the name, on a world whose figures are worked out by hand."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from clues import BOTH, Clues, results_of
from refusals import outcome
from rich.console import Console
from world import NAMES, shadow, top

from shadowprobe import Dataset, Settings, run
from shadowprobe.reporting.html.page import page
from shadowprobe.reporting.tables.to_terminal import show_run
from shadowprobe.running.directory import Results
from shadowprobe.running.finished import read_runs


def test_less_context_costs_the_clues_that_stand_far_off(world: Dataset, tmp_path: Path) -> None:
    # Three words on each side of the name: "Anglers say that Avon runs clear above" has lost the mill, and "The crew of
    # Avon cut down both" the masts. The sentence is the whole snippet.
    found = results_of(world, tmp_path)["probes"]["context_length"]
    assert list(found["lengths"]) == ["cut", "sentence", "snippet"]
    for subset in ("top", "shadow"):
        cut, sentence, whole = (found["lengths"][name][subset] for name in ("cut", "sentence", "snippet"))
        assert (cut["n"], cut["accuracy"], cut["nil"], cut["change"]) == (4, 0.0, 1.0, -1.0)
        assert cut["change_ci95"] == [-1.0, -1.0]
        assert (sentence["accuracy"], sentence["change"]) == (1.0, 0.0)
        assert (whole["accuracy"], whole["change"]) == (1.0, 0.0)


def test_without_the_name_the_clues_are_still_there(world: Dataset, tmp_path: Path) -> None:
    found = results_of(world, tmp_path)["probes"]["masked_mention"]
    assert (found["top"]["accuracy"], found["top"]["answered_with_top"]) == (1.0, 1.0)
    assert (found["shadow"]["accuracy"], found["shadow"]["answered_with_top"]) == (1.0, 0.0)


def test_only_what_differs_from_the_snippet_is_asked(world: Dataset, tmp_path: Path) -> None:
    linker = Clues()
    run(linker, world, out=tmp_path / "run", settings=BOTH)
    asked = [snippet_id for snippet_id in linker.asked if "~" in snippet_id]
    assert sorted(asked) == sorted(f"{s}{name}~{v}" for s in "ts" for name in NAMES for v in ("cut", "masked"))


@pytest.fixture
def command(world: Dataset, tmp_path: Path) -> tuple[str, ...]:
    file = tmp_path / "clues.py"
    file.write_text(
        "from shadowprobe import Linker\n"
        "class Clues(Linker):\n"
        "    name = 'clues'\n"
        "    def link(self, snippets):\n"
        "        return [self.answer(s, self.knowledge.candidates_of(s)['masts' in s.text]) for s in snippets]\n"
    )
    also = ("--also", "context_length", "--also", "masked_mention")
    return ("run", "-l", f"{file}:Clues", "-d", str(world.path), "--out", str(tmp_path / "r"), *also)


@pytest.fixture
def screen(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> tuple[Any, str, str]:
    return outcome(capsys, *command)


def test_the_command_says_what_it_will_cost_and_shows_what_it_found(screen: tuple[Any, str, str]) -> None:
    code, out, err = screen
    assert code == 0
    assert "context_length needs 8 more snippets linked: cut 8" in err
    assert "masked_mention needs 8 more snippets linked: masked 8" in err
    rows = {line.split("  ")[0].strip(): line for line in out.splitlines()}
    # Without the masts every ship is taken for a river: Shadow from 1 to 0, Top stays.
    assert "0.000 (-100.0, -100.0 to -100.0)" in rows["3 words on each side"]
    assert "1.000" in rows["3 words on each side"]
    assert rows["the snippet without the name"].count("1.000") == 2


def test_the_command_says_what_is_left_of_the_cost(
    command: tuple[str, ...], screen: tuple[Any, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = tmp_path / "r" / "extra" / "masked_mention" / "predictions.jsonl"
    assert "needs" not in outcome(capsys, *command)[2]
    stored.write_bytes(b"".join(stored.read_bytes().splitlines(keepends=True)[:5]))
    # Without being named, too: an unnamed setting keeps its value.
    assert outcome(capsys, *command[:-4])[2].startswith("masked_mention needs 3 more snippets linked: masked 3\n")
    assert "masked_mention needs 8 more snippets linked: masked 8" in outcome(capsys, *command, "--force")[2]


def shown(results: Results) -> str:
    """The screen of results, without its line breaks."""
    console = Console(width=140, record=True, file=io.StringIO())
    show_run(results, console)
    return " ".join(console.export_text().split())


def test_the_screen_says_how_often_nothing_is_named_without_the_name(world: Dataset, tmp_path: Path) -> None:
    found = results_of(world, tmp_path)
    assert "Without the name" not in shown(found)
    found["probes"]["masked_mention"]["top"]["nil"] = 0.25
    assert "Without the name no entity is named in 25.0% of Top." in shown(found)


def test_the_screen_says_of_how_many_snippets_a_length_is_that_not_all_have(world: Dataset, tmp_path: Path) -> None:
    found = results_of(world, tmp_path)
    lengths = found["probes"]["context_length"]["lengths"]
    lengths["page"] = {"top": {**lengths["snippet"]["top"], "n": 3}}
    assert "100 more words of the page on each side 1.000 of 3" in shown(found)
    assert "the snippet, as in Table 3 1.000 1.000" in shown(found)


def test_titles_of_the_world_are_what_the_linker_answers(world: Dataset) -> None:
    found = world.knowledge.candidates("Avon")
    assert [entity.title for entity in found] == [top("Avon"), shadow("Avon")]


def test_the_report_has_the_same_rows_as_the_screen(world: Dataset, tmp_path: Path) -> None:
    results_of(world, tmp_path)
    content = page(read_runs([tmp_path / "run"], str(world.path)))
    table = content[content.index('id="table-contexts"') :].partition("</table>")[0]
    rows = [re.findall(r">([^<>]+)</t[hd]>", row) for row in table.split("<tr>")]
    # Without the words that stand far off nothing is right; without the name everything still is.
    assert ["3 words on each side", *["0.000 (-100.0, -100.0 to -100.0)"] * 2] in rows
    assert ["the snippet without the name", "1.000", "1.000"] in rows


def test_the_report_of_a_run_that_was_not_asked_has_no_such_table(world: Dataset, tmp_path: Path) -> None:
    results_of(world, tmp_path, Settings())
    assert "table-contexts" not in page(read_runs([tmp_path / "run"], str(world.path))).partition("</style>")[2]
