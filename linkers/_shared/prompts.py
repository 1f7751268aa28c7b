"""The prompts for a chat model about a mention, and the parsing of its answers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

from shadowprobe import Entity, ItemError, Snippet
from shadowprobe.base.identity import normalise_title

from .choices import shorten_description

# The choice that means NIL.
NONE = "None of these"
THOUGHT_END = "</think>"
# What a model may put around a plain answer.
AROUND_PLAIN = " \t\r\n\"'`*"

CLOSED = """\
What does the marked mention refer to in this text? It stands between <{tag}> and </{tag}>.

Text:
{text}

Choices:
{choices}
0. {none}

Answer with a JSON object and nothing else: {{"answer": N}}, where N is the number of the choice."""

OPEN = """\
Which article of the {language} Wikipedia is about what the marked mention refers to in this text? \
It stands between <{tag}> and </{tag}>.

Text:
{text}

Answer with a JSON object and nothing else: {{"title": "..."}} with the exact title of the article, \
or {{"title": null}} if there is none."""


class ReplyValue(NamedTuple):
    """A value in a reply and its offsets there, without its quotes."""

    value: Any
    start: int
    end: int


def make_closed_prompt(snippet: Snippet, choices: Sequence[Entity], *, descriptions: bool) -> str:
    """Asks for the number of a choice."""
    tag, text = mark_mention(snippet)
    lines = (f"{number}. {_format_choice(entity, descriptions)}" for number, entity in enumerate(choices, start=1))
    return CLOSED.format(tag=tag, text=text, choices="\n".join(lines), none=NONE)


def make_open_prompt(snippet: Snippet, language: str) -> str:
    """Asks for the title of a Wikipedia article."""
    tag, text = mark_mention(snippet)
    return OPEN.format(tag=tag, text=text, language=language)


def make_schema(choices: int | None) -> dict[str, Any]:
    """Makes the JSON schema of a number from 0 to that of the last choice, or without choices of a title or null."""
    key = "title" if choices is None else "answer"
    title = {"type": ["string", "null"]}
    value = title if choices is None else {"type": "integer", "enum": list(range(choices + 1))}
    return {"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": False}


def find_plain(reply: str) -> ReplyValue:
    """Finds an answer without JSON: all of the reply, if it is one line without a brace; else an empty text."""
    start = _find_begin(reply)
    start += len(reply[start:]) - len(reply[start:].lstrip(AROUND_PLAIN))
    text = reply[start:].rstrip(AROUND_PLAIN)
    return ReplyValue("" if re.search(r"[\n{]", text) else text, start, start + len(text))


def find_value(reply: str, key: str, *, first: bool = False) -> ReplyValue:
    """Finds the value of a key in the last or first JSON object of a reply; other text around it is ignored."""
    begin = _find_begin(reply)
    matches = [] if "<think>" in reply[begin:] else list(re.finditer(rf'"{key}"\s*:\s*', reply[begin:]))
    if matches:
        start = begin + matches[0 if first else -1].end()
        try:
            value, end = json.JSONDecoder().raw_decode(reply, start)
        except ValueError:
            pass
        else:
            quoted = isinstance(value, str)
            return ReplyValue(value, start + quoted, end - quoted)
    raise ItemError(f'the reply holds no {{"{key}": ...}}: {quote_reply(reply)}')


def _find_begin(reply: str) -> int:
    """Returns where the answer begins: reasoning is not the answer, and its opening tag may be missing in a reply."""
    return reply.rfind(THOUGHT_END) + len(THOUGHT_END) if THOUGHT_END in reply else 0


def parse_choice(value: Any, choices: Sequence[Entity]) -> int | None:
    """Returns the number of a choice, which a value gives as number, as text, by its title, or by both; 0 is NIL."""
    text = str(value) if isinstance(value, (int, float, str)) else ""
    titles = [normalise_title(entity.title) for entity in choices]
    alone = re.fullmatch(r"\s*([0-9]{1,4})(?:\.0*)?\s*", text)
    if alone and int(alone[1]) <= len(choices):
        return int(alone[1])
    if (title := normalise_title(text)) in titles:
        return titles.index(title) + 1
    if text.strip(" .").casefold() == NONE.casefold():
        return 0
    listed = re.fullmatch(r"\s*([0-9]{1,4})[.:)]\s+(.+)", text, re.DOTALL)
    if listed is None or int(listed[1]) > len(choices) or _find_title(text, titles):
        # The number may be part of a title.
        return None
    number, named = int(listed[1]), _find_title(listed[2], titles)
    return number if named in {None, number} else None


def cut_to_number(value: ReplyValue, number: int, reply: str) -> ReplyValue:
    """Returns only the number at the beginning of a value, without a title after it."""
    digits = re.compile(r"\s*([0-9]+)").match(reply, value.start, value.end)
    return ReplyValue(number, *digits.span(1)) if digits and int(digits[1]) == number else value


def _find_title(text: str, titles: Sequence[str]) -> int | None:
    """Returns the number of the longest title that is the whole text, or its beginning before a description."""
    shown = f"{normalise_title(text)}:"
    matches = [title for title in titles if shown.startswith(f"{title}:")]
    return titles.index(max(matches, key=len)) + 1 if matches else None


def quote_reply(reply: str) -> str:
    """Quotes the first words of a reply, for a message."""
    return repr(" ".join(reply.split())[:80])


def mark_mention(snippet: Snippet) -> tuple[str, str]:
    """Returns a tag that does not occur in the text, and the text with the mention inside this tag."""
    text = snippet.text
    names = ("mention" if number == 1 else f"mention{number}" for number in count(1))
    tag = next(name for name in names if f"<{name}>" not in text and f"</{name}>" not in text)
    return tag, f"{text[: snippet.start]}<{tag}>{snippet.mention}</{tag}>{text[snippet.end :]}"


def _format_choice(entity: Entity, descriptions: bool) -> str:
    description = shorten_description(entity) if descriptions else ""
    return f"{entity.title}: {description}" if description else entity.title
