"""GENRE's scores, worked out once more from plain passes of the model."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path
from typing import Any

import genre_examples
import pytest
from asking import marked
from genre_examples import MERCURY, ask, titles
from tiny_bart import END, with_markers

from shadowprobe import Knowledge, Prediction, UsageError
from shadowprobe.plugins import make_linker

torch: Any = pytest.importorskip("torch", reason="the extra [genre] is not installed", exc_type=ImportError)
pytest.importorskip("transformers", reason="the extra [genre] is not installed", exc_type=ImportError)

quietly = genre_examples.quietly
trained = genre_examples.trained
untrained = genre_examples.untrained
mercury = genre_examples.mercury

# By its name, since type checkers do not see where the folder is installed.
genre: Any = import_module("shadowprobe.linkers.genre")


def by_hand(model: Path, text: str, title: str) -> list[float]:
    """The log-probability of each token of a title and of its end, one plain pass of the model for each."""
    from transformers import BartForConditionalGeneration, PreTrainedTokenizerFast

    tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(model)
    bart: Any = BartForConditionalGeneration.from_pretrained(model)
    bart.double().eval()
    read = torch.tensor([tokenizer.encode(with_markers(text))])
    written, found = [END], []
    for token in tokenizer.encode(title)[1:]:
        with torch.no_grad():
            logits = bart(input_ids=read, decoder_input_ids=torch.tensor([written])).logits[0, -1].tolist()
        found.append(logits[token] - math.log(math.fsum(math.exp(logit) for logit in logits)))
        written.append(token)
    return found


@pytest.mark.parametrize("model", ["trained", "untrained"])
def test_a_score_is_the_mean_log_probability_of_the_tokens(
    model: str, mercury: Knowledge, request: pytest.FixtureRequest
) -> None:
    path, text = request.getfixturevalue(model), "They sang [Mercury] in a round."
    (found,) = ask(path, mercury, marked(text), score="mean-log-prob")
    assert isinstance(found, Prediction)
    expected = {title: by_hand(path, text, title) for title in MERCURY}
    means = {title: math.fsum(tokens) / len(tokens) for title, tokens in expected.items()}
    assert {c.answer: c.score for c in found.candidates} == pytest.approx(means, rel=1e-5)
    assert titles(found) == sorted(means, key=lambda title: -means[title])


def test_the_four_scores_of_the_two_titles_of_a_search() -> None:
    # An eighth in three tokens is a half for each; a sixteenth in two tokens is a quarter for each.
    one, two = genre.GeneratedTitle("one", math.log(1 / 8), 3), genre.GeneratedTitle("two", math.log(1 / 16), 2)
    worked_out = {
        "mean-log-prob": (math.log(1 / 2), math.log(1 / 4)),
        "exp-mean": (1 / 2, 1 / 4),
        "path-prob": (1 / 8, 1 / 16),
        # Of three sixteenths the one has two.
        "beam-softmax": (2 / 3, 1 / 3),
    }
    found = {name: (score(one, [one, two]), score(two, [one, two])) for name, score in genre.SCORES.items()}
    assert found.keys() == worked_out.keys()
    for name, scores in worked_out.items():
        assert found[name] == pytest.approx(scores)


def test_every_score_keeps_the_ranking_and_is_worked_out_from_the_same_tokens(
    untrained: Path, mercury: Knowledge
) -> None:
    text = MERCURY["Mercury"]
    tokens = {title: by_hand(untrained, text, title) for title in MERCURY}
    ranking = sorted(MERCURY, key=lambda title: -math.fsum(tokens[title]) / len(tokens[title]))
    best = tokens[ranking[0]]
    paths = [math.exp(math.fsum(found)) for found in tokens.values()]
    expected = {
        "mean-log-prob": math.fsum(best) / len(best),
        "exp-mean": math.prod(map(math.exp, best)) ** (1 / len(best)),
        "path-prob": math.exp(math.fsum(best)),
        "beam-softmax": math.exp(math.fsum(best)) / math.fsum(paths),
    }
    for score, value in expected.items():
        (found,) = ask(untrained, mercury, marked(text), score=score)
        assert isinstance(found, Prediction)
        assert titles(found) == ranking
        assert found.score == pytest.approx(value, rel=1e-5)


def test_only_scores_that_fall_with_the_ranking_are_given_to_candidates(untrained: Path, mercury: Knowledge) -> None:
    for score, given in (("mean-log-prob", True), ("exp-mean", True), ("path-prob", False), ("beam-softmax", False)):
        (found,) = ask(untrained, mercury, marked(MERCURY["Mercury"]), score=score)
        assert isinstance(found, Prediction)
        assert {candidate.score is not None for candidate in found.candidates} == {given}


def test_a_score_over_the_whole_run_is_refused_with_the_reason() -> None:
    with pytest.raises(UsageError, match=r"min-max needs every score of a run .*; use mean-log-prob, which orders"):
        make_linker("genre", {"score": "min-max"})
