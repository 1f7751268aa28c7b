"""The questions that a chat model is asked about a mention, each with the form of its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

from shadowprobe import Entity, ItemError, Snippet
from shadowprobe.identity import normalise_title

from .ranking import lot

# Enough for a first paragraph; what follows is cut off and costs tokens for every choice.
LONGEST_DESCRIPTION = 400

CLOSED = """\
What does the marked mention refer to in this text? It stands between <{tag}> and </{tag}>.

Text:
{text}

Choices:
{choices}
0. None of these

Answer with a JSON object and nothing else: {{"answer": N}}, where N is the number of the choice."""

OPEN = """\
Which article of the {language} Wikipedia is about what the marked mention refers to in this text? \
It stands between <{tag}> and </{tag}>.

Text:
{text}

Answer with a JSON object and nothing else: {{"title": "..."}} with the exact title of the article, \
or {{"title": null}} if there is none."""


class Value(NamedTuple):
    """A value in a reply and where it stands there, without its quotes."""

    value: Any
    start: int
    end: int


def shuffled(snippet: Snippet, entities: Sequence[Entity]) -> list[Entity]:
    """Choices in an order drawn for this text alone, since the first place must not go to the most common one."""
    return sorted(entities, key=lambda entity: lot(snippet, entity.title))


def closed_prompt(snippet: Snippet, choices: Sequence[Entity], *, descriptions: bool) -> str:
    """Asks for the number of a choice."""
    tag, text = _marked(snippet)
    lines = (f"{number}. {_shown(entity, descriptions)}" for number, entity in enumerate(choices, start=1))
    return CLOSED.format(tag=tag, text=text, choices="\n".join(lines))


def open_prompt(snippet: Snippet, language: str) -> str:
    """Asks for the title of a Wikipedia article."""
    tag, text = _marked(snippet)
    return OPEN.format(tag=tag, text=text, language=language)


def closed_schema(choices: int) -> dict[str, Any]:
    """The JSON schema of a number from 0 to that of the last choice."""
    return _schema("answer", {"type": "integer", "enum": list(range(choices + 1))})


def open_schema() -> dict[str, Any]:
    """The JSON schema of a title or null."""
    return _schema("title", {"type": ["string", "null"]})


def value_of(reply: str, key: str) -> Value:
    """The value that the last JSON object of a reply gives a key, whatever stands around it."""
    # What the model thinks aloud is not its answer. Some templates open the thought themselves and only its end shows.
    begin = reply.rfind("</think>") + 1
    found = [] if "<think>" in reply[begin:] else list(re.finditer(rf'"{key}"\s*:\s*', reply[begin:]))
    if found:
        start = begin + found[-1].end()
        try:
            value, end = json.JSONDecoder().raw_decode(reply, start)
        except ValueError:
            pass
        else:
            quoted = isinstance(value, str)
            return Value(value, start + quoted, end - quoted)
    raise ItemError(f'the reply holds no {{"{key}": ...}}: {beginning(reply)}')


def choice_number(value: Any, choices: Sequence[Entity]) -> int | None:
    """The number that a value means: given as such, as text, by the title of the choice, or by both as shown."""
    text = str(value) if isinstance(value, (int, float, str)) else ""
    titles = [normalise_title(entity.title) for entity in choices]
    alone = re.fullmatch(r"\s*([0-9]{1,4})(?:\.0*)?\s*", text)
    if alone and int(alone[1]) <= len(choices):
        return int(alone[1])
    if (title := normalise_title(text)) in titles:
        return titles.index(title) + 1
    listed = re.fullmatch(r"\s*([0-9]{1,4})[.:)]\s+(.+)", text, re.DOTALL)
    if listed is None or int(listed[1]) > len(choices) or _begun(text, titles):
        # A title may begin with a number itself.
        return None
    number, named = int(listed[1]), _begun(listed[2], titles)
    return number if named in {None, number} else None


def number_within(found: Value, number: int, reply: str) -> Value:
    """The value without the title that follows its number, where it begins with that."""
    digits = re.compile(r"\s*([0-9]+)").match(reply, found.start, found.end)
    return Value(number, *digits.span(1)) if digits and int(digits[1]) == number else found


def _begun(text: str, titles: Sequence[str]) -> int | None:
    """The number of the longest title that a text is, or that it begins with as a choice is shown."""
    shown = f"{normalise_title(text)}:"
    begun = [title for title in titles if shown.startswith(f"{title}:")]
    return titles.index(max(begun, key=len)) + 1 if begun else None


def beginning(reply: str) -> str:
    """The first words of a reply, for a message."""
    return repr(" ".join(reply.split())[:80])


def _schema(key: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": False}


def _marked(snippet: Snippet) -> tuple[str, str]:
    """A tag that the text itself does not hold, and the text with the mention inside it."""
    text = snippet.text
    names = ("mention" if number == 1 else f"mention{number}" for number in count(1))
    tag = next(name for name in names if f"<{name}>" not in text and f"</{name}>" not in text)
    return tag, f"{text[: snippet.start]}<{tag}>{snippet.mention}</{tag}>{text[snippet.end :]}"


def _shown(entity: Entity, descriptions: bool) -> str:
    description = " ".join((entity.description or "").split())[:LONGEST_DESCRIPTION] if descriptions else ""
    return f"{entity.title}: {description}" if description else entity.title
