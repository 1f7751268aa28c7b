"""Reads stored answers of a language model: our own lines, or AmbigDocs' items with `gen_answer`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from shadowprobe.errors import nearest
from shadowprobe.queries.ambigdocs_sets import Item, read_items


class _Stored(Struct):
    """An answer in either format; AmbigDocs' items also contain their set."""

    id: str | None = None
    answer: str | None = None
    gen_answer: str | None = None
    qid: int | str | None = None
    question: str | None = None


def read_answers(path: Path, known: Mapping[str, str], *, torn: bool = False) -> dict[str, str]:
    """Reads the answers of a file by set; `known` has the questions of all allowed sets, `torn` is of `read_lines`."""
    answers: dict[str, str] = {}
    for item, stored in read_items(path, _Stored, torn=torn):
        field, set_id, answer = _read_answer(item, stored)
        if set_id not in known:
            hint = nearest(set_id, known) or ": give the file of its set with --queries"
            raise item.fault(field, f"{set_id!r} is not one of the sets{hint}")
        if set_id in answers:
            raise item.fault(field, f"{set_id!r} is answered twice")
        # Without a qid, the set of an answer depends on its position only, so the question is compared.
        if stored.question is not None and stored.question != known[set_id]:
            raise item.fault("question", f"differs from the question of the set {set_id!r}")
        answers[set_id] = answer
    return answers


def _read_answer(item: Item, stored: _Stored) -> tuple[str, str, str]:
    """Returns the field with the id of the set, the id, and the answer."""
    if stored.gen_answer is not None:
        return "qid", str(item.number if stored.qid is None else stored.qid), stored.gen_answer
    if stored.id is None:
        raise item.fault("id", "is missing; an answer has `id` and `answer`, or `qid` and `gen_answer`")
    if stored.answer is None:
        raise item.fault("answer", "is missing")
    return "id", stored.id, stored.answer
