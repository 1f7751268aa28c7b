"""Calls the code of systems and probes: an error in it becomes a failure, or one line that names it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from shadowprobe.base.model import Failure, Prediction, Snippet
from shadowprobe.dataset.knowledge import Knowledge
from shadowprobe.errors import ItemError, LinkerError, ShadowprobeError, find_place, format_error
from shadowprobe.systems.linker import Given, Linker, System

if TYPE_CHECKING:
    from shadowprobe.systems.reader import Reader

# What a message on the code of a plugin ends with.
SEE_DEBUG = " (--debug shows where)"
LINK_RETURNS = (
    "link() must return one prediction for each snippet, made by self.answer, self.ranked, self.nil or self.skip"
)


@contextmanager
def name_errors(what: str, kind: type[ShadowprobeError], hint: str = "") -> Iterator[None]:
    """Turns every error in the code of a system or probe into one line that begins with `what`."""
    try:
        yield
    except ShadowprobeError:
        raise
    except (Exception, SystemExit) as error:
        shown = hint or (SEE_DEBUG if find_place(error) else "")
        raise kind(f"{what}: {format_error(error)}{shown}") from error


def open_linker(linker: Linker, knowledge: Knowledge) -> None:
    """Lets a linker prepare; an error is one line that names it."""
    with name_errors(f"linker `{linker.name}` failed to start", LinkerError):
        linker.set_knowledge(knowledge)
        linker.setup()


@contextmanager
def open_reader(reader: Reader) -> Iterator[None]:
    """Lets a reader prepare, and closes it at the end of the block."""
    with name_errors(f"reader `{reader.name}` failed to start", LinkerError):
        reader.setup()
    try:
        yield
    finally:
        close_system(reader, "reader")


def close_system(system: System, noun: str = "linker") -> None:
    """Closes a system; an error costs a note and nothing more, since its answers are stored by now."""
    try:
        system.close()
    except (Exception, SystemExit) as error:
        system.note(f"the {noun} failed to close: {format_error(error)}")


def link_in_parts(linker: Linker, snippets: list[Snippet]) -> Iterator[dict[str, Given]]:
    """What a linker gives for snippets, checked; where it fails on all together, it is asked for each alone."""
    try:
        # One invalid prediction does not cost the others of its batch a second question.
        predictions = {name: check_given(given) for name, given in link_batch(linker, snippets).items()}
    except (Exception, SystemExit) as error:
        if isinstance(error, LinkerError) and not isinstance(error, ItemError):
            # No other snippet would fare better.
            raise
        if len(snippets) > 1:
            for snippet in snippets:
                yield from link_in_parts(linker, [snippet])
            return
        predictions = {snippets[0].id: Failure(snippets[0].id, format_error(error))}
    yield predictions


def link_batch(linker: Linker, snippets: Sequence[Snippet]) -> dict[str, Given]:
    """What a linker gives for each snippet, in their order; raises if it leaves one out or adds another."""
    given = by_id(linker.link(list(snippets)))
    for snippet in snippets:
        if snippet.id not in given:
            raise ItemError(f"no prediction for snippet {snippet.id!r}")
    if unasked := given.keys() - {snippet.id for snippet in snippets}:
        raise ItemError(f"a prediction for {min(unasked)!r}, which was not asked for")
    return {snippet.id: given[snippet.id] for snippet in snippets}


def by_id(returned: Any) -> dict[str, Given]:
    """What `link` returned, by snippet; says what it should have been where it is something else."""
    predictions: dict[str, Given] = {}
    if (
        returned is None
        or isinstance(returned, (str, bytes, Prediction, Failure))
        or not isinstance(returned, Iterable)
    ):
        raise ItemError(f"{LINK_RETURNS}; it returned {returned!r:.80}")
    for prediction in returned:
        if not isinstance(prediction, (Prediction, Failure)):
            raise ItemError(f"{LINK_RETURNS}; it returned {prediction!r:.80} among them")
        if prediction.id in predictions:
            raise ItemError(f"two predictions for {prediction.id!r}")
        predictions[prediction.id] = prediction
    return predictions


def check_given(given: Given) -> Given:
    """A prediction as its line will read, or a failure that says why it is invalid."""
    if isinstance(given, Failure):
        return given
    try:
        prediction = _decode(_encode(given))
    except (TypeError, ValueError, OverflowError) as error:
        return Failure(given.id, f"prediction for {given.id!r}: {error}")
    problem = prediction.find_problem()
    if problem is not None:
        return Failure(given.id, f"prediction for {given.id!r}: `{problem[0]}` {problem[1]}")
    return prediction


def _convert_number(value: Any) -> Any:
    """NumPy's numbers as Python's; they have a method for it."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} is neither text nor number")


_encode = msgspec.json.Encoder(enc_hook=_convert_number).encode
_decode = msgspec.json.Decoder(Prediction).decode
