"""Linkers, retrievers and probes are called without trusting their code."""

from __future__ import annotations

import pytest
from asking import marked

from shadowprobe import Failure, ItemError, Linker, LinkerError, PluginError, Prediction, Snippet, UsageError
from shadowprobe.systems.calling import SEE_DEBUG, close_system, link_batch, link_in_parts, name_errors

ONE, TWO = marked("On the [Avon].", "one"), marked("On the [Berg].", "two")


class Says(Linker):
    """Answers as a test says."""

    name = "says"

    def __init__(self, *given: Prediction | Failure) -> None:
        self.given, self.notes = given, []

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        return list(self.given)

    def close(self) -> None:
        raise SystemExit("no more")


def test_an_error_in_the_code_of_a_plugin_is_one_line_that_names_it() -> None:
    with pytest.raises(PluginError) as error, name_errors("probe `x` failed", PluginError, SEE_DEBUG):
        raise ZeroDivisionError("none")
    assert str(error.value) == "probe `x` failed: ZeroDivisionError: none (--debug shows where)"


def test_a_plugin_that_exits_does_not_end_the_program() -> None:
    with pytest.raises(LinkerError) as error, name_errors("linker `x` failed", LinkerError):
        raise SystemExit(3)
    assert str(error.value) == "linker `x` failed: SystemExit: 3"


def test_an_error_that_is_written_for_the_user_stays_as_it_is() -> None:
    with pytest.raises(UsageError) as error, name_errors("linker `x` failed", LinkerError):
        raise UsageError("give -o url")
    assert str(error.value) == "give -o url"


def test_a_linker_that_cannot_be_closed_costs_a_note() -> None:
    linker = Says()
    close_system(linker)
    assert linker.notes == ["the linker failed to close: SystemExit: no more"]


def test_predictions_come_in_the_order_of_the_snippets() -> None:
    linker = Says(Prediction("two", answer="Berg"), Prediction("one", answer="Avon"))
    assert list(link_batch(linker, [ONE, TWO])) == ["one", "two"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([], "no prediction for snippet 'one'"),
        ([Prediction("one", answer="Avon"), Prediction("six", answer="Avon")], "a prediction for 'six', which was not"),
    ],
)
def test_a_prediction_for_every_snippet_and_for_no_other(given: list[Prediction], problem: str) -> None:
    with pytest.raises(ItemError, match=problem):
        link_batch(Says(*given), [ONE])


def test_an_invalid_prediction_is_a_failure_of_its_own_snippet() -> None:
    linker = Says(Prediction("one", answer="Avon"), Prediction("two", answer=""))
    (predictions,) = link_in_parts(linker, [ONE, TWO])
    assert predictions["one"] == Prediction("one", answer="Avon")
    assert isinstance(predictions["two"], Failure)
