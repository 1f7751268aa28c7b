"""Checks the sources of the built-in collection of articles: `python scripts/check_namesakes_source.py [FILE...]`."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "data" / "sources"
NO_ARTICLES = ("properties.toml", "amber.toml", "aliases.toml")
FEWEST_WORDS, MOST_WORDS = 60, 150
FEWEST_FACTS, MOST_FACTS = 3, 8
# An article may share words with the contexts that a linker is asked about, but no run that gives them away.
SHARED_RUN = 6


def words(text: str) -> list[str]:
    """The words of a text, without regard to case and punctuation."""
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())


def holds(text: str, value: str) -> bool:
    """True where a text has a value as whole words, letter by letter."""
    return re.search(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", text) is not None


def read_mini(path: Path) -> dict[str, dict[str, list[str]]]:
    """The names of a file of `mini`, their entities, and the snippets of each."""
    spaces = tomllib.loads(path.read_text())["space"]
    return {space["name"]: {entity["title"]: entity["snippets"] for entity in space["entity"]} for space in spaces}


def runs(text: str) -> set[tuple[str, ...]]:
    """Every run of words of a text that would give a context away."""
    found = words(text)
    return {tuple(found[i : i + SHARED_RUN]) for i in range(len(found) - SHARED_RUN + 1)}


def check_article(article: dict[str, Any], name: str, snippets: list[str], known: set[str]) -> Iterator[str]:
    """What is wrong with an article."""
    text, facts = article.get("text", ""), article.get("facts", {})
    if strange := set(article) - {"title", "text", "facts"}:
        yield f"strange fields {sorted(strange)}"
    if not FEWEST_WORDS <= len(words(text)) <= MOST_WORDS:
        yield f"{len(words(text))} words, not {FEWEST_WORDS} to {MOST_WORDS}"
    if re.search(r"[\[\]<>{}]|\s\s|\n", text) or text != text.strip():
        yield "markup, a line break or double spaces in the text"
    if not holds(text, name):
        yield f"the text does not have the name {name!r}"
    if not FEWEST_FACTS <= len(facts) <= MOST_FACTS:
        yield f"{len(facts)} facts, not {FEWEST_FACTS} to {MOST_FACTS}"
    for number, values in facts.items():
        yield from (f"{number}: {why}" for why in check_fact(number, values, text, known))
    for snippet in snippets:
        if shared := runs(text) & runs(snippet.replace("[[", "").replace("]]", "")):
            yield f"shares {' '.join(min(shared))!r} with a snippet of mini"


def check_fact(number: str, values: list[str], text: str, known: set[str]) -> Iterator[str]:
    """What is wrong with a property of an article and its values."""
    if number not in known:
        yield "is not in properties.toml"
    if not values:
        yield "has no value"
    for value in values:
        first, *others = value.split("|")
        if not first.strip() or any(not other.strip() for other in others):
            yield "an empty value"
        elif not holds(text, first):
            yield f"the text does not have {first!r}"


def check_question(question: dict[str, Any], spaces: dict[str, Any], texts: dict[str, str]) -> Iterator[str]:
    """What is wrong with a question that several namesakes answer."""
    name, answers = question.get("name", ""), question.get("answers", {})
    if strange := set(question) - {"name", "text", "answers"}:
        yield f"strange fields {sorted(strange)}"
    if name not in spaces:
        yield "no such name in this file"
        return
    if not holds(question.get("text", ""), name) or not question["text"].endswith("?"):
        yield "the question does not have the name, or does not end with a question mark"
    if len(answers) < 2:
        yield "fewer than two entities answer it"
    for title, values in answers.items():
        if title not in spaces[name]:
            yield f"{title!r} is not an entity of {name!r}"
            continue
        if not values:
            yield f"{title!r} has no answer"
        for value in values:
            if not holds(texts.get(title, ""), value.split("|")[0]):
                yield f"the article {title!r} does not have {value.split('|')[0]!r}"
            for other in set(answers) - {title}:
                if any(holds(texts.get(other, "").lower(), one.lower()) for one in value.split("|")):
                    yield f"{value!r} of {title!r} stands in the article {other!r} too"


def check_file(path: Path, known: set[str]) -> Iterator[str]:
    """Everything that is wrong with a file."""
    content = tomllib.loads(path.read_text())
    spaces = read_mini(SOURCES / "mini" / path.name)
    name_of = {title: name for name, entities in spaces.items() for title in entities}
    texts: dict[str, str] = {}
    for article in content.get("article", []):
        title = article.get("title", "")
        if title not in name_of:
            yield f"{title}: not an entity of mini/{path.name}"
            continue
        if title in texts:
            yield f"{title}: a second article"
        texts[title] = article.get("text", "")
        snippets = spaces[name_of[title]][title]
        yield from (f"{title}: {why}" for why in check_article(article, name_of[title], snippets, known))
    yield from (f"{title}: no article" for title in name_of if title not in texts)
    asked: set[str] = set()
    for question in content.get("question", []):
        yield from (f"{question.get('text')}: {why}" for why in check_question(question, spaces, texts))
        if question.get("name") in asked:
            yield f"{question['name']}: a second question"
        asked.add(question.get("name", ""))


def check_aliases(aliases: dict[str, list[str]], values: set[str]) -> Iterator[str]:
    """What is wrong with the other names of values."""
    for value, others in aliases.items():
        if value not in values:
            yield f"{value!r} is the value of no fact"
        if not others or len({value, *others}) != len(others) + 1 or any(not other.strip() for other in others):
            yield f"{value!r} has no other name, an empty one, or one twice"
        for other in others:
            if other in aliases and {value, *others} != {other, *aliases[other]}:
                yield f"{value!r} and {other!r} have different names, and mean the same"


def read_values(paths: list[Path]) -> set[str]:
    """The values of all facts, as the articles have them."""
    articles = (article for path in paths for article in tomllib.loads(path.read_text()).get("article", []))
    facts = (article.get("facts", {}) for article in articles)
    return {value.split("|")[0] for fact in facts for values in fact.values() for value in values}


def main(arguments: list[str]) -> int:
    """Checks the files, all where none is given."""
    folder = SOURCES / "namesakes"
    known = set(tomllib.loads((folder / "properties.toml").read_text()))
    articles = sorted(set(folder.glob("*.toml")) - {folder / name for name in NO_ARTICLES})
    paths = [Path(argument) for argument in arguments] or articles
    problems = [f"{path.name}: {why}" for path in paths for why in check_file(path, known)]
    aliases = tomllib.loads((folder / "aliases.toml").read_text())
    problems += [f"aliases.toml: {why}" for why in check_aliases(aliases, read_values(articles))]
    print("\n".join(problems) or f"{len(paths)} files, nothing wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
