"""Answers of a language model on disk: our own lines, or AmbigDocs' items with `gen_answer`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from shadowprobe.errors import nearest
from shadowprobe.retrieval.ambigdocs import Item, read_items


class _Stored(Struct):
    """An answer in either form; the released one repeats the set that it is to."""

    id: str | None = None
    answer: str | None = None
    gen_answer: str | None = None
    qid: int | str | None = None
    question: str | None = None


def read_answers(path: Path, known: Mapping[str, str], *, torn: bool = False) -> dict[str, str]:
    """The answers of a file by set; `known` has the questions by set, and nothing else may be answered.

    With `torn`, a last line without its end is passed over: all that a kill in the middle of a write can leave.
    """
    answers: dict[str, str] = {}
    for item, stored in read_items(path, _Stored, torn=torn):
        field, set_id, answer = _told(item, stored)
        if set_id not in known:
            hint = nearest(set_id, known) or ": --queries names the file that it is of"
            raise item.fault(field, f"{set_id!r} is no set of the questions{hint}")
        if set_id in answers:
            raise item.fault(field, f"{set_id!r} is answered twice")
        # Without a qid nothing but its place says which set it is to.
        if stored.question is not None and stored.question != known[set_id]:
            raise item.fault("question", f"is another than that of the set {set_id!r}")
        answers[set_id] = answer
    return answers


def _told(item: Item, stored: _Stored) -> tuple[str, str, str]:
    """The field that names the set, the set, and its answer."""
    if stored.gen_answer is not None:
        return "qid", str(item.number if stored.qid is None else stored.qid), stored.gen_answer
    if stored.id is None:
        raise item.fault("id", "is missing; an answer has `id` and `answer`, or `qid` and `gen_answer`")
    if stored.answer is None:
        raise item.fault("answer", "is missing")
    return "id", stored.id, stored.answer
