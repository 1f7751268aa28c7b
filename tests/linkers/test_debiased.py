"""Any linker corrected for its prior: the answers of `debias`, priors from a file or a cache, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from scored_world import scored_predictions
from service import Asked, Reply, serving
from world import NAMES, shadow, snippet, top

import shadowprobe
from shadowprobe import (
    Card,
    Dataset,
    Entity,
    EntitySpace,
    Failure,
    InputError,
    Linker,
    LinkerError,
    Prediction,
    Request,
    Snippet,
    UsageError,
    WebLinker,
    open_dataset,
    write_dataset,
)
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.base.languages import words_of
from shadowprobe.plugins import add_version, make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.check import check
from shadowprobe.running.correction import correct_run
from shadowprobe.running.finished import read_runs

# By its name, since type checkers do not see where the folder is installed.
DebiasedLinker: Any = import_module("shadowprobe.linkers.debiased").DebiasedLinker
# Log scores of river and ship. The neutral means are the scores of any other text.
IN_TOP, IN_SHADOW, ELSEWHERE = (-1.0, -4.0), (-1.0, -2.0), (-1.0, -3.0)
TEMPLATES = len(words_of("en").neutral)
MINE = f'''
from pathlib import Path
from shadowprobe import Linker

class Mine(Linker):
    """Scores by a word of the text."""
    name = "mine"
    incidental = frozenset({{"pause"}})

    def __init__(self, log: str = "", shift: float = 0.0, pause: int = 0, fails: str = "", kind: str = "scores"):
        self.log, self.shift, self.pause, self.fails, self.kind = log, shift, pause, fails, kind

    def link(self, snippets):
        if self.log:
            with Path(self.log).open("a") as file:
                file.writelines(f"{{snippet.text}}\\n" for snippet in snippets)
        return [self.link_one(snippet) for snippet in snippets]

    def link_one(self, snippet):
        if self.fails and self.fails in snippet.text:
            return self.fail(snippet, "the lights are out")
        text = snippet.text
        scores = {IN_TOP} if "Anglers" in text else {IN_SHADOW} if "crew" in text else {ELSEWHERE}
        entities = self.knowledge.candidates_of(snippet)
        if self.kind == "bare":
            return self.answer(snippet, entities[0])
        if self.kind == "unscored":
            return self.answer(snippet, entities[0], candidates=entities)
        if self.kind == "single":
            return self.ranked(snippet, [(entities[0], -1.0)])
        if self.kind == "nil":
            return self.nil(snippet)
        if self.kind == "rises" and "crew" in text:
            scores = (3.0, 2.0)
        return self.ranked(snippet, sorted(zip(entities, (s + self.shift for s in scores)), key=lambda p: -p[1]))
'''


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The user's cache is empty, and no other than this test's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHADOWPROBE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "neutral"


@pytest.fixture
def mine(tmp_path: Path) -> str:
    """A linker in a file, as a user has it."""
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    return f"{tmp_path / 'mine.py'}:Mine"


def opened(dataset: Dataset, **options: str) -> Linker:
    linker = make_linker("debiased", {key.replace("__", "."): value for key, value in options.items()})
    linker.open(dataset.knowledge)
    return linker


def answers_of(linker: Linker, dataset: Dataset, ids: Iterable[str] = ("tAvon", "sAvon")) -> list[Prediction | Failure]:
    wanted = [one for one in dataset.snippets() if one.id in set(ids)]
    return list(linker.link(wanted))


def lines(path: Path) -> bytes:
    return (path / "predictions.jsonl").read_bytes()


def asked_texts(tmp_path: Path) -> list[str]:
    log = tmp_path / "log.txt"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def test_a_part_of_the_neutral_mean_is_subtracted(world: Dataset, mine: str) -> None:
    found = answers_of(opened(world, of=mine, weight="0.6"), world)
    in_top, in_shadow = (one for one in found if isinstance(one, Prediction))
    # Top: river -1 + 0.6 * 1 = -0.4, ship -4 + 0.6 * 3 = -2.2. Shadow: river -0.4, ship -2 + 1.8 = -0.2.
    assert (in_top.answer, in_shadow.answer) == (top("Avon"), shadow("Avon"))
    assert in_top.score == pytest.approx(-0.4)
    assert in_shadow.score == pytest.approx(-0.2)
    assert [candidate.score for candidate in in_shadow.candidates] == [pytest.approx(-0.2), pytest.approx(-0.4)]
    # Gains: in Top river 0, ship -1; in Shadow river 0, ship 1. The best rival's gain minus the answer's.
    assert in_top.suspicion == pytest.approx(-1)
    assert in_shadow.suspicion == pytest.approx(-1)


def test_of_equal_scores_the_answer_of_the_linker_stays(world: Dataset, mine: str) -> None:
    # Shadow: river -1 + 0.5 = -0.5, ship -2 + 1.5 = -0.5. The river is doubtful: the ship gains 1 more.
    (_, in_shadow) = answers_of(opened(world, of=mine, weight="0.5"), world)
    assert isinstance(in_shadow, Prediction)
    assert in_shadow.answer == top("Avon")
    assert in_shadow.suspicion == pytest.approx(1)


@pytest.mark.parametrize("how", ["given", "file", "both"])
def test_a_run_has_the_answers_of_debias_prediction_by_prediction(how: str, tmp_path: Path) -> None:
    shadowprobe.run("blend", "mini", options={"weight": "0.7"}, out=tmp_path / "raw")
    (raw,) = read_runs([tmp_path / "raw"])
    correct_run(raw, weight=0.35)
    options = {"of": "blend", "of.weight": "0.7"}
    if how != "file":
        options["weight"] = "0.35"
    if how != "given":
        options["priors"] = str(tmp_path / "raw" / "debias.json")
    shadowprobe.run("debiased", "mini", options=options, out=tmp_path / "corrected")
    assert lines(tmp_path / "corrected") == lines(tmp_path / "raw-debiased")
    assert lines(tmp_path / "corrected") != lines(tmp_path / "raw")


@pytest.mark.parametrize(("linker", "note"), [("tfidf", "are neither logarithms nor probabilities"), ("random", None)])
def test_other_scales_are_standardised_as_debias_does(linker: str, note: str | None, tmp_path: Path) -> None:
    shadowprobe.run(linker, "mini", limit=40, out=tmp_path / "raw")
    (raw,) = read_runs([tmp_path / "raw"])
    correct_run(raw, weight=0.5)
    shadowprobe.run("debiased", "mini", options={"of": linker, "weight": "0.5"}, limit=40, out=tmp_path / "corrected")
    found, expected = (
        [json.loads(line) for line in lines(tmp_path / name).splitlines()] for name in ("corrected", "raw-debiased")
    )
    assert [one["id"] for one in found] == [one["id"] for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert (one.get("answer"), one.get("score")) == (other.get("answer"), pytest.approx(other.get("score")))
    if note:
        card = json.loads((tmp_path / "corrected" / "run.json").read_text(encoding="utf-8"))
        assert any(note in sentence for sentence in card["notes"])


def test_stored_answers_can_be_corrected_with_stored_priors(world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "stored.jsonl").write_bytes(encode_lines(scored_predictions()))
    shadowprobe.run("replay", world, options={"file": "stored.jsonl"}, out=tmp_path / "raw")
    (raw,) = read_runs([tmp_path / "raw"])
    correct_run(raw, weight=0.6)
    options = {"of": "replay", "of.file": "stored.jsonl", "priors": "raw/debias.json"}
    shadowprobe.run("debiased", world, options=options, out=tmp_path / "corrected")
    assert lines(tmp_path / "corrected") == lines(tmp_path / "raw-debiased")


def test_neutral_contexts_are_linked_once_and_kept_on_disk(
    world: Dataset, mine: str, tmp_path: Path, cache: Path
) -> None:
    options = {"of": mine, "weight": "0.6", "of__log": str(tmp_path / "log.txt")}
    first = answers_of(opened(world, **options), world)
    # Each of the four names in each template, when the scale is looked at, and the two texts.
    assert len(asked_texts(tmp_path)) == len(NAMES) * TEMPLATES + 2
    assert len(list(cache.glob("*/*.json"))) == len(NAMES)
    (tmp_path / "log.txt").unlink()
    assert answers_of(opened(world, **options), world) == first
    assert len(asked_texts(tmp_path)) == 2


@pytest.mark.parametrize("change", [{"of__shift": "-0.5"}, {"templates": "templates.txt"}])
def test_another_option_or_template_needs_other_neutral_contexts(
    change: dict[str, str], world: Dataset, mine: str, tmp_path: Path
) -> None:
    (tmp_path / "templates.txt").write_text("Again: {name}.\nWhat of {name}?\n", encoding="utf-8")
    options = {"of": mine, "weight": "0.6", "of__log": str(tmp_path / "log.txt")}
    opened(world, **options)
    (tmp_path / "log.txt").unlink()
    opened(world, **options, **change)
    assert len(asked_texts(tmp_path)) == len(NAMES) * (2 if "templates" in change else TEMPLATES)


def test_other_entities_need_other_neutral_contexts(world: Dataset, mine: str, tmp_path: Path) -> None:
    options = {"of": mine, "weight": "0.6", "of__log": str(tmp_path / "log.txt")}
    opened(world, **options)
    (tmp_path / "log.txt").unlink()
    entities = [*world.entities.values(), Entity("Avon (county)")]
    spaces = [EntitySpace("Avon", (*world.spaces["Avon"].entities, "Avon (county)"))]
    text = {"top": [snippet("t", "top", "By Avon.", "Avon", space="Avon", gold=top("Avon"))]}
    other = write_dataset(tmp_path / "other", Card(name="other"), entities, spaces, text)  # type: ignore[arg-type]
    opened(other, **options)
    assert len(asked_texts(tmp_path)) == TEMPLATES


def test_a_changed_file_of_the_linker_needs_other_neutral_contexts(world: Dataset, mine: str, tmp_path: Path) -> None:
    options = {"of": mine, "weight": "0.6", "of__log": str(tmp_path / "log.txt")}
    opened(world, **options)
    (tmp_path / "log.txt").unlink()
    (tmp_path / "mine.py").write_text(MINE + "# changed\n", encoding="utf-8")
    opened(world, **options)
    assert len(asked_texts(tmp_path)) == len(NAMES) * TEMPLATES


@pytest.mark.parametrize(
    "content", [b"", b'{"name":"Avon","predictions":[', b'{"name":"Avon","predictions":[]}', b"\xff"]
)
def test_a_damaged_file_of_the_cache_is_replaced(
    content: bytes, world: Dataset, mine: str, tmp_path: Path, cache: Path
) -> None:
    options = {"of": mine, "weight": "0.6", "of__log": str(tmp_path / "log.txt")}
    first = answers_of(opened(world, **options), world)
    whole = {path: path.read_bytes() for path in cache.glob("*/*.json")}
    for path in whole:
        path.write_bytes(content)
    assert answers_of(opened(world, **options), world) == first
    assert {path: path.read_bytes() for path in cache.glob("*/*.json")} == whole


def test_without_a_place_for_the_cache_it_says_so_and_goes_on(
    world: Dataset, mine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SHADOWPROBE_CACHE", str(tmp_path / "file" / "cache"))
    linker = opened(world, of=mine, weight="0.6")
    assert [one.answer for one in answers_of(linker, world) if isinstance(one, Prediction)] == [
        top("Avon"), shadow("Avon")
    ]  # fmt: skip
    assert [note for note in linker.notes if "are not kept for the next run: cannot write to" in note]


def test_two_processes_can_fill_the_cache_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "shadowprobe", "run", "--linker", "debiased", "-o", "of=blend", "-o", "weight=0.5"]
    running = [
        subprocess.Popen([*command, "--limit", "30", "--out", str(tmp_path / name)], cwd=tmp_path, stdout=-3, stderr=-3)
        for name in ("one", "two")
    ]
    assert [process.wait(120) for process in running] == [0, 0]
    assert lines(tmp_path / "one") == lines(tmp_path / "two")
    for path in (tmp_path / "cache").rglob("*.json"):
        assert len(json.loads(path.read_bytes())["predictions"]) == TEMPLATES


def test_a_name_whose_neutral_contexts_fail_is_a_failure_that_the_next_run_tries_again(
    world: Dataset, mine: str, tmp_path: Path
) -> None:
    # Only the sentence of the third template has these words.
    failing = opened(world, of=mine, weight="0.6", of__fails="that is Avon")
    found = {one.id: one for one in answers_of(failing, world, ("tAvon", "tBerg"))}
    assert found["tAvon"] == Failure("tAvon", "the neutral contexts of 'Avon' could not be linked: the lights are out")
    assert isinstance(found["tBerg"], Prediction)


def test_a_linker_that_fails_in_every_neutral_context_is_refused(world: Dataset, mine: str) -> None:
    with pytest.raises(LinkerError, match="the neutral contexts of 'Avon' could not be linked: the lights are out"):
        opened(world, of=mine, weight="0.6", of__fails="that is")


def test_a_name_that_the_priors_lack_is_asked_about(world: Dataset, mine: str, tmp_path: Path) -> None:
    shadowprobe.run(mine, world, out=tmp_path / "raw")
    (raw,) = read_runs([tmp_path / "raw"])
    correct_run(raw, weight=0.6)
    path = tmp_path / "raw" / "debias.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    del found["priors"]["Avon"]
    path.write_text(json.dumps(found), encoding="utf-8")
    log = str(tmp_path / "log.txt")
    found["linker"]["options"]["log"] = log
    path.write_text(json.dumps(found), encoding="utf-8")
    linker = opened(world, of=mine, of__log=log, priors=str(path))
    given = answers_of(linker, world, ("sAvon", "sBerg"))
    assert [one.answer for one in given if isinstance(one, Prediction)] == [shadow("Avon"), shadow("Berg")]
    assert len(asked_texts(tmp_path)) == TEMPLATES + 2
    assert all("Avon" in text for text in asked_texts(tmp_path)[2:])


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("bare", "`mine` cannot be corrected: the linker gives no candidates, and a correction chooses among them"),
        ("unscored", "`mine` cannot be corrected: the linker gives no scores for its candidates"),
        ("single", "`mine` cannot be corrected: the linker gives one candidate only"),
        ("nil", "`mine` cannot be corrected: no entity is named"),
    ],
)
def test_a_linker_that_cannot_be_corrected_is_refused_as_debias_does(
    kind: str, message: str, world: Dataset, mine: str
) -> None:
    with pytest.raises(LinkerError, match=message):
        opened(world, of=mine, weight="0.5", of__kind=kind)


def test_scores_that_are_not_what_they_looked_like_are_refused(world: Dataset, mine: str) -> None:
    linker = opened(world, of=mine, weight="0.5", of__kind="rises")
    with pytest.raises(LinkerError, match="gives a score of 3, and in neutral contexts its scores looked like log"):
        answers_of(linker, world)
    # Who says what they are is believed: river 3 - 0.5 * 1 = 2.5, ship 2 - 0.5 * -1 = 2.5, around a mean of -2.
    (_, given) = answers_of(opened(world, of=mine, weight="0.5", of__kind="rises", scale="other"), world)
    assert isinstance(given, Prediction)
    assert given.answer == top("Avon")
    assert given.score == pytest.approx(2.5)


def test_scores_below_0_are_no_probabilities_whoever_says_so(world: Dataset, mine: str) -> None:
    linker = opened(world, of=mine, weight="0.5", scale="probability")
    with pytest.raises(LinkerError, match=r"gives a score of -\d+, and a probability is not below 0: choose -o scale"):
        answers_of(linker, world)


def test_a_name_without_a_choice_is_left_as_it_is(world: Dataset, mine: str, tmp_path: Path) -> None:
    linker = opened(world, of="blend", weight="0.5")
    (tail,) = answers_of(linker, world, ["tail1"])
    assert isinstance(tail, Prediction)
    assert (tail.answer, tail.suspicion) == ("Ourika", None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"of": "blend"}, "needs a weight: add -o weight=0.5, or -o priors=RUN/debias.json"),
        ({"of": "blend", "weight": "1.5"}, "weight is 1.5, and must be from 0"),
        ({"of": "blend", "weight": "nan"}, "weight is nan, and must be from 0"),
        ({"weight": "0.5"}, "needs the option `of`: add -o of=VALUE"),
        ({"of.weight": "0.5", "weight": "0.5"}, "needs the option `of`"),
        ({"of": "blend", "of.wieght": "0.5", "weight": "0.5"}, "linker `blend` has no option `wieght`"),
        ({"of": "blend", "of.weight": "half", "weight": "0.5"}, "option `of.weight`: 'half' is not a number"),
        ({"of": "replay", "weight": "0.5"}, "linker `replay` needs the option `file`: add -o of.file=VALUE"),
        ({"of": "debiased", "of.of": "blend", "of.weight": "0.5", "weight": "0.5"}, "`of` is corrected already"),
        ({"of": "blend", "weight": "0.5", "scale": "linear"}, "option `scale`: 'linear' is not one of log"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_linker("debiased", options)


@pytest.fixture
def stored(world: Dataset, tmp_path: Path) -> Callable[..., Path]:
    """A debias.json of `blend`, with some fields replaced."""

    def store(**fields: Any) -> Path:
        if not (tmp_path / "raw").exists():
            shadowprobe.run("blend", world, out=tmp_path / "raw")
            (raw,) = read_runs([tmp_path / "raw"])
            correct_run(raw, weight=0.5)
        path = tmp_path / "raw" / "debias.json"
        found = json.loads(path.read_text(encoding="utf-8"))
        for key, value in fields.items():
            part, name = (found[key.partition("__")[0]], key.partition("__")[2]) if "__" in key else (found, key)
            part[name] = value
        path.write_text(json.dumps(found), encoding="utf-8")
        return path

    return store


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"weight": 2}, "field `weight`: 2 is not a number from 0 to 1"),
        ({"scale__spread": 0}, "field `scale.spread`: 0 is not a number above 0"),
        ({"scale__kind": "linear"}, "field `scale.kind`"),
        ({"priors": [1]}, "field `priors`"),
        ({"schema": 9}, "field `schema`: is 9, and this shadowprobe reads 1"),
    ],
)
def test_a_wrong_priors_file_is_refused_by_field(
    fields: dict[str, Any], message: str, stored: Callable[..., Path], world: Dataset
) -> None:
    path = stored(**fields)
    with pytest.raises(InputError, match=message) as error:
        opened(world, of="blend", priors=str(path))
    assert "debias.json" in str(error.value)


def test_a_missing_priors_file_is_named(world: Dataset) -> None:
    with pytest.raises(InputError, match=r"nowhere.json: no such file"):
        opened(world, of="blend", priors="nowhere.json")
    with pytest.raises(InputError, match=r"nowhere.txt: no such file"):
        opened(world, of="blend", weight="0.5", templates="nowhere.txt")


def test_the_priors_of_another_linker_are_refused(world: Dataset, stored: Callable[..., Path]) -> None:
    path = stored()
    with pytest.raises(UsageError, match=r"debias.json has the priors of `blend`, and not of `tfidf`"):
        opened(world, of="tfidf", priors=str(path))
    with pytest.raises(UsageError, match=r"of `blend` with weight=0.5, and not with weight=0.25: make it again"):
        opened(world, of="blend", of__weight="0.25", priors=str(path))
    with pytest.raises(UsageError, match=r"scale is other, and the priors of .* are of the scale log"):
        opened(world, of="blend", scale="other", priors=str(path))


def test_the_priors_of_another_file_of_the_linker_are_refused(world: Dataset, tmp_path: Path) -> None:
    file, copy = tmp_path / "hand.jsonl", tmp_path / "copy.jsonl"
    file.write_bytes(encode_lines(scored_predictions()))
    copy.write_bytes(file.read_bytes())
    shadowprobe.run("replay", world, options={"file": str(file)}, out=tmp_path / "raw")
    (raw,) = read_runs([tmp_path / "raw"])
    correct_run(raw, weight=0.5)
    path = str(tmp_path / "raw" / "debias.json")
    # The content counts, and not the place.
    opened(world, of="replay", of__file=str(copy), priors=path).close()
    file.write_bytes(encode_lines(scored_predictions()[1:]))
    with pytest.raises(UsageError, match=r"of `replay` with another content of file=.*hand.jsonl: make it again"):
        opened(world, of="replay", of__file=str(file), priors=path)


def test_the_priors_of_another_version_get_a_note(world: Dataset, stored: Callable[..., Path]) -> None:
    linker = opened(world, of="blend", priors=str(stored(linker__version="0.0.1")))
    assert [note for note in linker.notes if "are those of `blend` 0.0.1, and this is" in note]


def test_a_correction_that_is_not_worth_it_changes_nothing_and_says_so(
    world: Dataset, stored: Callable[..., Path]
) -> None:
    linker = opened(world, of="blend", priors=str(stored(weight=0.0)))
    assert [note for note in linker.notes if "is not worth it; its weight is 0, and no answer changes" in note]
    plain = make_linker("blend")
    plain.open(world.knowledge)
    snippets = list(world.snippets())
    assert [one.answer for one in linker.link(snippets) if isinstance(one, Prediction)] == [
        one.answer for one in plain.link(snippets) if isinstance(one, Prediction)
    ]


def test_a_language_without_templates_needs_a_file(tmp_path: Path, mine: str) -> None:
    entities = [Entity(top("Avon")), Entity(shadow("Avon"))]
    spaces = [EntitySpace("Avon", (top("Avon"), shadow("Avon")))]
    texts = {"top": [snippet("t", "top", "Avon fluit.", "Avon", space="Avon", gold=top("Avon"))]}
    latin = write_dataset(tmp_path / "la", Card(name="la", language="la"), entities, spaces, texts)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"no neutral contexts are known for `la` .*: add -o templates=FILE"):
        opened(latin, of=mine, weight="0.5")
    (tmp_path / "latin.txt").write_text("De {name} agitur.\n", encoding="utf-8")
    assert answers_of(opened(latin, of=mine, weight="0.5", templates="latin.txt"), latin, ["t"])


def test_a_dataset_without_ambiguous_names_needs_the_scale(tmp_path: Path, mine: str) -> None:
    texts = {"all": [snippet("1", "all", "By Avon.", "Avon", gold="Avon (river)")]}
    bare = write_dataset(tmp_path / "bare", Card(name="bare"), [Entity(top("Avon"))], [], texts)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no ambiguous names that show what the scores of `mine` are: add -o scale="):
        opened(bare, of=mine, weight="0.5")
    assert answers_of(opened(bare, of="blend", weight="0.5", scale="log"), bare, ["1"])


def test_a_run_goes_on_where_it_stopped(world: Dataset, mine: str, tmp_path: Path) -> None:
    options = {"of": mine, "weight": "0.6"}
    shadowprobe.run("debiased", world, options=options, out=tmp_path / "run")
    whole = lines(tmp_path / "run")
    (tmp_path / "run" / "predictions.jsonl").write_bytes(b"".join(whole.splitlines(keepends=True)[:5]))
    # What cannot change an answer may change.
    shadowprobe.run("debiased", world, options={**options, "of.pause": "3"}, out=tmp_path / "run")
    assert lines(tmp_path / "run") == whole
    assert b'"suspicion":' in whole


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": "0.5"}, "linker options weight is 0.6, not 0.5"),
        ({"of.shift": "-1"}, "linker options of.shift is 0.0, not -1.0"),
        ({"of": "blend"}, "linker version is"),
    ],
)
def test_a_run_is_not_continued_with_other_options(
    change: dict[str, str], message: str, world: Dataset, mine: str, tmp_path: Path
) -> None:
    options = {"of": mine, "weight": "0.6"}
    shadowprobe.run("debiased", world, options=options, out=tmp_path / "run")
    with pytest.raises(UsageError, match=message):
        shadowprobe.run("debiased", world, options={**options, **change}, out=tmp_path / "run")


def test_a_run_is_not_continued_with_another_priors_file(
    world: Dataset, stored: Callable[..., Path], tmp_path: Path
) -> None:
    options = {"of": "blend", "priors": str(stored())}
    shadowprobe.run("debiased", world, options=options, out=tmp_path / "run")
    stored(notes=["another"])
    with pytest.raises(UsageError, match="linker files priors is"):
        shadowprobe.run("debiased", world, options=options, out=tmp_path / "run")


def test_a_secret_option_of_the_inner_linker_reaches_no_file(world: Dataset, tmp_path: Path) -> None:
    source = MINE.replace('log: str = ""', 'key: str = "", log: str = ""')
    (tmp_path / "keyed.py").write_text(source, encoding="utf-8")
    options = {"of": "keyed.py:Mine", "of.key": "hunter2", "weight": "0.6"}
    shadowprobe.run("debiased", world, options=options, out=tmp_path / "run")
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or b"hunter2" not in path.read_bytes()


def scores_by_text(_: int, request: Asked) -> Reply:
    """A service that scores river and ship."""
    text = request.json["text"]
    river, ship = IN_TOP if "Anglers" in text else IN_SHADOW if "crew" in text else ELSEWHERE
    return 200, {}, json.dumps({"(river)": river, "(ship)": ship}).encode()


class Web(WebLinker):
    """A service behind a URL."""

    name = "web"
    batch_size: ClassVar[int] = 8

    def request(self, snippet: Snippet) -> Request:
        return Request("POST", self.url, json={"text": snippet.text})

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        ranked = sorted(response.json().items(), key=lambda pair: -pair[1])
        return self.ranked(snippet, [(f"{snippet.mention} {kind}", score) for kind, score in ranked])


def test_a_web_service_is_corrected_too(world: Dataset, tmp_path: Path) -> None:
    with serving(scores_by_text) as service:
        first = make_linking_job(DebiasedLinker(Web(service.url), weight=0.6), world, out=tmp_path / "run").run()
        # Four names in each template, and the 20 snippets of the dataset but for the tail, whose name is one more.
        assert len(service.requests) == (len(NAMES) + 1) * TEMPLATES + 21
    assert first.results["subsets"]["shadow"]["correct"] == 4
    assert first.results["subsets"]["top"]["correct"] == 4


def test_an_instance_is_resumed_only_with_the_same_inner_linker(world: Dataset, tmp_path: Path) -> None:
    first, same, other = (
        add_version(DebiasedLinker(Web(f"http://127.0.0.1:9/{path}"), weight=0.6)).version for path in "aab"
    )
    assert first == same != other


def test_every_case_of_check_holds() -> None:
    linker = make_linker("debiased", {"of": "blend", "weight": "0.5"})
    findings = list(check(linker, open_dataset("mini")))
    assert [finding for finding in findings if not finding.holds] == []
    assert findings[0].detail == "blend, weight 0.5"
