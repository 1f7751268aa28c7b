"""Accuracy with less context and without the name, on a world whose figures are worked out by hand."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from refusals import outcome
from rich.console import Console
from world import NAMES, shadow, top

from shadowprobe import Dataset, Linker, Prediction, Settings, Snippet, run, score
from shadowprobe.reporting.html.page import page
from shadowprobe.reporting.tables.to_terminal import show_run
from shadowprobe.running.directory import Results
from shadowprobe.running.finished import read_runs

BOTH = Settings(also=("context_length", "masked_mention"))


class Clues(Linker):
    """The river where it reads of anglers or a mill, the ship where it reads of masts, else NIL."""

    name = "clues"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        self.asked += [snippet.id for snippet in snippets]
        return [self._one(snippet) for snippet in snippets]

    def _one(self, snippet: Snippet) -> Prediction:
        found = self.knowledge.candidates_of(snippet)
        if "mill" in snippet.text:
            return self.answer(snippet, found[0])
        return self.answer(snippet, found[1]) if "masts" in snippet.text else self.nil(snippet)


def results_of(world: Dataset, tmp_path: Path, settings: Settings = BOTH) -> Results:
    return run(Clues(), world, out=tmp_path / "run", settings=settings)


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


def test_a_run_that_does_not_name_them_asks_neither(world: Dataset, tmp_path: Path) -> None:
    linker = Clues()
    found = run(linker, world, out=tmp_path / "run")["probes"]
    assert not {"context_length", "masked_mention"} & found.keys()
    assert not [snippet_id for snippet_id in linker.asked if "~" in snippet_id]
    assert not (tmp_path / "run" / "extra").exists()


def test_they_can_be_added_to_a_finished_run_and_are_not_asked_twice(world: Dataset, tmp_path: Path) -> None:
    before = run(Clues(), world, out=tmp_path / "run")
    linker = Clues()
    after = run(linker, world, out=tmp_path / "run", settings=BOTH)
    assert {snippet_id.partition("~")[2] for snippet_id in linker.asked} == {"cut", "masked"}
    assert {name: after["probes"][name] for name in before["probes"]} == before["probes"]
    again = Clues()
    assert run(again, world, out=tmp_path / "run", settings=BOTH) == after
    # Nor are they lost by a run that does not name them.
    assert run(again, world, out=tmp_path / "run")["probes"].keys() == after["probes"].keys()
    assert again.asked == []


def test_a_lost_answer_of_a_variant_is_asked_for_again_and_no_other(world: Dataset, tmp_path: Path) -> None:
    before = results_of(world, tmp_path)
    stored = tmp_path / "run" / "extra" / "context_length" / "predictions.jsonl"
    lines = stored.read_bytes().splitlines(keepends=True)
    stored.write_bytes(b"".join(lines[:-2]) + lines[-2][:9])
    linker = Clues()
    assert run(linker, world, out=tmp_path / "run", settings=BOTH) == before
    assert sorted(linker.asked) == sorted(json.loads(line)["id"] for line in lines[-2:])


def test_scoring_the_run_again_finds_them(world: Dataset, tmp_path: Path) -> None:
    before = results_of(world, tmp_path)
    assert score(tmp_path / "run", world, out=tmp_path / "run")["probes"] == before["probes"]


def test_scoring_predictions_without_variants_says_what_is_missing(world: Dataset, tmp_path: Path) -> None:
    run(Clues(), world, out=tmp_path / "run")
    settings = Settings(probes=("masked_mention",))
    found = score(tmp_path / "run", world, out=tmp_path / "scored", settings=settings)["probes"]["masked_mention"]
    assert "--also masked_mention" in found["not_measured"]


class Others(Clues):
    """NIL for everything: another linker, whose masked answers are not those of `Clues`."""

    name = "others"

    def _one(self, snippet: Snippet) -> Prediction:
        return self.nil(snippet)


def test_a_run_that_starts_afresh_forgets_what_the_earlier_linker_was_asked_besides(
    world: Dataset, tmp_path: Path
) -> None:
    results_of(world, tmp_path)
    run(Others(), world, out=tmp_path / "run", force=True)
    # Its own results say nothing of variants, nor do those that are scored or run again.
    for again in (score(tmp_path / "run", out=tmp_path / "run"), run(Others(), world, out=tmp_path / "run")):
        assert again["linker"]["name"] == "others"
        assert not {"context_length", "masked_mention"} & again["probes"].keys()
    found = run(Others(), world, out=tmp_path / "run", settings=BOTH)["probes"]["masked_mention"]
    assert (found["top"]["accuracy"], found["top"]["nil"]) == (0.0, 1.0)


def test_a_file_beside_the_predictions_of_a_run_has_none_of_its_variants(world: Dataset, tmp_path: Path) -> None:
    results_of(world, tmp_path)
    other = tmp_path / "run" / "other.jsonl"
    other.write_bytes((tmp_path / "run" / "predictions.jsonl").read_bytes())
    assert "masked_mention" not in score(other, world, out=tmp_path / "scored")["probes"]


def test_a_limited_run_has_variants_of_its_own(world: Dataset, tmp_path: Path) -> None:
    run(Clues(), world, out=tmp_path / "run", limit=1, settings=BOTH)
    assert results_of(world, tmp_path)["probes"]["masked_mention"]["top"]["n"] == 4
    kept = sorted(path.name for path in (tmp_path / "run" / "extra").iterdir())
    assert kept == ["context_length", "context_length-first-1", "masked_mention", "masked_mention-first-1"]


class Stumbles(Clues):
    """Fails on the first masked snippet."""

    name = "clues"
    version = "1"

    def _one(self, snippet: Snippet) -> Prediction:
        if snippet.id == "tAvon~masked":
            raise ValueError("no")
        return super()._one(snippet)


def test_a_variant_that_fails_is_not_right_and_is_counted(world: Dataset, tmp_path: Path) -> None:
    found = run(Stumbles(), world, out=tmp_path / "run", settings=BOTH)["probes"]["masked_mention"]
    # One of four failed, the others are right.
    assert (found["top"]["failed"], found["top"]["accuracy"], found["top"]["change"]) == (1, 0.75, -0.25)


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
