"""Makes what scripts/make_outputs.sh needs besides the built-in data: answers, and namesakes of known popularity."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMESAKES = Path(__file__).parent.parent / "data" / "namesakes"
Documents = list[dict[str, Any]]


def answer(document: dict[str, Any]) -> str:
    """The first form of the answer of a document."""
    given: str | list[str] = document["answer"]
    return given if isinstance(given, str) else given[0]


def named(document: dict[str, Any]) -> str:
    """The answer of a document with the entity that it is about."""
    return f"{document['title']}: {answer(document)}."


# Answers as models could give them: of the first document alone, of all, of all without their entities, and none.
MODELS: dict[str, Callable[[Documents], str]] = {
    "first": lambda documents: named(documents[0]),
    "all": lambda documents: " ".join(map(named, documents)),
    "unnamed": lambda documents: " and ".join(map(answer, documents)),
    "none": lambda _: "I do not know.",
}


def write_answers(directory: Path) -> None:
    """A file of answers of each model."""
    sets = json.loads((NAMESAKES / "ambigdocs.json").read_text(encoding="utf-8"))
    for model, write in MODELS.items():
        lines = [json.dumps({"id": one["qid"], "answer": write(one["documents"])}) for one in sets]
        (directory / f"{model}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_popular_namesakes(directory: Path) -> None:
    """The built-in collection with numbers for popularity and frequency, which two figures need; they are made up."""
    shutil.copytree(NAMESAKES, directory)
    (directory / "collection.json").write_text('{"name": "popular"}', encoding="utf-8")
    for file in directory.glob("amber/**/*.jsonl"):
        lines = []
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
            amber_set = json.loads(line)
            for entity in amber_set["qids"].values():
                entity["popularity"] = 10 + (number % 7 if entity["is_head"] else 0)
            lines.append(json.dumps(amber_set))
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for file in directory.glob("entity_questions/*.json"):
        questions = json.loads(file.read_text(encoding="utf-8"))
        for number, question in enumerate(questions):
            question["frequency"] = 3 ** (number % 9)
        file.write_text(json.dumps(questions), encoding="utf-8")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    write_answers(target)
    write_popular_namesakes(target / "popular")
