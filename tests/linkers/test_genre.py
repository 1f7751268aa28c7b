"""GENRE's wrapper with a real BART of a few thousand weights, the real tokenizers and the real beam search."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import genre_examples
import pytest
from asking import answers_of, marked
from genre_examples import EXAMPLES, MERCURY, ODD, TWICE, UNKNOWN, ask, titles
from world import NAMES

from shadowprobe import Dataset, Entity, EntitySpace, Failure, Knowledge, LinkerError, Prediction, UsageError
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.check import check

pytest.importorskip("torch", reason="the extra [genre] is not installed", exc_type=ImportError)
pytest.importorskip("transformers", reason="the extra [genre] is not installed", exc_type=ImportError)

quietly = genre_examples.quietly
trained = genre_examples.trained
untrained = genre_examples.untrained
mercury = genre_examples.mercury
listed = genre_examples.listed


def test_a_right_answer_is_a_title_with_a_score_and_all_candidates(trained: Path, world: Dataset) -> None:
    river = marked("Anglers say that [Avon] runs clear above the mill.", "river")
    ship = marked("The crew of [Avon] cut down both masts in the gale.", "ship")
    found = ask(trained, world.knowledge, river, ship)
    assert [titles(answer) for answer in found] == [["Avon (river)", "Avon (ship)"], ["Avon (ship)", "Avon (river)"]]
    for answer in found:
        assert isinstance(answer, Prediction)
        assert (answer.status, answer.answer) == ("linked", answer.candidates[0].answer)
        assert answer.score is not None
        assert answer.score == answer.candidates[0].score
        assert 0.9 < answer.score <= 1
        assert 0 < (answer.candidates[1].score or 0) < 0.5


def test_a_whole_run(trained: Path, world: Dataset, tmp_path: Path) -> None:
    session = make_linking_job("genre", world, options={"model": str(trained)}, out=tmp_path / "run").run()
    assert session.outcome is not None
    assert (session.outcome.answered, session.outcome.failed) == (world.count(), 0)
    assert [session.results["subsets"][subset]["recall"] for subset in ("top", "shadow", "tail")] == [1.0, 1.0, 1.0]
    assert session.results["linker"]["options"] == {
        "model": str(trained),
        "device": "cpu",
        "titles": None,
        "beams": 10,
        "max_words": 384,
        "max_tokens": 15,
        "score": "exp-mean",
        "precision": "double",
    }


def test_the_battery_finds_nothing_broken(trained: Path, world: Dataset) -> None:
    findings = list(check(make_linker("genre", {"model": str(trained)}), world))
    assert [finding for finding in findings if not finding.holds] == []
    assert "-> Avon (river), score 0.9" in findings[1].detail


def test_the_battery_holds_for_a_list_of_titles_too(trained: Path, world: Dataset, listed: Path) -> None:
    options = {"model": str(trained), "titles": str(listed), "beams": "2"}
    findings = list(check(make_linker("genre", options), world))
    assert [finding for finding in findings if not finding.holds] == []


def test_a_name_without_candidates_is_nil_and_none_is_skipped(trained: Path, world: Dataset) -> None:
    found = ask(trained, world.knowledge, marked(UNKNOWN), *world.snippets("neutral"))
    assert found[0] == Prediction("marked", status="nil")
    assert {getattr(answer, "status", None) for answer in found[1:]} == {"linked"}


def test_with_a_list_it_is_nil_where_the_model_writes_so(trained: Path, world: Dataset, listed: Path) -> None:
    (found,) = ask(trained, world.knowledge, marked(UNKNOWN), titles=listed)
    assert isinstance(found, Prediction)
    assert (found.status, found.answer) == ("nil", None)
    assert found.score is not None
    assert found.score > 0.9


@pytest.mark.parametrize(("text", "title"), [*TWICE.items(), *ODD.items()])
def test_a_name_that_stands_twice_and_characters_of_all_kinds(
    trained: Path, world: Dataset, text: str, title: str
) -> None:
    (found,) = ask(trained, world.knowledge, marked(text))
    assert titles(found)[0] == title


@pytest.mark.parametrize("title", MERCURY)
def test_every_candidate_can_win_and_all_come_back(trained: Path, mercury: Knowledge, title: str) -> None:
    for beams in (len(MERCURY), 10):
        (found,) = ask(trained, mercury, marked(MERCURY[title]), beams=beams)
        assert titles(found)[0] == title
        assert set(titles(found)) == set(MERCURY)


def test_titles_of_more_than_15_tokens_are_left_out_as_in_genres_own_evaluation(
    trained: Path, mercury: Knowledge, listed: Path
) -> None:
    # Only the treatise is longer.
    treatise = next(title for title in MERCURY if len(title) > 50)
    for options in ({}, {"titles": str(listed)}):
        linker = make_linker("genre", {"model": str(trained), "beams": "30", **options})
        (found,) = answers_of(linker, mercury, marked(MERCURY[treatise]))
        assert treatise not in titles(found)
        assert set(titles(found)) >= set(MERCURY) - {treatise}
        assert linker.notes == ["titles of more than 15 tokens were left out: see the option max_tokens"]
    (found,) = ask(trained, mercury, marked(MERCURY[treatise]), max_tokens=127)
    assert titles(found)[0] == treatise


def test_the_limit_counts_the_tokens_of_a_title_without_its_end(trained: Path) -> None:
    from transformers import AutoTokenizer

    size = len(AutoTokenizer.from_pretrained(trained)("Mercury (planet)", add_special_tokens=False).input_ids)
    known = Knowledge({"Mercury (planet)": Entity("Mercury (planet)")}, [EntitySpace("Mercury", ("Mercury (planet)",))])
    asked = marked(MERCURY["Mercury (planet)"])
    (found,) = ask(trained, known, asked, max_tokens=size)
    assert titles(found) == ["Mercury (planet)"]
    # Without a single title there is nothing to answer, as for a name without candidates.
    (found,) = ask(trained, known, asked, max_tokens=size - 1)
    assert isinstance(found, Prediction)
    assert found.status == "nil"


@pytest.mark.parametrize("title", MERCURY)
@pytest.mark.parametrize("beams", [1, 2])
def test_every_listed_title_can_win_with_few_beams(
    trained: Path, mercury: Knowledge, listed: Path, title: str, beams: int
) -> None:
    (found,) = ask(trained, mercury, marked(MERCURY[title]), beams=beams, titles=listed)
    assert titles(found)[0] == title
    assert len(titles(found)) == beams


@pytest.mark.parametrize("beams", [1, 2, 3, 7, 16, 30])
def test_no_search_leaves_the_list(untrained: Path, world: Dataset, listed: Path, beams: int) -> None:
    allowed = {title for _, title in EXAMPLES} - {"NIL"}
    listed.write_text("\n".join(sorted(allowed)), encoding="utf-8")
    for answer in ask(untrained, world.knowledge, *world.snippets("top", "neutral"), beams=beams, titles=listed):
        found = titles(answer)
        assert len(found) == len(set(found)) == min(beams, len(allowed))
        assert set(found) <= allowed


def test_options_that_cannot_be_are_refused() -> None:
    known = "mean-log-prob, exp-mean, path-prob, beam-softmax"
    with pytest.raises(UsageError, match=f"option `score`: 'logit' is not one of {known}"):
        make_linker("genre", {"score": "logit"})
    with pytest.raises(UsageError, match="beams is 0, and must be at least 1"):
        make_linker("genre", {"beams": "0"})
    with pytest.raises(UsageError, match="max_words is -1, and must be at least 0"):
        make_linker("genre", {"max_words": "-1"})
    with pytest.raises(UsageError, match="max_tokens is 0, and must be at least 1"):
        make_linker("genre", {"max_tokens": "0"})
    least: Any = make_linker("genre", {"beams": "1", "max_words": "0", "max_tokens": "1"})
    assert (least.beams, least.max_words, least.max_tokens) == (1, 0, 1)


@pytest.mark.parametrize(("beams", "listing"), [(2, True), (10, False)])
def test_any_batch_size_gives_the_same_answers_and_scores(
    untrained: Path, world: Dataset, tmp_path: Path, listed: Path, beams: int, listing: bool
) -> None:
    options = {"model": str(untrained), "beams": str(beams)} | ({"titles": str(listed)} if listing else {})
    stored = []
    for size in (1, 2, 5):
        make_linking_job("genre", world, options=options, out=tmp_path / str(size), batch_size=size).run()
        stored.append((tmp_path / str(size) / "predictions.jsonl").read_bytes())
    assert stored[0] == stored[1] == stored[2]


def test_a_neighbour_with_more_and_longer_candidates_changes_nothing(untrained: Path, mercury: Knowledge) -> None:
    known = Knowledge(
        {**mercury.entities, "Io": Entity("Io"), "Io (moon)": Entity("Io (moon)")},
        [*mercury.spaces, EntitySpace("Io", ("Io", "Io (moon)"))],
    )
    short, long = marked("See [Io].", "short"), marked(f"{'Craters cover it. ' * 9}[Mercury] is far.", "long")
    alone = [*ask(untrained, known, short), *ask(untrained, known, long)]
    assert ask(untrained, known, short, long) == alone
    assert [len(titles(answer)) for answer in alone] == [2, len(MERCURY)]


def test_a_search_with_few_beams_does_not_see_how_long_its_neighbours_are(
    trained: Path, world: Dataset, listed: Path
) -> None:
    short = [marked(text, text) for text, title in EXAMPLES if title != "NIL"]
    long = marked(f"{'Craters cover it. ' * 20}[Avon] is far.", "long")
    alone = [answer for snippet in short for answer in ask(trained, world.knowledge, snippet, beams=2, titles=listed)]
    assert ask(trained, world.knowledge, *short, long, beams=2, titles=listed)[:-1] == alone


def test_single_precision_gives_the_same_answers(trained: Path, world: Dataset) -> None:
    snippets = list(world.snippets("top", "shadow"))
    double, single = (ask(trained, world.knowledge, *snippets, precision=kind) for kind in ("double", "single"))
    assert [titles(answer) for answer in single] == [titles(answer) for answer in double]


def test_a_model_with_damaged_weights_answers_nothing(trained: Path, world: Dataset, tmp_path: Path) -> None:
    from transformers import AutoTokenizer, BartForConditionalGeneration

    damaged = tmp_path / "damaged"
    bart: Any = BartForConditionalGeneration.from_pretrained(trained)
    bart.model.decoder.layernorm_embedding.weight.data.fill_(math.nan)
    bart.generation_config.early_stopping = False
    bart.save_pretrained(damaged)
    AutoTokenizer.from_pretrained(trained).save_pretrained(damaged)
    found = ask(damaged, world.knowledge, *world.snippets("top"))
    assert {answer.error for answer in found if isinstance(answer, Failure)} == {
        f"`{damaged}` wrote no title at all: its weights may be damaged"
    }
    assert len(found) == len(NAMES)


def test_a_model_that_is_not_there_is_named_in_one_line(world: Dataset, tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match=r"cannot load the model .*; give a directory .* -o model=DIR") as error:
        ask(tmp_path / "nothing", world.knowledge)
    assert "\n" not in str(error.value)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(LinkerError, match="cannot load the model") as error:
        ask(tmp_path, world.knowledge)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_without_its_extra_it_says_what_to_type(world: Dataset, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(LinkerError, match=r"`genre` needs its extra: pip install 'shadowprobe\[genre\]'"):
        ask(Path("any"), world.knowledge)
