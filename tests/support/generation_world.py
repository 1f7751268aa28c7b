"""Documents about names, and a language model whose replies about them are worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

from service import Asked, Reply
from wire import as_json

from shadowprobe.queries.query import Document
from shadowprobe.sets.name_documents import NameDocuments

TEXTS = {
    "Avon (river)": "The Avon is a river. It rises near Naseby and ends at Tewkesbury.",
    "Avon (ship)": "The Avon was a packet ship. She was built at Millwall in 1842.",
    "Avon (play)": "A play in two acts.",
    "Berg (river)": "The Berg is a river that was named in 1912.",
    "Berg (ship)": "The Berg is a ship. In 1912 she got her name.",
    "Como (river)": "The Como is a river in Tuscany.",
    "Como (ship)": "The Como is a ship of Genoa.",
    "Dart (river)": "The Dart is a river.",
    "Dart (ship)": "The Dart is a ship.",
    "Esk (river)": "The Esk is a river. Ann Hale saw it first.",
    "Esk (ship)": "The Esk is a ship.",
    "Gota (river)": "The Gota is a river.",
    "Gota (ship)": "The Gota is a ship.",
    "Hull (river)": "The Hull is a river.",
    "Hull (ship)": "The Hull is a ship.",
    "Fleet (river)": "Nothing else is called Fleet.",
}
DOCUMENTS = [Document(f"d{number}", title, text) for number, (title, text) in enumerate(TEXTS.items())]
# By the name that is asked about.
QUESTIONS = {
    "Avon": "Question: Where did Avon begin?\nAnswer: I do not say.",
    "Berg": '"When was Berg named?"',
    "Como": "Where does the river Como end?",
    "Dart": "I cannot think of one.",
    "Esk": "Who saw Esk first?",
    "Gota": "What does the passage say of Gota?",
    "Hull": "What is it?",
}
# By the document that is asked about.
ANSWERS = {
    "Avon (river)": "Near Naseby.",
    "Avon (ship)": "Answer: Millwall\nThat is all.",
    "Avon (play)": "None.",
    "Berg (river)": "1912",
    "Berg (ship)": "in 1912",
    "Esk (river)": "'Ann Hale'",
    "Esk (ship)": "a fisherman",
}
PROMPTS = len(QUESTIONS) + len(ANSWERS)
# The one set that passes all rules, in the released form.
AVON_SET = {
    "question": "Where did Avon begin?",
    "ambiguous_entity": "Avon",
    "documents": [
        {"title": "Avon (river)", "text": TEXTS["Avon (river)"], "answer": "near Naseby", "pid": "d0"},
        {"title": "Avon (ship)", "text": TEXTS["Avon (ship)"], "answer": "Millwall", "pid": "d1"},
    ],
    "qid": "Avon",
}
# Of 7 names, 3 have a question; of their 7 documents, 3 have an answer of their own; and 1 question has two of these.
FUNNELS = [
    {"stage": "names", "seen": 7, "kept": 7, "dropped": {}},
    {
        "stage": "questions",
        "seen": 7,
        "kept": 3,
        "dropped": {
            "question that says which entity is meant": 1,
            "reply without a question": 1,
            "question about the documents": 1,
            "question without the name": 1,
        },
    },
    {
        "stage": "answers",
        "seen": 7,
        "kept": 3,
        "dropped": {
            "document that does not answer": 1,
            "answer that is in another document too": 2,
            "answer that is not in the document": 1,
        },
    },
    {
        "stage": "sets",
        "seen": 3,
        "kept": 1,
        "dropped": {
            "ambiguous: fewer than two answers are in one document alone": 1,
            "unanswerable: fewer than two documents answer": 1,
        },
    },
]
SCRIPT = '''
import json
import time
from pathlib import Path

from generation_world import find_reply
from shadowprobe import Failure
from shadowprobe.retrieval import Reader


class Writer(Reader):
    """Writes the given texts, and notes what it was asked."""

    name = "writer"
    batch_size = 2

    def __init__(self, pause: float = 0.0):
        self.pause = pause

    def write(self, prompts):
        time.sleep(self.pause)
        with open("asked.txt", "a") as file:
            file.writelines(f"{json.dumps(prompt.id)}\\n" for prompt in prompts)
        return [self.say(prompt) for prompt in prompts]

    def say(self, prompt):
        return find_reply(prompt.text)


class Failing(Writer):
    """Fails on a document as long as no file is there that mends it."""

    def say(self, prompt):
        if prompt.id.endswith("Avon (ship)") and not Path("mended").exists():
            return Failure(prompt.id, "too hard")
        return super().say(prompt)


class Numbers(Writer):
    """Gives a number where a text must be."""

    def say(self, prompt):
        return 7


class Parrot(Writer):
    """Asks what a name is, and answers with the last two words of a document."""

    def say(self, prompt):
        text = prompt.text.rpartition("\\nDocument: ")[2].rpartition("\\nQuestion: ")[0]
        return " ".join(text.split()[-2:]) if "\\n" in prompt.id else f"What is {prompt.id}?"


class OnlyReads(Reader):
    """Cannot write."""

    def read(self, queries):
        return [""] * len(queries)
'''


def names() -> list[NameDocuments]:
    """The documents of each name that has several."""
    grouped: dict[str, list[Document]] = {}
    for document in DOCUMENTS:
        grouped.setdefault(document.title.partition(" (")[0], []).append(document)
    return [NameDocuments(name, tuple(many)) for name, many in grouped.items() if len(many) > 1]


def find_reply(prompt: str) -> str:
    """What the model writes: the name or the document in question is the last one of the prompt."""
    _, name, rest = prompt.rpartition("\nName: ")
    if name:
        return QUESTIONS[rest.partition("\n")[0]]
    return ANSWERS[prompt.rpartition("\nDocument: ")[2].partition("\n")[0]]


def writer(_: int, asked: Asked) -> Reply:
    """The same model behind a chat endpoint."""
    message = {"role": "assistant", "content": find_reply(asked.json["messages"][0]["content"])}
    return as_json(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


def write_generation_world(directory: Path) -> None:
    """The documents as a file, and the model as a reader of a user."""
    lines = ({"id": one.id, "title": one.title, "text": one.text} for one in DOCUMENTS)
    (directory / "documents.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (directory / "writers.py").write_text(f"import sys\nsys.path.append({str(Path(__file__).parent)!r})\n{SCRIPT}")
