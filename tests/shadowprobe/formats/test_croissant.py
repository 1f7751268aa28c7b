"""Croissant metadata: what it says of a dataset, of its files and of their columns."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import Card
from shadowprobe.formats.croissant import make_metadata


def describe(*files: Path, **fields: Any) -> dict[str, Any]:
    return make_metadata(Card(**{"name": "mine", **fields}), files)


@pytest.mark.parametrize(
    ("version", "written"),
    [("2", "2.0.0"), ("2.1", "2.1.0"), ("2.1.3", "2.1.3"), ("2.1.3.4", "1.0.0"), ("spring", "1.0.0"), ("", "1.0.0")],
)
def test_a_version_has_three_numbers(version: str, written: str) -> None:
    assert describe(version=version)["version"] == written


def test_what_a_card_does_not_say_is_said_in_another_way() -> None:
    bare = describe(name="my set/1")
    assert (bare["name"], bare["description"]) == ("my_set_1", "my set/1.")
    assert (bare["license"], bare["citeAs"], "url" in bare) == ("unknown", "my set/1", False)
    full = describe(title="Mine", about="All\n of it.", license="MIT", source="https://x.example/a", language="de")
    assert (full["description"], full["license"], full["inLanguage"]) == ("Mine. All of it.", "MIT", "de")
    assert full["url"] == full["citeAs"] == "https://x.example/a"
    book = describe(source="A\nbook")
    assert (book["citeAs"], "url" in book) == ("A book", False)


def test_a_file_has_its_size_and_digest_and_the_columns_that_have_a_value(tmp_path: Path) -> None:
    file = tmp_path / "spaces.jsonl"
    content = b'{"name": "Avon"}\n{"name": "Berg", "entities": ["A", "B"]}\n'
    file.write_bytes(content)
    found = describe(file)
    assert found["distribution"] == [
        {
            "@type": "cr:FileObject",
            "@id": "spaces.jsonl",
            "name": "spaces.jsonl",
            "contentUrl": "spaces.jsonl",
            "contentSize": f"{len(content)} B",
            "encodingFormat": "application/jsonlines",
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    ]
    (records,) = found["recordSet"]
    assert (records["@id"], records["name"]) == ("spaces", "spaces")
    name, entities = records["field"]
    assert (name["@id"], name["dataType"], "repeated" in name) == ("spaces/name", "sc:Text", False)
    assert entities["repeated"] is True
    assert entities["source"] == {"fileObject": {"@id": "spaces.jsonl"}, "extract": {"column": "entities"}}
    snippets = tmp_path / "top.jsonl"
    snippets.write_text('{"id": "a", "start": 1}\n')
    fields = describe(snippets)["recordSet"][0]["field"]
    assert [(one["name"], one["dataType"]) for one in fields] == [("id", "sc:Text"), ("start", "sc:Integer")]


def test_the_context_gives_each_term_its_meaning() -> None:
    context = describe()["@context"]
    assert [context[term] for term in ("recordSet", "field", "md5")] == ["cr:recordSet", "cr:field", "cr:md5"]
    # The terms that the specification gives another vocabulary or a type.
    assert context["conformsTo"] == "dct:conformsTo"
    assert context["dataType"] == {"@id": "cr:dataType", "@type": "@vocab"}
    assert context["data"]["@type"] == context["examples"]["@type"] == "@json"
