"""What figures say of runs that lack what they show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from drawn import bars
from figure_runs import Stored, draw, results, run_of
from measured_runs import write_retrieval
from retrieval_world import FOUND, SETS, write_collection, write_sets
from world import hand_predictions

from shadowprobe import Dataset, Settings, UsageError
from shadowprobe.cli import main
from shadowprobe.reporting import figures


def test_a_probe_with_new_predictions_that_nobody_asked_for_says_how_to_get_them(hand: Path) -> None:
    with pytest.raises(UsageError, match="the same `shadowprobe run` with `--also context_length` asks it"):
        figures.plot("context-length", [hand])


def test_a_figure_of_a_probe_that_the_results_lack_names_the_command_that_adds_it(
    world: Dataset, stored: Stored
) -> None:
    run = stored("hand", hand_predictions(), settings=Settings(probes=("subsets",)))
    assert results(run)["probes"] == {}
    with pytest.raises(UsageError, match=r"its results\.json has no `overshadowing`") as error:
        figures.plot("overshadowing", [run])
    command = str(error.value).partition("`shadowprobe ")[2].partition("`")[0]
    assert command == f"score --predictions {run} --out {run}"
    with pytest.raises(SystemExit) as end:
        main([*command.split(), "--dataset", str(world.path)])
    assert end.value.code in {0, None}
    assert bars(figures.plot("overshadowing", [run]).axes[0]) == [(0, 50)]


def test_the_command_for_a_run_that_was_scored_with_redirects_names_them_too(tmp_path: Path, stored: Stored) -> None:
    (tmp_path / "table.tsv").write_text("Old Avon\tAvon (river)\n")
    settings = Settings(probes=("subsets",), redirects=tmp_path / "table.tsv")
    run = stored("hand", hand_predictions(), settings=settings)
    with pytest.raises(UsageError, match=r"`shadowprobe score --predictions \S+ --out \S+ --redirects FILE` adds it"):
        figures.plot("overshadowing", [run])


def test_a_run_without_findings_says_which_command_adds_them() -> None:
    missing = run_of("a")
    missing.results["settings"] = {"redirects": "digest", "gerbil_nil": True}
    with pytest.raises(UsageError) as refused:
        draw("overshadowing", [missing])
    command = "shadowprobe score --predictions runs/a --out runs/a --redirects FILE --gerbil-nil"
    assert str(refused.value) == (
        f"no such figure of `a` (runs/a): its results.json has no `overshadowing`; `{command}` adds it"
    )
    with pytest.raises(UsageError, match="with `--also masked_mention` asks it"):
        draw("masked-mention", [run_of("a")])


def test_of_runs_none_of_which_was_asked_there_is_no_figure(both: list[Path]) -> None:
    words = (
        r"`reader` \(.*reader\): it was not asked `entity_questions`; `shadowprobe retrieve --probe entity_questions`"
    )
    with pytest.raises(UsageError, match=words):
        figures.plot("questions", both[1:])


def test_runs_over_other_queries_are_not_compared(confused: Path, tmp_path: Path) -> None:
    write_collection(tmp_path / "other")
    write_sets(tmp_path / "other" / "amber" / "human" / "qa" / "amber_sets.jsonl", SETS[:2])
    other = write_retrieval(tmp_path / "runs" / "other", tmp_path / "other", FOUND)
    with pytest.raises(UsageError, match=r"other is over other queries than .*confused: draw a figure of each"):
        figures.plot("head-tail", [confused, other])


@pytest.mark.parametrize(
    "figure", ["context-length", "masked-mention", "templates", "calibration", "kinds", "stability"]
)
def test_findings_that_are_empty_are_as_good_as_none(figure: str) -> None:
    probe = {"stability": "prior"}.get(figure, figure.replace("-", "_"))
    with pytest.raises(UsageError, match=rf"no such figure of `a` \(runs/a\): .*`{probe}`"):
        draw(figure, [run_of("a", **{probe: {}})])


def test_runs_that_share_the_queries_of_a_figure_may_differ_in_others(both: list[Path], models: list[Path]) -> None:
    # Only one of the retrievers was asked questions; the models were asked about the same sets.
    for figure, runs in (("head-tail", both), ("answer-categories", models)):
        (axes,) = figures.plot(figure, runs).axes
        assert len(axes.get_yticklabels()) == 2
    content = results(models[1])
    content["queries"]["digest"] = "another"
    (models[1] / "results.json").write_text(json.dumps(content))
    with pytest.raises(UsageError, match=r"mute is over other queries than .*talker: draw a figure of each"):
        figures.plot("answer-categories", models)
