"""The same jobs from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from world import hand_predictions, shadow, snippet, top

import shadowprobe
from shadowprobe import Card, Dataset, Entity, Linker, Prediction, Settings, Snippet, UsageError, write_dataset
from shadowprobe.base.files import directory_name
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.plugins import loading
from shadowprobe.running.api import make_linking_job, read_predictions, score_predictions


def test_run_returns_what_it_writes(world: Dataset, tmp_path: Path) -> None:
    results = shadowprobe.run("oracle", world, out=tmp_path / "run")
    assert results["subsets"]["shadow"]["f1"] == 1.0
    assert results == json.loads((tmp_path / "run" / "results.json").read_text())


def test_score_returns_what_it_writes(world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "hand.jsonl").write_bytes(encode_lines(hand_predictions()))
    results = shadowprobe.score(tmp_path / "hand.jsonl", world, out=tmp_path / "scored")
    assert results["probes"]["overshadowing"]["overshadowed"] == 0.5
    assert results == json.loads((tmp_path / "scored" / "results.json").read_text())


def test_a_linker_may_be_given_as_an_object(world: Dataset, tmp_path: Path) -> None:
    class Silent(Linker):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            return [self.skip(snippet) for snippet in snippets]

    results = shadowprobe.run(Silent(), world, out=tmp_path / "run")
    assert results["linker"]["name"] == "Silent"
    assert results["subsets"]["top"]["skipped"] == 4


def test_a_dataset_of_foreign_mentions_without_spaces_still_gets_table_3(tmp_path: Path) -> None:
    text = "Avon runs past Ourika."
    everything = [
        Snippet("a", "all", text, 0, 4, gold="Avon (river)"),
        Snippet("b", "all", text, 15, 21, gold="Ourika"),
        Snippet("c", "all", text, 5, 9),  # a mention that was given no entity: asked, but not gold
    ]
    dataset = write_dataset(
        tmp_path / "foreign", Card(name="foreign"), [Entity("Avon (river)"), Entity("Ourika")], [], {"all": everything}
    )
    results = shadowprobe.run("oracle", dataset, out=tmp_path / "run")
    assert list(results["subsets"]) == ["all"]
    assert results["subsets"]["all"]["n"] == 2
    assert results["subsets"]["all"]["f1"] == 1.0
    assert "not_measured" in results["probes"]["overshadowing"]
    assert "not_measured" in results["probes"]["prior"]


@pytest.mark.parametrize("rounds", [1, 10])
def test_settings_reach_the_probes_and_the_results(world: Dataset, tmp_path: Path, rounds: int) -> None:
    settings = Settings(probes=("overshadowing",), rounds=rounds, seed=3)
    results = shadowprobe.run("prior", world, out=tmp_path / "run", settings=settings)
    assert results["settings"] == {
        "bootstrap_rounds": rounds,
        "bootstrap_seed": 3,
        "gerbil_threshold": False,
        "gerbil_nil": False,
        "redirects": None,
    }
    assert list(results["probes"]) == ["overshadowing"]


def pointing(place: int) -> Linker:
    """A linker whose option is stored under another name, as constructors do."""

    class Pointing(Linker):
        def __init__(self, place: int = 0) -> None:
            self._place = place

        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            return [self.answer(s, self.knowledge.candidates(s.mention)[self._place]) for s in snippets]

    return Pointing(place)


def test_a_linker_object_with_another_state_does_not_get_the_old_answers(world: Dataset, tmp_path: Path) -> None:
    assert shadowprobe.run(pointing(0), world, out=tmp_path / "run")["subsets"]["top"]["recall"] == 1.0
    assert shadowprobe.run(pointing(0), world, out=tmp_path / "run")["subsets"]["top"]["recall"] == 1.0
    with pytest.raises(UsageError, match="holds a run whose linker version is"):
        shadowprobe.run(pointing(-1), world, out=tmp_path / "run")


def test_a_run_goes_on_after_an_update_unless_the_answers_of_its_linker_changed(
    world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    first = shadowprobe.run("bm25", world, out=out)
    answers = (out / "predictions.jsonl").read_bytes()
    # The run of 0.1.0 was stopped in its last line.
    card = json.loads((out / "run.json").read_text()) | {"shadowprobe": "0.1.0"}
    card["linker"]["version"] = "0.1.0"
    (out / "run.json").write_text(json.dumps(card))
    (out / "predictions.jsonl").write_bytes(answers[:-5])
    monkeypatch.setattr(shadowprobe, "__version__", "9.0.0")
    assert shadowprobe.run("bm25", world, out=out) == first
    assert (out / "predictions.jsonl").read_bytes() == answers
    monkeypatch.setitem(loading.OWN_CHANGED, "bm25", "9.0.0")
    with pytest.raises(UsageError, match=r"whose linker version is '0\.1\.0', not '9\.0\.0'; give another --out"):
        shadowprobe.run("bm25", world, out=out)


def test_a_linker_that_was_made_by_its_name_keeps_its_version(world: Dataset, tmp_path: Path) -> None:
    linker = loading.make_linker("prior")
    version = linker.version
    first, second = (make_linking_job(linker, world, out=tmp_path / "run").run() for _ in range(2))
    assert (first.outcome.answered, second.outcome.answered) == (len(world.index), 0)
    assert first.results["linker"]["version"] == version


def test_the_same_linker_object_goes_on_with_its_own_run(world: Dataset, tmp_path: Path) -> None:
    linker = pointing(0)
    first = shadowprobe.run(linker, world, out=tmp_path / "run")
    assert shadowprobe.run(linker, world, out=tmp_path / "run") == first
    vars(linker)["_place"] = -1
    with pytest.raises(UsageError, match="holds a run whose linker version is"):
        shadowprobe.run(linker, world, out=tmp_path / "run")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"linker": Linker}, r"Linker is a class: give an instance, Linker\(\)"),
        ({"linker": pointing(0), "options": {"place": "1"}}, "an instance has its own"),
        ({"linker": "prior", "limit": 0}, "limit is 0, and must be at least 1"),
        ({"linker": "prior", "batch_size": -1}, "batch_size is -1, and must be at least 1"),
    ],
)
def test_what_cannot_be_is_refused(world: Dataset, tmp_path: Path, arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        shadowprobe.run(**arguments, dataset=world, out=tmp_path / "run")


def test_a_limit_of_stored_predictions_is_at_least_1(world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "hand.jsonl").write_bytes(encode_lines(hand_predictions()))
    with pytest.raises(UsageError, match="limit is 0, and must be at least 1"):
        shadowprobe.score(tmp_path / "hand.jsonl", world, limit=0)


@pytest.mark.parametrize("kind", ["dataset", "path", "location"])
def test_a_scored_run_finds_its_dataset_again(world: Dataset, tmp_path: Path, kind: str) -> None:
    shadowprobe.run("prior", world, out=tmp_path / "run")
    given: Dataset | Path = world.path if kind == "path" else world
    location = "world" if kind == "location" else None
    score_predictions(tmp_path / "run", given, location=location, out=tmp_path / "scored")
    card = json.loads((tmp_path / "scored" / "run.json").read_text())
    assert card["locations"] == {"dataset": location or str(world.path)}


def test_stored_predictions_are_read_only_where_they_could_be_scored(world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "hand.jsonl").write_bytes(encode_lines(hand_predictions()))
    stored = read_predictions(tmp_path / "hand.jsonl", world)
    assert len(stored) == 21
    assert (stored["sAvon"].answer, stored["sDale"].status) == ("Avon (river)", "skipped")
    part = write_part(tmp_path / "part")
    with pytest.raises(shadowprobe.InputError, match="'nAvon1' is no snippet of the dataset `part`"):
        read_predictions(tmp_path / "hand.jsonl", part)
    # A run says over which dataset it is.
    shadowprobe.run("prior", world, out=tmp_path / "run")
    (tmp_path / "run" / "predictions.jsonl").write_text("")
    with pytest.raises(shadowprobe.InputError, match="the run is over `world`"):
        read_predictions(tmp_path / "run", part)


def write_part(path: Path) -> Dataset:
    """A dataset with two snippets of the world."""
    return write_dataset(
        path,
        Card(name="part"),
        [Entity(top("Avon")), Entity(shadow("Avon"))],
        [],
        {"all": [snippet("tAvon", "all", "Avon runs.", "Avon"), snippet("sAvon", "all", "Avon sails.", "Avon")]},
    )


def test_a_dataset_may_be_given_as_a_path(world: Dataset, tmp_path: Path) -> None:
    assert shadowprobe.run("prior", world.path, out=tmp_path / "run")["dataset"]["name"] == "world"


def test_a_stored_run_knows_its_dataset(world: Dataset, tmp_path: Path) -> None:
    ran = shadowprobe.run("prior", world, out=tmp_path / "run")
    assert shadowprobe.score(tmp_path / "run", out=tmp_path / "scored")["subsets"] == ran["subsets"]


def test_a_limited_run_is_scored_with_its_limit(world: Dataset, tmp_path: Path) -> None:
    ran = shadowprobe.run("prior", world, out=tmp_path / "run", limit=2)
    scored = shadowprobe.score(tmp_path / "run", limit=2, out=tmp_path / "scored")
    assert scored["missing"] == ran["missing"] == 0
    assert scored["probes"] == ran["probes"]


SECRETIVE = """
from shadowprobe import Linker

class Secretive(Linker):
    def __init__(self, api_token: str = "", url: str = "", lang: str = "") -> None:
        pass

    def link(self, snippets):
        return [self.skip(snippet) for snippet in snippets]
"""


def test_secrets_among_the_options_reach_no_file(world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SECRETIVE)
    options = {"api_token": "s3cret", "url": "http://me:s3cret@host/path?lang=en&gcube-token=s3cret#x", "lang": "en"}
    results = shadowprobe.run(f"{tmp_path}/mine.py:Secretive", world, options=options, out=tmp_path / "run")
    assert results["linker"]["options"] == {
        "api_token": "***",
        "url": "http://***@host/path?lang=***&gcube-token=***",
        "lang": "en",
    }
    assert b"s3cret" not in b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir())


def test_a_redirect_table_leaves_its_mark_in_the_results(world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"id": "tAvon", "qid": "Q7"}')
    (tmp_path / "table.tsv").write_text("Q7\tAvon (river)\n")
    plain = shadowprobe.score(tmp_path / "p.jsonl", world, out=tmp_path / "plain")
    settings = Settings(redirects=tmp_path / "table.tsv")
    tabled = shadowprobe.score(tmp_path / "p.jsonl", world, out=tmp_path / "tabled", settings=settings)
    assert (plain["subsets"]["top"]["correct"], tabled["subsets"]["top"]["correct"]) == (0, 1)
    assert plain["settings"]["redirects"] is None
    assert len(tabled["settings"]["redirects"]) == 64


def test_one_answer_that_cannot_be_costs_no_other_a_second_question(world: Dataset, tmp_path: Path) -> None:
    asked: list[str] = []

    class OneEmpty(Linker):
        name = "one-empty"

        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            asked.extend(snippet.id for snippet in snippets)
            return [self.answer(snippet, "" if snippet.id == "tBerg" else "Avon (river)") for snippet in snippets]

    outcome = make_linking_job(OneEmpty(), world, out=tmp_path / "run").run().outcome
    assert outcome is not None
    assert outcome.failed == 1
    assert len(asked) == len(set(asked)) == world.count()


def test_scoring_other_answers_over_a_run_takes_its_card_away(world: Dataset, tmp_path: Path) -> None:
    shadowprobe.run("oracle", world, out=tmp_path / "run")
    (tmp_path / "hand.jsonl").write_bytes(encode_lines(hand_predictions()))
    shadowprobe.score(tmp_path / "hand.jsonl", world, out=tmp_path / "run", force=True)
    # A card that is left would say that the oracle had given these answers.
    again = shadowprobe.score(tmp_path / "run", world, name="again", out=tmp_path / "run")
    assert again["linker"] == {"name": "again", "version": "", "options": {}}
    assert again["subsets"]["top"]["correct"] == 2


@pytest.mark.parametrize(
    ("name", "directory"),
    [("a/b", "a_b"), ("..", "_"), ("../../x", ".._.._x"), ("", "_"), ("a.b", "a.b"), ("c\\d", "c_d"), ("...", "...")],
)
def test_a_name_makes_a_directory_that_leads_nowhere_else(name: str, directory: str) -> None:
    assert directory_name(name) == directory


EXITING = """
import sys

from shadowprobe import Probe

class Exiting(Probe):
    name = "exiting"

    def measure(self, answers):
        sys.exit(0)
"""


def test_a_probe_that_exits_is_an_error_that_names_it(world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "exiting.py").write_text(EXITING)
    settings = Settings(probes=(f"{tmp_path}/exiting.py:Exiting",))
    with pytest.raises(shadowprobe.PluginError, match="probe `exiting` failed: SystemExit: 0"):
        shadowprobe.run("prior", world, out=tmp_path / "run", settings=settings)
