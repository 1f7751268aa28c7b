"""The linker `debiased` around a linker whose scores a test sets: which scores it takes, and what it asks."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest
from world import shadow, top

from shadowprobe import Dataset, Entity, EntitySpace, Knowledge, Linker, LinkerError, Prediction, Snippet

# By its name, since type checkers do not see where the folder is installed.
DebiasedLinker: Any = import_module("shadowprobe.linkers.debiased").DebiasedLinker
AVON = Snippet("a", "all", "The crew of Avon sang.", 12, 16)


class Inner(Linker):
    """Gives the first two candidates of a name fixed scores, others in the context of a crew; without a cache."""

    name = "inner"
    howto = "start it"
    batch_size: ClassVar[int] = 3

    def __init__(self, neutral: tuple[float, ...] = (-1.0, -3.0), context: tuple[float, ...] = (-1.0, -2.0)) -> None:
        self.neutral, self.context = neutral, context
        self.mentions: list[str] = []
        self.closings = 0

    def close(self) -> None:
        self.closings += 1

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        self.note("the inner linker has a remark")
        self.mentions += [snippet.mention for snippet in snippets]
        return [self._link_one(snippet) for snippet in snippets]

    def _link_one(self, snippet: Snippet) -> Prediction:
        scores = self.context if "crew" in snippet.text else self.neutral
        if not scores:
            return self.nil(snippet)
        return self.ranked(snippet, list(zip(self.knowledge.candidates_of(snippet), scores, strict=False)))


def opened(dataset: Dataset, inner: Inner, **options: Any) -> Any:
    linker = DebiasedLinker(inner, **{"weight": 0.5, **options})
    linker.open(dataset.knowledge)
    return linker


@pytest.mark.parametrize(("weight", "is_allowed"), [(-0.01, False), (0.0, True), (1.0, True), (1.01, False)])
def test_a_weight_is_from_0_to_1(weight: float, is_allowed: bool) -> None:
    if is_allowed:
        assert DebiasedLinker(Inner(), weight=weight).weight == weight
    else:
        with pytest.raises(ValueError, match=r"weight is .*, and must be from 0 \(no correction\) to 1"):
            DebiasedLinker(Inner(), weight=weight)


def test_it_works_as_the_inner_linker_does() -> None:
    linker = DebiasedLinker(Inner(), weight=0.5)
    assert (linker.batch_size, linker.howto, linker.sees_gold) == (3, "start it", False)


def test_the_inner_linker_is_closed_with_it_and_if_it_cannot_start(world: Dataset) -> None:
    inner = Inner()
    linker = opened(world, inner)
    assert inner.closings == 0
    linker.close()
    assert inner.closings == 1
    silent = Inner(neutral=())
    with pytest.raises(LinkerError, match="`inner` cannot be corrected"):
        opened(world, silent)
    assert silent.closings == 1


def test_only_ambiguous_names_show_what_the_scores_are_and_16_are_enough() -> None:
    names = [f"Town{number:02d}" for number in range(20)]
    entities = {title: Entity(title) for name in names for title in (top(name), shadow(name))}
    spaces = [EntitySpace("Alone", (top("Town00"),)), *(EntitySpace(name, (top(name), shadow(name))) for name in names)]
    inner = Inner()
    DebiasedLinker(inner, weight=0.5).open(Knowledge(entities, spaces))
    assert set(inner.mentions) == set(names[:16])


def test_what_the_inner_linker_notes_is_noted_before_the_first_answer(world: Dataset) -> None:
    assert opened(world, Inner()).notes == ["the inner linker has a remark"]


def test_an_answer_without_a_choice_needs_no_prior(world: Dataset) -> None:
    for inner in (Inner(context=()), Inner(context=(-1.0,))):
        linker = opened(world, inner, scale="log")
        # Every name of the dataset has priors from the start, and this one has not.
        asked = Snippet("a", "all", "The crew of Avon sang.", 12, 16, space="Aven")
        inner.mentions.clear()
        (given,) = linker.link([asked])
        assert (given.status, inner.mentions) == ("linked" if inner.context else "nil", ["Avon"])


def test_a_prediction_that_was_not_asked_for_is_passed_on(world: Dataset) -> None:
    class Talkative(Inner):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            return [*super().link(snippets), Prediction("x", answer="Elbe")]

    found = {one.id: one for one in opened(world, Talkative()).link([AVON])}
    assert set(found) == {"a", "x"}
    assert found["x"] == Prediction("x", answer="Elbe")


@pytest.mark.parametrize(
    ("neutral", "context", "message"),
    [
        ((0.75, 0.25), (0.5, 0.5), None),
        ((0.75, 0.25), (1.0, 0.0), None),
        (
            (0.75, 0.25),
            (1.5, 0.5),
            "gives a score of 1.5, and in neutral contexts its scores looked like probabilities",
        ),
        ((0.75, 0.25), (0.5, -0.5), "gives a score of -0.5, and in neutral contexts its scores looked like probab"),
        ((-1.0, -3.0), (0.0, -3.0), None),
        ((-1.0, -3.0), (0.5, -3.0), "gives a score of 0.5, and in neutral contexts its scores looked like logarithms"),
        # Nothing is refused that was not taken for one of the two.
        ((5.0, 2.0), (70.0, -3.0), None),
    ],
)
def test_scores_must_stay_what_they_looked_like(
    world: Dataset, neutral: tuple[float, ...], context: tuple[float, ...], message: str | None
) -> None:
    linker = opened(world, Inner(neutral, context))
    if message is None:
        assert linker.link([AVON])[0].suspicion is not None
    else:
        with pytest.raises(LinkerError, match=message):
            linker.link([AVON])


def test_a_probability_that_the_user_vouches_for_is_not_below_0(world: Dataset) -> None:
    fine = opened(world, Inner((0.75, 0.25), (0.5, 0.0)), scale="probability")
    assert fine.link([AVON])[0].suspicion is not None
    # Even above 1: it need not be normalised.
    assert opened(world, Inner((0.75, 0.25), (2.0, 0.5)), scale="probability").link([AVON])
    wrong = opened(world, Inner((0.75, 0.25), (0.5, -0.5)), scale="probability")
    with pytest.raises(LinkerError, match=r"gives a score of -0\.5, and a probability is not below 0"):
        wrong.link([AVON])


@pytest.mark.parametrize(
    ("weight", "kind", "notes"),
    [
        (0.25, "log", ["the weight is 0.25, as {} says"]),
        (0.0, "log", ["{} says that the correction is not worth it; its weight is 0, and no answer changes"]),
        (
            0.25,
            "probability",
            [
                "the weight is 0.25, as {} says",
                "the scores are probabilities; the correction takes their logarithms",
            ],
        ),
    ],
)
def test_stored_priors_have_a_weight_and_a_scale_that_are_noted(
    world: Dataset, tmp_path: Path, weight: float, kind: str, notes: list[str]
) -> None:
    path = tmp_path / "debias.json"
    stored = {"schema": 1, "linker": {"name": "inner"}, "weight": weight, "scale": {"kind": kind, "spread": 1.0}}
    path.write_text(json.dumps({**stored, "priors": {"Avon": {top("Avon"): -1.0, shadow("Avon"): -3.0}}}))
    inner = Inner()
    linker = opened(world, inner, weight=None, priors=path)
    assert linker.notes == [note.format(path) for note in notes]
    assert linker.ready() == f"inner, weight {weight:g}"
    assert inner.mentions == []
