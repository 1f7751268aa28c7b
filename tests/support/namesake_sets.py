"""Three sets of documents on namesakes, worked out by hand, and a model that reads some of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from service import Asked, Reply
from wire import as_json

from shadowprobe.queries.ambigdocs_sets import AmbigDocument, AmbigSet


def ambig_set(
    qid: str | int | None, name: str, *documents: tuple[str, str | list[str]], question: str = ""
) -> AmbigSet:
    """A set of documents, each given by title and answer."""
    made = tuple(AmbigDocument(title, f"All that is known of {title}.", answer) for title, answer in documents)
    return AmbigSet(question or f"What of {name}?", name, made, qid)


AVON = ambig_set("avon", "Avon", ("Avon (river)", "Bristol Channel"), ("Avon (ship)", "Falmouth harbour"))
BERG = ambig_set("berg", "Berg (disambiguation)", ("Berg (river)", "1912"), ("Berg (ship)", "1912"))
COMO = ambig_set("como", "Como", ("Como (river)", "Tuscany"), ("Como (ship)", "Genoa"), ("Como (play)", "Lyon"))
SETS = [AVON, BERG, COMO]
# The head is right and the tail wrong: of the river everything, of the ship its name alone.
AVON_SAID = "The river Avon ends in the Bristol Channel, and the ship Avon at Bristol too."
# A tie: both are from one year, and nothing says that the river is.
BERG_SAID = "Berg, the ship, is from 1912."
COMO_SAID = "The river is in Tuscany, the ship from Genoa, the play from Lyon."
SAID = {"What of Avon?": AVON_SAID, "What of Berg (disambiguation)?": BERG_SAID, "What of Como?": COMO_SAID}


def as_released(one: AmbigSet, **more: Any) -> dict[str, Any]:
    """A set as an item of a released file."""
    documents = [{"title": each.title, "text": each.text, "pid": 7, "answer": each.answer} for each in one.documents]
    item = {"question": one.question, "ambiguous_entity": one.ambiguous_entity, "documents": documents, **more}
    return item if one.qid is None else {**item, "qid": one.qid}


def write_sets(path: Path, *sets: AmbigSet) -> Path:
    """A file in the released form."""
    path.write_text(json.dumps([as_released(one) for one in sets or SETS]))
    return path


def question_in(asked: Asked) -> str:
    """The question at the end of a prompt."""
    prompt: str = asked.json["messages"][0]["content"]
    return prompt.rpartition("\nQuestion: ")[2].removesuffix("\nAnswer:")


def reader(_: int, asked: Asked) -> Reply:
    """A chat endpoint that knows what is to be said of the three sets."""
    message = {"role": "assistant", "content": SAID[question_in(asked)]}
    return as_json(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
