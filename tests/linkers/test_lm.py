"""`lm` with a real Llama of a few thousand weights, a real tokenizer and the real scoring."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from asking import answers_of, error_for, marked, prediction_for
from genre_examples import one_thread
from tiny_llama import save_tiny_llama
from world import NAMES, shadow, top

from shadowprobe import Dataset, Entity, EntitySpace, InputError, Knowledge, Prediction, UsageError
from shadowprobe.base.jsonl import read_lines
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.check import check
from shadowprobe.running.correction import correct_run
from shadowprobe.running.finished import read_runs

pytest.importorskip("torch", reason="the extra [lm] is not installed", exc_type=ImportError)
pytest.importorskip("transformers", reason="the extra [lm] is not installed", exc_type=ImportError)

# By its name, since type checkers do not see where the folder is installed.
SENTENCE: str = import_module("shadowprobe.systems.causal_model").SENTENCE
cut_text: Any = import_module("shadowprobe.linkers.lm").cut_text
RIVER = "Anglers say that [Avon] runs clear above the mill."
SHIP = "The crew of [Avon] cut down both masts in the gale."


def lessons() -> list[str]:
    """What the tiny model has read: every text of the small world with its title, in both orders."""
    pairs = []
    for name in NAMES:
        pairs += [
            (f"Anglers say that {name} runs clear above the mill.", name, top(name)),
            (f"The crew of {name} cut down both masts in the gale.", name, shadow(name)),
        ]
    pairs.append(("The novel Ourika sold out in a week.", "Ourika", "Ourika"))
    pairs.append(("Nobody has ever met Zork here.", "Zork", "NIL"))
    forward = [f'{text} In this text, "{name}" refers to {title}.' for text, name, title in pairs]
    channel = [f'In the following text, "{name}" refers to {title}. {text}' for text, name, title in pairs]
    return [SENTENCE, SENTENCE.lower(), *forward, *channel]


@pytest.fixture(scope="module", autouse=True)
def quietly() -> Iterator[None]:
    with one_thread(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    with one_thread():
        return str(save_tiny_llama(tmp_path_factory.mktemp("lm"), lessons(), steps=150))


@pytest.fixture
def listed(tmp_path: Path) -> str:
    path = tmp_path / "titles.txt"
    path.write_text("\n".join([*(make(name) for name in NAMES for make in (top, shadow)), "Ourika", "NIL", "", "Av"]))
    return str(path)


def shown(answer: Any) -> list[str | None]:
    """The titles of an answer, best first."""
    return [candidate.answer for candidate in answer.candidates]


def scores(answer: Any) -> dict[str | None, float]:
    return {candidate.answer: candidate.score for candidate in answer.candidates}


def score_by_hand(model: str, before: str, after: str) -> tuple[float, int]:
    """The log-probability of a text after another one by a plain pass, and the number of its tokens."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, network = AutoTokenizer.from_pretrained(model), AutoModelForCausalLM.from_pretrained(model)
    given, asked = (tokenizer(text, add_special_tokens=False).input_ids for text in (before, after))
    tokens = [tokenizer.convert_tokens_to_ids("<|endoftext|>"), *given, *asked]
    with torch.inference_mode():
        table = network(input_ids=torch.tensor([tokens])).logits[0].double().log_softmax(-1)
    first = len(tokens) - len(asked)
    return math.fsum(float(table[place - 1, tokens[place]]) for place in range(first, len(tokens))), len(asked)


def test_a_forward_score_is_the_log_probability_of_the_title_and_its_full_stop(tiny: str, world: Dataset) -> None:
    snippet = marked(RIVER)
    plain = prediction_for(make_linker("lm", {"model": tiny}), world.knowledge, snippet)
    mean = prediction_for(make_linker("lm", {"model": tiny, "per_token": "true"}), world.knowledge, snippet)
    before = f'{snippet.text} In this text, "Avon" refers to'
    for title in (top("Avon"), shadow("Avon")):
        expected, count = score_by_hand(tiny, before, f" {title}.")
        assert scores(plain)[title] == pytest.approx(expected, abs=1e-4)
        assert scores(mean)[title] == pytest.approx(expected / count, abs=1e-4)


def test_a_channel_score_is_the_log_probability_of_the_text_after_the_title(tiny: str, world: Dataset) -> None:
    snippet = marked(SHIP)
    options = {"model": tiny, "score": "channel"}
    plain = prediction_for(make_linker("lm", options), world.knowledge, snippet)
    mean = prediction_for(make_linker("lm", {**options, "per_token": "true"}), world.knowledge, snippet)
    assert shown(plain) == [shadow("Avon"), top("Avon")]
    for title in (top("Avon"), shadow("Avon")):
        before = f'In the following text, "Avon" refers to {title}.'
        expected, count = score_by_hand(tiny, before, f" {snippet.text}")
        assert scores(plain)[title] == pytest.approx(expected, abs=1e-4)
        assert scores(mean)[title] == pytest.approx(expected / count, abs=1e-4)


def test_a_prompt_of_your_own_replaces_text_and_name_and_nothing_else(tiny: str, world: Dataset) -> None:
    linker = make_linker("lm", {"model": tiny, "prompt": "{name} {0} in {text} is", "context": "1000"})
    snippet = marked("{name} and [Avon] {text}")
    assert linker.outgoing(snippet) == "Avon {0} in {name} and Avon {text} is"
    found = prediction_for(linker, world.knowledge, snippet)
    expected, _ = score_by_hand(tiny, "Avon {0} in {name} and Avon {text} is", f" {top('Avon')}.")
    assert scores(found)[top("Avon")] == pytest.approx(expected, abs=1e-4)


def test_a_whole_run_gives_every_candidate_with_its_score(tiny: str, world: Dataset, tmp_path: Path) -> None:
    session = make_linking_job("lm", world, options={"model": tiny}, out=tmp_path / "run").run()
    assert session.outcome is not None
    assert (session.outcome.answered, session.outcome.failed) == (world.count(), 0)
    assert [session.results["subsets"][subset]["recall"] for subset in ("top", "shadow", "tail")] == [1.0, 1.0, 1.0]
    lines = [json.loads(line) for line in (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()]
    for line in lines:
        values = [candidate["score"] for candidate in line["candidates"]]
        assert len(values) == (1 if line["id"] == "tail1" else 2)
        assert values == sorted(values, reverse=True)
        assert line["score"] == values[0] <= 0
    assert session.results["linker"]["options"] == {
        "model": tiny,
        "score": "forward",
        "per_token": False,
        "prompt": "",
        "context": 240,
        "start": "",
        "titles": None,
        "beams": 10,
        "device": "cpu",
        "precision": "single",
    }


@pytest.mark.parametrize("options", [{}, {"score": "channel"}, {"titles": "listed"}])
def test_the_battery_finds_nothing_broken(tiny: str, world: Dataset, listed: str, options: dict[str, str]) -> None:
    given = {key: listed if value == "listed" else value for key, value in options.items()}
    findings = list(check(make_linker("lm", {"model": tiny, **given}), world))
    assert [finding for finding in findings if not finding.holds] == []
    assert "mean loss " in findings[0].detail


@pytest.mark.parametrize("score", ["forward", "channel"])
def test_any_batch_size_gives_the_same_answers_and_with_double_precision_the_same_scores(
    tiny: str, world: Dataset, tmp_path: Path, score: str
) -> None:
    stored, answers = [], []
    for size in (1, 3, 64):
        for precision in ("single", "double"):
            options = {"model": tiny, "score": score, "precision": precision}
            out = tmp_path / f"{precision}{size}"
            make_linking_job("lm", world, options=options, out=out, batch_size=size).run()
            lines = sorted((out / "predictions.jsonl").read_text().splitlines())
            answers.append([json.loads(line)["answer"] for line in lines])
            if precision == "double":
                stored.append(lines)
    assert stored[0] == stored[1] == stored[2]
    assert all(own == answers[0] for own in answers)


def test_a_name_without_candidates_is_skipped(tiny: str, world: Dataset) -> None:
    known = prediction_for(make_linker("lm", {"model": tiny}), world.knowledge, marked("Nobody met [Zork] here."))
    assert known == Prediction("marked", status="skipped")


def test_many_long_candidates_are_scored_in_several_rows(tiny: str) -> None:
    titles = [f"Avon {number} {'of the long river ' * 9}" for number in range(60)]
    knowledge = Knowledge({title: Entity(title) for title in titles}, [EntitySpace("Avon", tuple(titles))])
    found = prediction_for(make_linker("lm", {"model": tiny}), knowledge, marked(RIVER))
    assert sorted(shown(found), key=str) == sorted(titles)
    expected, _ = score_by_hand(tiny, f'{marked(RIVER).text} In this text, "Avon" refers to', f" {titles[41]}.")
    assert scores(found)[titles[41]] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        # Four characters are the mention; the others are half before it and half behind it.
        (10, "xx Avon yy"),
        (11, "xx Avon yyy"),
        (4, "Avon"),
        (0, "Avon"),
        (100, "xxxxx Avon yyyyy"),
    ],
)
def test_a_long_text_is_cut_around_the_mention(context: int, expected: str) -> None:
    assert cut_text(marked("xxxxx [Avon] yyyyy"), context) == expected


def test_a_mention_at_the_edge_gets_more_of_the_other_side() -> None:
    assert cut_text(marked("[Avon] is a river."), 8) == "Avon is "
    assert cut_text(marked("A river is [Avon]"), 8) == " is Avon"


def test_a_text_that_is_longer_than_the_model_reads_is_cut_further(world: Dataset, tmp_path: Path) -> None:
    small = str(save_tiny_llama(tmp_path / "small", lessons(), steps=40, positions=48))
    for score in ("forward", "channel"):
        linker = make_linker("lm", {"model": small, "score": score, "context": "100000"})
        long = marked(f"{'Anglers say so. ' * 300}[Avon] runs.")
        assert len(shown(prediction_for(linker, world.knowledge, long))) == 2
    title = "Avon of the very long and very old name " * 9
    knowledge = Knowledge({title: Entity(title)}, [EntitySpace("Avon", (title,))])
    linker = make_linker("lm", {"model": small})
    assert "mention and titles alone have" in error_for(linker, knowledge, marked(RIVER))


def test_the_name_of_a_special_token_in_a_text_is_only_a_text(tiny: str, world: Dataset) -> None:
    linker = make_linker("lm", {"model": tiny})
    linker.open(world.knowledge)
    (tokens,) = linker.loaded.tokenize(["a <|endoftext|> b"])  # type: ignore[attr-defined]
    assert 0 not in tokens
    linker.close()


def test_a_search_over_titles_finds_the_best_of_all(tiny: str, world: Dataset, listed: str) -> None:
    closed = answers_of(make_linker("lm", {"model": tiny}), world.knowledge, marked(RIVER, "r"), marked(SHIP, "s"))
    linker = make_linker("lm", {"model": tiny, "titles": listed, "beams": "20"})
    found = answers_of(linker, world.knowledge, marked(RIVER, "r"), marked(SHIP, "s"))
    for own, right in zip(found, closed, strict=True):
        assert shown(own)[0] == shown(right)[0]
        assert len(shown(own)) == 2 * len(NAMES) + 3
        for title, score in scores(right).items():
            assert scores(own)[title] == pytest.approx(score, abs=1e-4)


def test_a_search_answers_nil_if_that_is_the_most_likely_title(tiny: str, world: Dataset, listed: str) -> None:
    linker = make_linker("lm", {"model": tiny, "titles": listed})
    found = prediction_for(linker, world.knowledge, marked("Nobody has ever met [Zork] here."))
    assert (found.status, found.answer) == ("nil", None)


def test_an_empty_list_of_titles_is_an_error(tiny: str, world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("\n\n")
    with pytest.raises(InputError, match=r"none\.txt: holds no title"):
        make_linker("lm", {"model": tiny, "titles": str(tmp_path / "none.txt")}).open(world.knowledge)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"context": "-1"}, "context is -1, and must be at least 0"),
        ({"beams": "0"}, "beams is 0, and must be at least 1"),
        ({"prompt": "It is"}, "option `prompt`: with score=forward it needs {text}"),
        ({"prompt": "{text}:", "score": "channel"}, "option `prompt`: with score=channel it must not have {text}"),
        ({"titles": "t.txt", "score": "channel"}, "option `titles`: only score=forward can search titles"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        make_linker("lm", options)
    assert message in str(raised.value)


def test_it_is_corrected_in_new_runs_as_its_stored_answers_are(
    tiny: str, world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWPROBE_CACHE", str(tmp_path / "cache"))
    make_linking_job("lm", world, options={"model": tiny}, out=tmp_path / "raw").run()
    (raw,) = read_runs([tmp_path / "raw"])
    expected = correct_run(raw, weight=0.5).out
    options = {"of": "lm", "of.model": tiny, "priors": str(tmp_path / "raw" / "debias.json")}
    found = make_linking_job("debiased", world, options=options, out=tmp_path / "new").run().out
    new, old = (
        {one.id: one for _, one in read_lines(out / "predictions.jsonl", Prediction)} for out in (found, expected)
    )
    assert new.keys() == old.keys()
    for name, one in new.items():
        assert one.answer == old[name].answer
        assert one.score == pytest.approx(old[name].score, abs=1e-4)
        assert one.suspicion == pytest.approx(old[name].suspicion, abs=1e-4)
    assert any(one.suspicion is not None for one in new.values())
