"""Writes the built-in collection `namesakes` from its sources: `python scripts/make_namesakes.py [--check]`."""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from shadowprobe.base.files import file_digest
from shadowprobe.base.jsonl import encode_json, encode_lines
from shadowprobe.dataset.knowledge import base_name
from shadowprobe.queries.amber_sets import FILE
from shadowprobe.queries.collection import CARD, DOCUMENTS, CollectionCard
from shadowprobe.queries.query import Document
from shadowprobe.queries.question_files import Question, make_question, relations
from shadowprobe.sets.amber_rules import MadeSets, Namesake, Properties, Property, make_sets, read_properties

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "data" / "sources"
TARGET = ROOT / "data" / "namesakes"
# Relations whose question fits only some of the kinds that have the property.
FITTING = {
    "P17": {"place", "team", "organisation"},
    "P800": {"person"},
    "P106": {"person"},
    "P26": {"person"},
    "P40": {"person"},
    "P413": {"person"},
}
# Values for a false claim, of properties that only one entity of the sets has.
FALSE_VALUES = {"P2437": ("four",)}
# Music has a genre that is asked for; a film's is not "played".
MUSIC = {"P264", "P1303", "P175"}


class Article(NamedTuple):
    """An entity of `mini` with its article and facts."""

    name: str
    title: str
    kind: str
    text: str
    facts: dict[str, tuple[tuple[str, ...], ...]]

    @property
    def document(self) -> Document:
        """What a retriever finds."""
        return Document(self.title, self.title, self.text)


def read_articles() -> list[Article]:
    """Every article, in the order of `mini`: by name, and within it the most prominent entity first."""
    found = []
    aliases = read_aliases()
    for path in sorted(SOURCES.glob("mini/*.toml")):
        written = tomllib.loads((SOURCES / "namesakes" / path.name).read_text(encoding="utf-8"))
        articles = {article["title"]: article for article in written["article"]}
        for space in tomllib.loads(path.read_text(encoding="utf-8"))["space"]:
            for entity in space["entity"]:
                article = articles[entity["title"]]
                facts = {
                    number: tuple(list_forms(value, aliases) for value in values)
                    for number, values in article["facts"].items()
                }
                found.append(Article(space["name"], entity["title"], entity["kind"], article["text"], facts))
    return found


def read_aliases() -> dict[str, list[str]]:
    """The other names of values, by the form that the articles use."""
    found: dict[str, list[str]] = tomllib.loads((SOURCES / "namesakes" / "aliases.toml").read_text(encoding="utf-8"))
    return found


def list_forms(value: str, aliases: dict[str, list[str]]) -> tuple[str, ...]:
    """The forms of a value: those of its fact, then the other names that it has everywhere."""
    first, *others = value.split("|")
    return tuple(dict.fromkeys([first, *others, *aliases.get(first, ())]))


def read_own_properties() -> Properties:
    """The kinds of the collection, with the properties of the paper and ours."""
    own = msgspec.convert(tomllib.loads((SOURCES / "namesakes" / "amber.toml").read_text(encoding="utf-8")), Properties)
    return Properties(own.types, {**own.properties, **read_properties().properties})


def make_amber(articles: list[Article], collection: str, own: Properties) -> MadeSets:
    """The sets of one collection: entities of its kinds, each with the properties that its kind is told apart by."""
    names: dict[str, list[Namesake]] = {}
    used: dict[str, Property] = {}
    for article in articles:
        kind = own.types[collection].get(article.kind)
        if kind is None:
            continue
        facts = {n: values for n, values in article.facts.items() if n in kind.properties and _fits(n, article)}
        used |= {
            number: msgspec.structs.replace(own.properties[number], others=FALSE_VALUES.get(number, ()))
            for number in facts
        }
        names.setdefault(article.name, []).append(Namesake(article.title, (article.document,), facts))
    return make_sets(names, used)


def make_questions(articles: list[Article]) -> dict[str, list[Question]]:
    """The entity questions by relation; one that two entities of a label could be meant by is left out."""
    asked: list[tuple[str, str, Article]] = [
        (number, base_name(article.title), article)
        for article in articles
        for number in article.facts
        if number in relations() and _fits(number, article)
    ]
    often = Counter((number, subject) for number, subject, _ in asked)
    questions: dict[str, list[Question]] = {}
    for number, subject, article in asked:
        if often[number, subject] == 1:
            answers = tuple(dict.fromkeys(form for value in article.facts[number] for form in value))
            questions.setdefault(number, []).append(Question(make_question(number, subject), answers, subject))
    return questions


def _fits(number: str, article: Article) -> bool:
    if number == "P136":
        return bool(MUSIC & article.facts.keys())
    return article.kind in FITTING.get(number, {article.kind})


def make_ambigdocs(articles: list[Article]) -> list[dict[str, Any]]:
    """The sets of same-name documents with a question that each answers in its own way."""
    by_title = {article.title: article for article in articles}
    sets: list[dict[str, Any]] = []
    for path in sorted(SOURCES.glob("mini/*.toml")):
        for question in tomllib.loads((SOURCES / "namesakes" / path.name).read_text(encoding="utf-8"))["question"]:
            documents = [
                {
                    "title": title,
                    "text": by_title[title].text,
                    "pid": title,
                    "answer": [form for value in values for form in value.split("|")],
                }
                for title, values in question["answers"].items()
            ]
            sets.append(
                {
                    "question": question["text"],
                    "ambiguous_entity": question["name"],
                    "qid": f"namesakes-{len(sets) + 1:03}",
                    "documents": documents,
                }
            )
    return sets


def write(target: Path) -> CollectionCard:
    """Writes the collection into a folder."""
    articles = read_articles()
    own = read_own_properties()
    contents = {DOCUMENTS: encode_lines(article.document for article in articles)}
    counts = {"names": len({article.name for article in articles}), "documents": len(articles)}
    for collection in own.types:
        made = make_amber(articles, collection, own)
        for task, sets in made.sets.items():
            contents[f"amber/{collection}/{task}/{FILE}"] = encode_lines(sets)
            counts[f"amber_{collection}_sets"] = len(sets)
            counts[f"amber_{collection}_{task}"] = sum(len(list(each.queries())) for each in sets)
    questions = make_questions(articles)
    for number, found in questions.items():
        contents[f"entity_questions/{number}.test.json"] = encode_json(found)
    counts |= {"relations": len(questions), "entity_questions": sum(map(len, questions.values()))}
    ambigdocs = make_ambigdocs(articles)
    contents["ambigdocs.json"] = encode_json(ambigdocs)
    counts["ambigdocs"] = len(ambigdocs)
    for name, content in contents.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)
    card = CollectionCard(
        name="namesakes",
        title="Short articles about real entities that share a name, and queries about them",
        license="CC BY 4.0, the shadowprobe authors",
        made="scripts/make_namesakes.py, from data/sources",
        counts=counts,
        files={name: file_digest(target / name) for name in contents},
    )
    (target / CARD).write_bytes(encode_json(card))
    return card


def main(arguments: list[str]) -> int:
    """Writes the collection, or says whether what is there is what would be written."""
    if arguments != ["--check"]:
        print(encode_json(write(TARGET).counts).decode())
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        write(Path(scratch))
        old, new = (
            {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            for folder in (TARGET, Path(scratch))
        )
    print("as its sources say" if old == new else "not as its sources say: run scripts/make_namesakes.py")
    return 0 if old == new else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
