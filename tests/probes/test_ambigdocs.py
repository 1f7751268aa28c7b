"""Recall and the five kinds of answers, on outputs worked out by hand."""

from __future__ import annotations

import pytest
from namesake_sets import AVON, AVON_SAID, BERG, BERG_SAID, COMO, COMO_SAID, SETS, ambig_set

from shadowprobe.measure.probe import Findings
from shadowprobe.measure.query_probes import AnswerProbe
from shadowprobe.measure.statistics import ROUNDS, SEED
from shadowprobe.plugins import make_retrieval_probe
from shadowprobe.queries.ambigdocs_sets import AmbigSet
from shadowprobe.queries.document_order import DocumentOrder, Order

RECALLS = ("answer_recall", "entity_recall", "entity_answer_recall")
JUDGES = ambig_set(
    "judges",
    "Judge Day",
    ("Charles Bernard Day", "Alabama"),
    ("Edward William Day", "Rhode Island"),
    ("William Louis Day", "Ohio"),
    question="What is the state where Judge Day was born?",
)


def probe(rounds: int = ROUNDS) -> AnswerProbe:
    made = make_retrieval_probe("shadowprobe.probes.ambigdocs:AmbigdocsProbe", AnswerProbe)
    made.rounds = rounds
    return made


def findings(*said: tuple[AmbigSet, str | None]) -> Findings:
    """What the probe finds; an output of None is missing."""
    answers = {one.id: output for one, output in said if output is not None}
    return probe().measure([one for one, _ in said], answers)


def kind_of(one: AmbigSet, output: str) -> str:
    """The kind of one answer."""
    found: dict[str, dict[str, int]] = findings((one, output))["categories"]
    (kind,) = [kind for kind, row in found.items() if row["n"]]
    return kind


def recalls(one: AmbigSet, output: str) -> list[float]:
    """The recall of answers, of entities, and of both together."""
    found = findings((one, output))
    return [found[name] for name in RECALLS]


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        (
            "Charles Bernard Day was born in Alabama. Edward William Day was born in Rhode Island."
            " William Louis Day was born in Ohio.",
            "complete",
        ),
        ("William Louis Day was born in Ohio, and Charles Bernard Day was born in Alabama.", "partial"),
        ("The context does not provide enough information.", "no_answer"),
        ("Judge Day was born in Ohio.", "ambiguous"),
        ("Judge Day was born in Alabama, Rhode Island, and Ohio.", "merged"),
    ],
)
def test_the_answers_of_the_poster_are_of_its_five_kinds(output: str, kind: str) -> None:
    assert kind_of(JUDGES, output) == kind


def test_the_recall_of_a_partial_answer_of_the_poster() -> None:
    # Of the answers Ohio and Alabama; of the entities two whole, and `william` of the third, who is Edward William.
    said = recalls(JUDGES, "William Louis Day was born in Ohio, and Charles Bernard Day was born in Alabama.")
    assert said == pytest.approx([2 / 3, 2.5 / 3, 2 / 3])


def test_a_head_that_is_right_and_a_tail_that_is_wrong_is_a_partial_answer() -> None:
    # The river and its two words; the ship is named, and neither `falmouth` nor `harbour` is there.
    assert recalls(AVON, AVON_SAID) == [0.5, 1.0, 0.5]
    assert kind_of(AVON, AVON_SAID) == "partial"


def test_an_answer_that_two_namesakes_share_is_given_for_the_one_that_is_named() -> None:
    assert recalls(BERG, BERG_SAID) == [1.0, 0.5, 0.5]
    # One with its entity and one without.
    assert kind_of(BERG, BERG_SAID) == "merged"
    assert kind_of(BERG, "Both the ship and the river are from 1912.") == "complete"


def test_the_means_are_over_sets_and_a_missing_answer_counts_as_none() -> None:
    found = findings((AVON, AVON_SAID), (BERG, BERG_SAID), (COMO, None))
    assert [found[name] for name in RECALLS] == pytest.approx([1.5 / 3, 1.5 / 3, 1 / 3])
    assert (found["n"], found["missing"]) == (3, 1)
    assert found["documents_mean"] == pytest.approx(7 / 3)
    assert {kind: row["n"] for kind, row in found["categories"].items()} == {
        "complete": 0,
        "partial": 1,
        "no_answer": 1,
        "ambiguous": 0,
        "merged": 1,
    }


def test_each_set_has_a_row_with_its_kind_and_its_recalls() -> None:
    rows = list(probe().rows([AVON, BERG, COMO], {AVON.id: AVON_SAID, BERG.id: BERG_SAID}))
    assert [row["id"] for row in rows] == [AVON.id, BERG.id, COMO.id]
    assert [row["category"] for row in rows] == ["partial", "merged", "no_answer"]
    assert [[row[name] for name in RECALLS] for row in rows] == [[0.5, 1.0, 0.5], [1.0, 0.5, 0.5], [0.0, 0.0, 0.0]]


def test_a_document_that_the_answer_leaves_out_costs_its_share_and_no_more() -> None:
    # Two of three with answer and entity.
    output = "The river is in Tuscany and the ship is from Genoa."
    assert recalls(COMO, output) == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    assert kind_of(COMO, output) == "partial"
    assert (recalls(COMO, COMO_SAID), kind_of(COMO, COMO_SAID)) == ([1.0, 1.0, 1.0], "complete")


def test_shares_have_wilson_intervals() -> None:
    found = findings((AVON, AVON_SAID), (BERG, BERG_SAID), (COMO, None))["categories"]
    assert found["merged"]["share"] == pytest.approx(1 / 3)
    # Wilson's formula for 1 of 3 and for 0 of 3.
    assert found["merged"]["share_ci95"] == pytest.approx([0.0615, 0.7923], abs=1e-4)
    assert found["complete"]["share_ci95"] == pytest.approx([0.0, 0.5615], abs=1e-4)


def test_the_interval_of_a_recall_is_that_of_sets_drawn_again() -> None:
    # Values 1/2, 1/2 and 0: three zeros come in one draw of 27, no zero in 8 of 27; both are more than 1 in 40.
    answers = {AVON.id: AVON_SAID, BERG.id: BERG_SAID}
    found = probe(rounds=20_000).measure(SETS, answers)
    assert found["entity_answer_recall_ci95"] == [0.0, 0.5]
    # The sum of 1/2, 1 and 0 in three draws: all zeros and all ones again in one of 27 each.
    assert found["answer_recall_ci95"] == [0.0, 1.0]


def test_the_same_is_found_by_the_number_of_documents() -> None:
    four = ambig_set("four", "Dale", *((f"Dale ({kind})", "Kent") for kind in ("hill", "song", "ship", "play", "town")))
    found = findings((AVON, AVON_SAID), (BERG, BERG_SAID), (COMO, COMO_SAID), (four, "The hill and the song: Kent."))
    by = found["by_documents"]
    assert list(by) == ["2", "3", "4+"]
    assert [row["n"] for row in by.values()] == [2, 1, 1]
    assert [row["documents_mean"] for row in by.values()] == [2, 3, 5]
    # Every answer is Kent; two of five are named.
    assert [row["entity_answer_recall"] for row in by.values()] == pytest.approx([0.5, 1.0, 0.4])
    assert by["3"]["categories"]["complete"]["share"] == 1.0


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        pytest.param("It is Genoa harbour.", "no_answer", id="one word of three is no answer without its entity"),
        pytest.param("It is the old harbour of Genoa.", "ambiguous", id="two of three are"),
        pytest.param("The ship: Genoa.", "partial", id="one word of three is an answer with its entity"),
        pytest.param("It is white.", "ambiguous", id="one word of two is an answer without its entity"),
    ],
)
def test_how_much_of_an_answer_must_be_there(output: str, kind: str) -> None:
    one = ambig_set("como", "Como", ("Como (ship)", "old Genoa quay"), ("Como (horse)", "white mane"))
    assert kind_of(one, output) == kind


def test_the_best_form_of_an_answer_counts() -> None:
    one = ambig_set("dale", "Dale", ("Dale (hill)", ["Kent county", "Kent"]), ("Dale (ship)", ["Lyon", "Port of Lyon"]))
    # `Kent` is whole; of `Lyon` nothing.
    assert recalls(one, "The hill is in Kent.") == [0.5, 0.5, 0.5]


def test_a_word_that_an_answer_has_twice_must_be_said_twice() -> None:
    one = ambig_set("dale", "Dale", ("Dale (song)", "New York, New York"), ("Dale (ship)", "Lyon"))
    assert recalls(one, "The song is New York.") == [0.25, 0.5, 0.25]
    assert recalls(one, "The song is New York, New York.") == [0.5, 0.5, 0.5]


def test_a_title_that_is_the_name_alone_is_named_by_the_whole_of_it() -> None:
    one = ambig_set("evans", "Bill Evans", ("Bill Evans", "piano"), ("Bill Evans (saxophonist)", "saxophone"))
    assert kind_of(one, "BILL\nEvans plays the piano.") == "partial"
    # Evans alone is not his whole name.
    assert kind_of(one, "Evans plays the piano.") == "ambiguous"


def test_the_words_of_the_name_tell_nobody_apart() -> None:
    one = ambig_set("berg", "Berg (disambiguation)", ("Berg River", "Cape"), ("Berg Street", "Oslo"))
    assert kind_of(one, "Berg is in the Cape.") == "ambiguous"
    # `disambiguation` is no part of the name, so that it may tell titles apart.
    other = ambig_set("berg", "Berg (disambiguation)", ("Berg Disambiguation", "Cape"), ("Berg Street", "Oslo"))
    assert kind_of(other, "Disambiguation: the Cape.") == "partial"


def test_an_answer_of_stop_words_alone_cannot_be_given_and_is_counted() -> None:
    one = ambig_set("dale", "Dale", ("Dale (song)", "The Who"), ("Dale (ship)", "Lyon"))
    found = findings((one, "The song is by The Who, the ship from Lyon."), (AVON, None))
    # AVON has two answers of words, so that one of four answers has none.
    assert (found["wordless"], found["answer_recall"]) == (1, 0.25)
    # The released code would give 0.5 for saying nothing.
    assert findings((one, ""))["answer_recall"] == 0.0


def test_an_empty_answer_is_no_answer_but_is_not_missing() -> None:
    found = findings((AVON, " \n"))
    assert (found["missing"], found["categories"]["no_answer"]["n"], found["entity_recall"]) == (0, 1, 0.0)


def test_examples_are_the_first_of_their_kind_and_not_endless() -> None:
    long = ambig_set("long", "Avon", ("Avon (river)", "Bristol Channel"), ("Avon (ship)", "Falmouth harbour"))
    found = findings((BERG, BERG_SAID), (long, f"{AVON_SAID}{' and so on' * 100}"), (AVON, AVON_SAID), (COMO, None))
    assert list(found["examples"]) == ["partial", "merged"]
    assert found["examples"]["merged"] == {"id": "berg", "question": BERG.question, "answer": BERG_SAID}
    assert found["examples"]["partial"]["id"] == "long"
    assert len(found["examples"]["partial"]["answer"]) == 303


def test_an_answer_of_300_characters_is_shown_whole() -> None:
    whole = "Bristol Channel " + "x" * (300 - len("Bristol Channel "))
    one = ambig_set("long", "Avon", ("Avon (river)", "Bristol Channel"), ("Avon (ship)", "Falmouth harbour"))
    assert findings((one, whole))["examples"]["ambiguous"]["answer"] == whole
    assert findings((one, f"{whole}y"))["examples"]["ambiguous"]["answer"] == f"{whole}..."


def test_nothing_is_measured_without_sets() -> None:
    assert probe().measure([], {}) == {"not_measured": "there are no sets"}


def test_rounds_and_seed_are_those_of_the_other_probes() -> None:
    assert (AnswerProbe.rounds, AnswerProbe.seed) == (ROUNDS, SEED)


def positions(order: Order, *said: tuple[AmbigSet, str]) -> Findings:
    asked = probe()
    asked.order = DocumentOrder(order)
    found: Findings = asked.measure([one for one, _ in said], {one.id: output for one, output in said})["positions"]
    return found


def counts(shares: Findings) -> dict[str, tuple[int, int]]:
    """How many of how many, by position."""
    return {position: (round(one["rate"] * one["n"]), one["n"]) for position, one in shares.items()}


def test_what_is_given_of_the_document_at_each_position() -> None:
    # Of Avon the first; of Berg both, the first without its entity; of Como all three.
    found = positions("given", (AVON, AVON_SAID), (BERG, BERG_SAID), (COMO, COMO_SAID))
    assert counts(found["given"]) == {"1": (3, 3), "2": (2, 3), "3": (1, 1)}
    assert counts(found["with_entity"]) == {"1": (2, 3), "2": (2, 3), "3": (1, 1)}
    ends = found["first_minus_last"]
    assert (ends["first_only"], ends["last_only"], ends["both"], ends["neither"]) == (1, 0, 2, 0)
    assert (ends["difference"], ends["mcnemar_p"], ends["verdict"]) == (pytest.approx(1 / 3), 1.0, "undecided")


def test_a_reversed_order_turns_the_positions_round() -> None:
    found = positions("reversed", (AVON, AVON_SAID), (BERG, BERG_SAID), (COMO, COMO_SAID))
    assert counts(found["given"]) == {"1": (2, 3), "2": (3, 3), "3": (1, 1)}
    assert (found["first_minus_last"]["first_only"], found["first_minus_last"]["last_only"]) == (0, 1)


def test_a_model_that_always_takes_the_first_document_is_caught_in_a_random_order() -> None:
    order = DocumentOrder(seed=4)
    sets = [ambig_set(number, "Avon", ("Avon (river)", "Bristol"), ("Avon (ship)", "Falmouth")) for number in range(20)]
    said = {one.id: order.arrange(one.id, one.documents)[0].answers[0] for one in sets}
    asked = probe()
    asked.order = order
    found = asked.measure(sets, said)["positions"]
    assert counts(found["given"]) == {"1": (20, 20), "2": (0, 20)}
    assert found["first_minus_last"]["verdict"] == "first"
    # In the order of the file nobody would notice: the first is the river in about half of the sets.
    asked.order = DocumentOrder("given")
    assert asked.measure(sets, said)["positions"]["first_minus_last"]["verdict"] == "undecided"


def test_sets_without_an_answer_say_nothing_about_positions() -> None:
    asked = probe()
    asked.order = DocumentOrder("given")
    found = asked.measure([AVON, COMO], {AVON.id: AVON_SAID})["positions"]
    assert counts(found["given"]) == {"1": (1, 1), "2": (0, 1)}
    assert asked.measure([AVON], {})["positions"] == {"not_measured": "there are no answers"}


def test_positions_are_not_measured_where_nobody_knows_the_order() -> None:
    (reason,) = findings((AVON, AVON_SAID))["positions"].values()
    assert reason.startswith("it is not known in which order the model saw the documents")
