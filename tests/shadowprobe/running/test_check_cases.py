"""What the battery asks a linker, snippet by snippet, and what it says of the answers."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from world import NAMES

from shadowprobe import Candidate, Card, Dataset, Entity, Failure, Linker, Prediction, Snippet, write_dataset
from shadowprobe.running.check import Finding, check
from shadowprobe.systems.linker import Given

# Four of each subset, of which Tail has one: in the order of the dataset.
SAMPLE = [
    *(f"t{name}" for name in NAMES),
    *(f"s{name}" for name in NAMES),
    "tail1",
    "nAvon1",
    "nAvon2",
    "nAvon3",
    "nBerg1",
]
TWICE = "the name twice: each of the two can be asked for"
ASTRAL = "characters beyond the BMP before the mention"
EDGES = "mention at the very start and at the very end"
UNKNOWN = "an unknown name: NIL or skipped, or an answer, but no crash"
SCORES = "scores are finite, candidates fall from the best"
KNOWN = "answers are entities that the dataset knows"


class Watched(Linker):
    """Keeps what it is asked, and answers with the first candidate; it knows no name that the dataset does not."""

    name = "watched"

    def __init__(self) -> None:
        self.batches: list[list[Snippet]] = []

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        self.batches.append(list(snippets))
        return [self.one(snippet) for snippet in snippets]

    def one(self, snippet: Snippet) -> Prediction:
        found = self.knowledge.candidates(snippet.mention)
        return self.answer(snippet, found[0]) if found else self.skip(snippet)


def details(linker: Linker, dataset: Dataset) -> dict[str, Finding]:
    return {finding.what: finding for finding in check(linker, dataset)}


@pytest.fixture
def asked(world: Dataset) -> list[list[Snippet]]:
    linker = Watched()
    assert all(finding.holds for finding in check(linker, world))
    return linker.batches


def test_a_few_snippets_of_each_subset_are_asked_without_their_gold(asked: list[list[Snippet]]) -> None:
    whole = next(batch for batch in asked if len(batch) > 1)
    assert [snippet.id for snippet in whole] == SAMPLE
    assert {(snippet.gold, snippet.subset) for snippet in whole} == {(None, "all")}


def test_batches_of_every_size_and_the_reverse_order_are_asked(asked: list[list[Snippet]]) -> None:
    ids = [[snippet.id for snippet in batch] for batch in asked]
    for size in (1, 2, 5):
        parts = [SAMPLE[start : start + size] for start in range(0, len(SAMPLE), size)]
        assert any(ids[place : place + len(parts)] == parts for place in range(len(ids)))
    assert SAMPLE[::-1] in ids


def made(asked: list[list[Snippet]]) -> dict[str, tuple[str, str, int]]:
    """The text, the mention and its start of every snippet that the battery made itself."""
    every = (snippet for batch in asked for snippet in batch if snippet.id.startswith("check-"))
    return {snippet.id: (snippet.text, snippet.mention, snippet.start) for snippet in every}


def test_mentions_stand_where_wrappers_go_wrong(asked: list[list[Snippet]]) -> None:
    flows = "Anglers say that Avon runs clear above the mill."
    unknown = "Qwyzzlethorp Vandermuckle"
    assert made(asked) == {
        # After "Anglers say that " and after the whole sentence and a blank.
        "check-first": (f"{flows} Avon.", "Avon", 17),
        "check-second": (f"{flows} Avon.", "Avon", len(flows) + 1),
        # Two characters, each of them two units in UTF-16, and a blank.
        "check-astral": (f"\N{CLAPPER BOARD}\N{MATHEMATICAL BOLD CAPITAL A} {flows}", "Avon", 20),
        "check-bare": ("Avon", "Avon", 0),
        "check-start": ("Avon was named first.", "Avon", 0),
        "check-end": ("Last came Avon", "Avon", 10),
        "check-unknown": (f"Nobody has ever heard of {unknown} before.", unknown, 25),
    }


def test_a_linker_that_sees_gold_gets_it(world: Dataset) -> None:
    class Sees(Watched):
        sees_gold = True

    linker = Sees()
    assert all(finding.holds for finding in check(linker, world))
    first = next(batch[0] for batch in linker.batches if batch)
    assert (first.gold, first.subset) == ("Avon (river)", "top")


def test_the_details_say_what_was_seen(world: Dataset) -> None:
    found = {what: finding.detail for what, finding in details(Watched(), world).items()}
    assert found["it answers"] == (
        "...Anglers say that [Avon] runs clear above the mill.... -> Avon (river), resolved by title"
    )
    assert found["a prediction for every snippet, none besides"] == "13 of 13"
    assert found["the same answers for any batch size"] == "sizes 1, 2, 5 and all"
    assert found[ASTRAL] == "Avon (river)"
    assert found[UNKNOWN] == "skipped"
    assert found[SCORES] == "0 of 13 with a score, 0 with candidates"
    assert found[KNOWN] == "13 of 13"


def test_scores_candidates_and_unknown_answers_are_counted(world: Dataset) -> None:
    class Scores(Watched):
        def one(self, snippet: Snippet) -> Prediction:
            if snippet.mention not in NAMES:
                return self.answer(snippet, "Atlantis", 0.123456)
            better, worse = Candidate("Avon (river)", score=0.5), Candidate("Avon (ship)", score=0.5)
            return self.answer(snippet, "Avon (river)", candidates=(better, worse))

    found = {what: finding.detail for what, finding in details(Scores(), world).items()}
    # The one of Tail has a score and is unknown; the others have candidates of equal scores, which is allowed.
    assert found[SCORES] == "1 of 13 with a score, 12 with candidates"
    assert found[KNOWN] == "12 of 13"
    assert found[UNKNOWN] == "answered with Atlantis"


def test_the_first_answer_is_shown_with_its_score_and_whether_it_is_known(world: Dataset) -> None:
    class Elsewhere(Watched):
        def one(self, snippet: Snippet) -> Prediction:
            return self.answer(snippet, "Atlantis", 0.123456)

    found = details(Elsewhere(), world)
    assert found["it answers"].detail.endswith("-> Atlantis, score 0.1235, unknown to the dataset")
    assert (found[KNOWN].holds, found[KNOWN].detail) == (
        False,
        "none of 13, such as 'Atlantis': titles of another wiki, or ids it does not have?",
    )


def test_a_mention_that_is_lost_beside_another_or_behind_astral_characters_is_shown(world: Dataset) -> None:
    class Moved(Watched):
        def one(self, snippet: Snippet) -> Prediction:
            return self.skip(snippet) if snippet.id.startswith("check-") else super().one(snippet)

    found = details(Moved(), world)
    assert not found[TWICE].holds
    assert found[TWICE].detail == (
        "...Anglers say that [Avon] runs clear above the mill.... is answered, and with the name once more"
        " behind it the first is skipped: is it looked for in the text, and not where its offsets say?"
    )
    assert found[ASTRAL].detail.endswith(
        "is answered, and behind such characters it is skipped: are its offsets code points, or does the system count"
        " otherwise?"
    )


def test_a_long_context_is_cut_to_30_characters_on_both_sides(tmp_path: Path) -> None:
    text = f"{'a' * 31} Avon {'b' * 31}"
    snippet = Snippet("x", "all", text, 32, 36, gold="Avon")
    dataset = write_dataset(tmp_path / "long", Card(name="long"), [Entity("Avon")], [], {"all": [snippet]})
    shown = details(Watched(), dataset)["it answers"].detail
    assert shown.startswith(f"...{'a' * 29} [Avon] {'b' * 29}... -> ")


def test_the_second_of_two_names_must_be_answered_too(world: Dataset) -> None:
    class First(Watched):
        def one(self, snippet: Snippet) -> Prediction:
            return self.skip(snippet) if snippet.id == "check-second" else super().one(snippet)

    assert "behind it the second is skipped" in details(First(), world)[TWICE].detail


def test_nil_is_an_answer_to_the_second_of_two_names_but_not_behind_astral_characters(world: Dataset) -> None:
    class Nil(Watched):
        def one(self, snippet: Snippet) -> Prediction:
            return self.nil(snippet) if snippet.id.startswith("check-") else super().one(snippet)

    found = details(Nil(), world)
    assert found[TWICE].holds
    assert not found[ASTRAL].holds
    assert "it is nil" in found[ASTRAL].detail
    assert found[UNKNOWN].detail == "nil"


def test_answers_that_change_with_the_batch_or_the_order_are_shown_with_both(world: Dataset) -> None:
    class Changes(Watched):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            found = super().link(snippets)
            if len(snippets) == 5 or (len(snippets) == 13 and snippets[0].id != "tAvon"):
                found[0] = self.skip(snippets[0])
            return found

    found = details(Changes(), world)
    assert found["the same answers for any batch size"].detail == ("tAvon: Avon (river), but skipped in size 5")
    assert found["the same answers in any order"].detail == ("nBerg1: Berg (river), but skipped in the reverse order")


@pytest.mark.parametrize(
    ("key", "prefix", "shown"), [("answer", "Atlantis ", "'Atlantis 1'"), ("qid", "Q", "'Q1'"), ("page_id", "", "1")]
)
def test_the_first_of_answers_that_nobody_knows_is_shown_by_any_key(
    world: Dataset, key: str, prefix: str, shown: str
) -> None:
    class Elsewhere(Watched):
        """Numbers the snippets as they come, and answers with something of that number."""

        def one(self, snippet: Snippet) -> Prediction:
            number = self.numbers.setdefault(snippet.id, len(self.numbers) + 1)
            return Prediction(snippet.id, **{key: f"{prefix}{number}" if prefix else number})  # type: ignore[arg-type]

        numbers: ClassVar[dict[str, int]] = {}

    found = details(Elsewhere(), world)
    assert f"none of 13, such as {shown}: titles of another wiki" in found[KNOWN].detail
    assert found["it answers"].detail.endswith(f"-> {shown.strip(chr(39))}, unknown to the dataset")


def test_a_prediction_that_is_invalid_and_a_failure_are_shown_with_their_snippet(world: Dataset) -> None:
    class Invalid(Watched):
        def one(self, snippet: Snippet) -> Prediction:
            return Prediction(snippet.id, page_id=0)

    class Failing(Linker):
        name = "failing"

        def link(self, snippets: list[Snippet]) -> list[Given]:
            return [Failure(snippet.id, "time-out") for snippet in snippets]

    assert "tAvon: `page_id` 0 is not a page id" in details(Invalid(), world)["it answers"].detail
    assert "tAvon: time-out" in details(Failing(), world)["it answers"].detail
