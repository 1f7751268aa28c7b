"""The commands as a user meets them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from world import hand_predictions, write_world

from shadowprobe import open_dataset, write_dataset
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.cli import main

BREAKS_ON_ONE = '''
from shadowprobe import Linker

class Breaks(Linker):
    """Fails on one snippet."""

    name = "breaks"

    def link(self, snippets):
        if any(s.id == "tBerg" for s in snippets):
            raise RuntimeError("time-out")
        return [self.answer(s, self.knowledge.candidates(s.mention)[0]) for s in snippets]
'''


class Printed(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Printed]


@pytest.fixture
def shadowprobe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in a directory that holds the hand-made dataset and its predictions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    write_world(tmp_path / "world")
    (tmp_path / "hand.jsonl").write_bytes(encode_lines(hand_predictions()))

    def run(*arguments: str) -> Printed:
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        captured = capsys.readouterr()
        return Printed(int(end.value.code or 0), captured.out, captured.err)

    return run


def test_run_alone_uses_mini_and_a_built_in_linker(shadowprobe: Command) -> None:
    done = shadowprobe("run")
    assert done.code == 0
    assert done.out.startswith("blend (weight=0.5) on mini")
    for word in ("Table 3", "Table 4", "Shadow", "Top", "Tail", "prior bias", "95% intervals"):
        assert word in done.out
    assert "Written to runs/blend-mini/" in done.err
    assert {path.name for path in Path("runs/blend-mini").iterdir()} == {
        "run.json",
        "predictions.jsonl",
        "results.json",
    }


def test_the_screen_shows_the_hand_worked_figures(shadowprobe: Command) -> None:
    out = " ".join(shadowprobe("score", "--dataset", "world", "--predictions", "hand.jsonl").out.split())
    assert "Shadow 4 3 0 1 0.667 0.500 0.571" in out  # n, answered, NIL, skipped, P, R, F
    assert "Top 4 3 1 0 0.500 0.500 0.500" in out
    assert "Top 50.0 0.0 0.0 25.0 25.0" in out  # Table 4
    assert "Shadow 0.0 25.0 50.0 0.0 25.0" in out
    assert "same answer in both contexts 50.0%" in out
    assert "and it is the prior 25.0%" in out
    assert "neutral contexts agree on the prior 66.7%" in out
    assert "hand reads the context about as often as it repeats its prior" in out


def test_the_screen_fits_eighty_columns(shadowprobe: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = shadowprobe("score", "--dataset", "world", "--predictions", "hand.jsonl").out
    assert max(map(len, out.splitlines())) <= 80
    assert len(out.splitlines()) < 45


def test_json_is_the_results_file(shadowprobe: Command) -> None:
    done = shadowprobe("run", "--linker", "oracle", "--dataset", "world", "--json")
    assert done.json == json.loads(Path("runs/oracle-world/results.json").read_text())
    assert done.json["schema"] == 1
    assert done.json["linker"]["name"] == "oracle"
    assert done.json["subsets"]["top"]["f1"] == 1.0


def test_results_have_the_names_that_the_design_promises(shadowprobe: Command) -> None:
    results = shadowprobe("run", "--linker", "prior", "--dataset", "world", "--json").json
    assert {"schema", "linker", "dataset", "subsets", "probes"} <= set(results)
    assert {"name", "version", "options"} <= set(results["linker"])
    assert {"name", "digest", "spaces"} <= set(results["dataset"])
    row = {"n", "answered", "nil", "skipped", "correct", "precision", "recall", "f1", "f1_ci95"}
    assert row <= set(results["subsets"]["top"])
    over = {"spaces", "overshadowed", "prior_bias", "answered_with_top", "consistent", "top_minus_shadow", "mcnemar_p"}
    assert over <= set(results["probes"]["overshadowing"])
    shares = {"prior_correct", "prior_wrong", "context_correct", "context_wrong", "nil"}
    assert set(results["probes"]["prior"]["shadow"]) == shares
    assert "stability" in results["probes"]["prior"]


def test_score_of_a_run_directory_gives_the_results_of_the_run(shadowprobe: Command) -> None:
    ran = shadowprobe("run", "--linker", "tfidf", "--dataset", "world", "--json").json
    scored = shadowprobe("score", "--predictions", "runs/tfidf-world", "--dataset", "world", "--json").json
    assert scored["subsets"] == ran["subsets"]
    assert scored["probes"] == ran["probes"]
    assert scored["linker"] == ran["linker"]
    # What the linker said of the run belongs to its results, whoever asks for them.
    assert scored["notes"] == ran["notes"] == ["1 of 9 entities have no description and are matched by their title"]


def test_score_says_how_many_answers_are_missing_and_exits_with_1(shadowprobe: Command) -> None:
    Path("short.jsonl").write_text('{"id": "tAvon", "answer": "Avon (river)"}\n')
    done = shadowprobe("score", "--predictions", "short.jsonl", "--dataset", "world")
    assert done.code == 1
    assert "20 snippets have no answer (failed or not in the file); they count as skipped" in " ".join(done.out.split())


def test_score_takes_any_reference_that_identity_knows(shadowprobe: Command) -> None:
    lines = [
        '{"id": "tAvon", "answer": "https://en.wikipedia.org/wiki/Avon_(river)"}',
        '{"id": "tBerg", "answer": "YAGO:Berg_(river)"}',
        '{"id": "tComo", "page_id": 102}',
        '{"id": "tDale", "answer": "River Dale"}',
    ]
    Path("p.jsonl").write_text("\n".join(lines))
    assert shadowprobe("score", "-p", "p.jsonl", "-d", "world", "--json").json["subsets"]["top"]["correct"] == 3
    Path("redirects.tsv").write_text("River Dale\tDale River\nDale River\tDale (river)\n")
    again = shadowprobe("score", "-p", "p.jsonl", "-d", "world", "--json", "--redirects", "redirects.tsv", "--force")
    assert again.json["subsets"]["top"]["correct"] == 4
    assert again.json["identity"]["redirect"] == 1


def test_score_does_not_write_over_results(shadowprobe: Command) -> None:
    assert shadowprobe("score", "-p", "hand.jsonl", "-d", "world").code == 0
    before = Path("runs/hand-world/results.json").read_bytes()
    refused = shadowprobe("score", "-p", "hand.jsonl", "-d", "world", "--seed", "8")
    assert refused.code == 2
    assert "--force" in refused.err
    assert Path("runs/hand-world/results.json").read_bytes() == before


def test_failed_snippets_are_counted_listed_and_exit_with_1(shadowprobe: Command) -> None:
    Path("breaks.py").write_text(BREAKS_ON_ONE)
    done = shadowprobe("run", "--linker", "breaks.py:Breaks", "--dataset", "world")
    assert done.code == 1
    assert "1 snippets failed and count as not answered: runs/breaks-world/failures.jsonl lists them" in done.err
    line = BREAKS_ON_ONE.splitlines().index('            raise RuntimeError("time-out")') + 1
    error = f"RuntimeError: time-out at breaks.py:{line}"
    assert Path("runs/breaks-world/failures.jsonl").read_text() == f'{{"id":"tBerg","error":"{error}"}}\n'
    assert f"shadowprobe: the first of them: {error}\n" in done.err


def test_gerbils_threshold_is_printed_when_it_is_on(shadowprobe: Command) -> None:
    plain = shadowprobe("score", "-p", "hand.jsonl", "-d", "world")
    assert "GERBIL" not in plain.out
    cut = shadowprobe("score", "-p", "hand.jsonl", "-d", "world", "--gerbil-threshold", "--force")
    assert "GERBIL" in cut.out


def test_only_the_probes_asked_for_are_asked(shadowprobe: Command) -> None:
    results = shadowprobe("run", "-l", "prior", "-d", "world", "--probe", "overshadowing", "--json").json
    assert list(results["probes"]) == ["overshadowing"]
    assert "subsets" not in results


def test_linkers_probes_and_datasets_are_listed(shadowprobe: Command) -> None:
    listed_linkers = " ".join(shadowprobe("linkers").out.split())
    assert "oracle" in listed_linkers
    assert "shadowprobe[dense]" in listed_linkers
    assert "overshadowing" in shadowprobe("probes").out
    listed = {item["name"]: item for item in shadowprobe("datasets", "--json").json}
    assert set(listed) == {"mini", "mini-train", "places", "shadowlink"}
    assert listed["mini"]["spaces"] >= 120


def test_check_prints_what_holds(shadowprobe: Command) -> None:
    done = shadowprobe("check", "--linker", "prior", "--dataset", "world")
    assert done.code == 0
    assert "holds" in done.out
    assert "BROKEN" not in done.out
    Path("breaks.py").write_text(BREAKS_ON_ONE)
    broken = shadowprobe("check", "--linker", "breaks.py:Breaks", "--dataset", "world")
    assert broken.code == 1
    assert "BROKEN" in broken.out


def test_a_first_taste_by_limit(shadowprobe: Command) -> None:
    done = shadowprobe("run", "-l", "prior", "-d", "world", "--limit", "2")
    assert "2 names" in done.out
    assert "limited to the first 2" in done.out


def test_version(shadowprobe: Command) -> None:
    import shadowprobe as package

    assert shadowprobe("--version").out == f"shadowprobe {package.__version__}\n"


def test_markup_in_names_and_texts_is_shown_as_text(shadowprobe: Command) -> None:
    Path("p.jsonl").write_text('{"id": "tAvon", "answer": "Avon (river)"}')
    done = shadowprobe("score", "-p", "p.jsonl", "-d", "world", "--name", "[red]mine[/red]")
    assert "[red]mine[/red] on world" in done.out


CHATTY = """
from shadowprobe import Linker, Probe

print("loading model...")

class Chatty(Linker):
    name = "chatty"

    def link(self, snippets):
        print("linking", len(snippets))
        return [self.ranked(s, self.knowledge.candidates(s.mention)) for s in snippets]

class Vowels(Probe):
    name = "vowels"

    def measure(self, answers):
        import numpy as np
        return {"share": np.float64(0.25), "counts": np.array([1, 2])}

class Nothing(Probe):
    name = "nothing"

    def measure(self, answers):
        return None
"""


def test_what_a_linker_prints_does_not_get_into_our_json(shadowprobe: Command) -> None:
    Path("chatty.py").write_text(CHATTY)
    done = shadowprobe("run", "-l", "chatty.py:Chatty", "-d", "world", "--json")
    assert done.json["linker"]["name"] == "chatty"
    assert "loading model..." in done.err
    assert isinstance(shadowprobe("check", "-l", "chatty.py:Chatty", "-d", "world", "--json").json, list)


def test_the_findings_of_a_probe_of_ones_own_are_shown_and_stored(shadowprobe: Command) -> None:
    Path("chatty.py").write_text(CHATTY)
    done = shadowprobe("run", "-l", "prior", "-d", "world", "--probe", "chatty.py:Vowels")
    shown = " ".join(done.out.split())
    assert "vowels: what this probe found" in shown
    assert "share 0.25" in shown
    assert "counts [1, 2]" in shown
    stored = json.loads(Path("runs/prior-world/results.json").read_text())
    assert stored["probes"] == {"vowels": {"share": 0.25, "counts": [1, 2]}}


def test_a_probe_that_finds_nothing_is_told_what_it_must_return(shadowprobe: Command) -> None:
    Path("chatty.py").write_text(CHATTY)
    done = shadowprobe("run", "-l", "prior", "-d", "world", "--probe", "chatty.py:Nothing")
    assert done.code == 2
    assert "probe `nothing`: measure() must return a table of findings, not None" in done.err


def test_a_reader_who_leaves_early_is_no_failure(tmp_path: Path) -> None:
    write_world(tmp_path / "world")
    command = f"{{ {sys.executable} -m shadowprobe run -l prior -d world; echo exit $? >&2; }} | head -1"
    piped = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "exit 0" in piped.stderr
    assert "Traceback" not in piped.stderr


@pytest.mark.parametrize(
    "arguments", [("run", "--out", ""), ("run", "--dataset", ""), ("score", "-p", "hand.jsonl", "--out", "")]
)
def test_an_empty_name_is_refused(shadowprobe: Command, arguments: tuple[str, ...]) -> None:
    done = shadowprobe(*arguments)
    assert done.code == 2
    assert "is empty" in done.err


def test_names_of_several_snippets_are_paired_once_and_the_screen_says_so(shadowprobe: Command) -> None:
    done = shadowprobe("run", "-l", "prior", "-d", "mini-train")
    results = json.loads(Path("runs/prior-mini-train/results.json").read_text())
    over, subsets = results["probes"]["overshadowing"], results["subsets"]
    assert over["snippets_left_out"] == subsets["top"]["n"] + subsets["shadow"]["n"] - 2 * over["spaces"] > 0
    # Of all Shadow snippets and not only of those that were paired.
    assert over["answered_with_top"] == 1.0
    assert "are paired by the first Top and Shadow snippet of each name" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("linker", "neutral", "words"),
    [
        ("nil", True, "not measured: the linker names no entity in any neutral context"),
        ("prior", False, "not measured: the dataset has no neutral contexts"),
    ],
)
def test_why_prior_bias_is_not_measured_is_said_as_it_is(
    shadowprobe: Command, monkeypatch: pytest.MonkeyPatch, linker: str, neutral: bool, words: str
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    world = open_dataset("world")
    kept = {subset: list(world.snippets(subset)) for subset in world.subsets if neutral or subset != "neutral"}
    write_dataset(Path("cut"), world.card, world.entities.values(), world.spaces.values(), kept)
    out = shadowprobe("run", "--linker", linker, "--dataset", "cut").out
    (line,) = (line for line in out.splitlines() if line.strip().startswith("and it is the prior"))
    assert line.split() == ["and", "it", "is", "the", "prior", "–", "prior", "bias"]
    assert f"prior bias {words}." in out
