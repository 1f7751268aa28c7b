"""Rankings as they are stored, of our own or in KILT's form, and as a probe reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from retrieval_world import as_kilt, rankings_of, write_collection

from shadowprobe import InputError
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.measure.rankings import look_up, read_rankings
from shadowprobe.queries.collection import Collection
from shadowprobe.queries.query import Ranking


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return write_collection(tmp_path / "little")


def written(tmp_path: Path, *lines: Any) -> Path:
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def provenance(*pages: object) -> dict[str, Any]:
    return {"provenance": [{"wikipedia_id": page} for page in pages]}


def test_our_own_lines_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, {"id": "q", "documents": ["b", "a"], "scores": [2.5, 1]}, {"id": "r", "documents": []})
    assert read_rankings(path) == [Ranking("q", ("b", "a"), (2.5, 1)), Ranking("r", ())]


def test_kilts_form_is_read_with_an_output_of_one_or_of_a_list(tmp_path: Path) -> None:
    first = {"id": "q", "input": "?", "output": {"answer": "x", **provenance("307", "308")}}
    second = {"id": "r", "output": [provenance("9"), provenance("10")]}
    assert read_rankings(written(tmp_path, first, second)) == [Ranking("q", ("307", "308")), Ranking("r", ("9",))]


def test_of_kilts_pages_numbers_are_taken_and_those_without_an_id_passed_over(tmp_path: Path) -> None:
    output = provenance("None", 307, None, "308")
    output["provenance"].append({"title": "no id at all"})
    assert read_rankings(written(tmp_path, {"id": "q", "output": output})) == [Ranking("q", ("307", "308"))]


def test_a_document_that_stands_twice_counts_where_it_stands_first(tmp_path: Path) -> None:
    kilt = written(tmp_path, {"id": "q", "output": provenance("2", "1", "2", "3", "1")})
    assert read_rankings(kilt) == [Ranking("q", ("2", "1", "3"))]
    own = written(tmp_path, {"id": "q", "documents": ["2", "2", "1"], "scores": [3, 2, 1]})
    assert read_rankings(own) == [Ranking("q", ("2", "1"), (3, 1))]


def test_the_first_line_may_have_no_document(tmp_path: Path) -> None:
    path = written(tmp_path, "", {"id": "q", "output": {"answer": "x"}}, {"id": "r", "output": provenance("1")})
    assert read_rankings(path) == [Ranking("q", ()), Ranking("r", ("1",))]


def test_an_id_does_not_decide_the_form(tmp_path: Path) -> None:
    path = written(tmp_path, {"id": "output", "documents": ["provenance"]})
    assert read_rankings(path) == [Ranking("output", ("provenance",))]


def test_an_empty_file_has_no_rankings(tmp_path: Path) -> None:
    assert read_rankings(written(tmp_path)) == []


REFUSED = [
    ('{"id": "q", "documents": [', None, "not valid JSON"),
    ({"documents": ["a"]}, "id", "missing"),
    ({"id": "q"}, "documents", "missing"),
    ({"id": "q", "documents": "a"}, "documents", "Expected `array`, got `str`"),
    ({"id": "q", "documents": [1]}, "documents[0]", "Expected `str`, got `int`"),
    ({"id": "q", "documents": ["a"], "scores": [1, 2]}, "scores", "has another length than `documents`"),
    ({"id": "q", "documents": ["a"], "scores": [None]}, "scores[0]", "Expected `float`, got `null`"),
    ({"id": "good", "documents": []}, "id", "'good' stands twice"),
    ("[1]", None, "Expected `object`, got `array`"),
]


@pytest.mark.parametrize(("line", "field", "words"), REFUSED, ids=[words for _, _, words in REFUSED])
def test_a_line_with_a_fault_is_refused(tmp_path: Path, line: Any, field: str | None, words: str) -> None:
    path = written(tmp_path, {"id": "good", "documents": ["a"]}, line)
    with pytest.raises(InputError) as refused:
        read_rankings(path)
    assert words in str(refused.value)
    assert (refused.value.path, refused.value.line, refused.value.field) == (path, 2, field)


@pytest.mark.parametrize(
    ("output", "field", "words"),
    [([], "output", "is empty"), ("307", "output", "Expected"), ({"provenance": 1}, "output.provenance", "Expected")],
)
def test_an_output_that_is_none_is_refused(tmp_path: Path, output: Any, field: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        read_rankings(written(tmp_path, {"id": "q", "output": output}))
    assert (refused.value.line, refused.value.field) == (1, field)


def test_bytes_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(b'{"id": "\xff", "documents": []}\n')
    with pytest.raises(InputError, match="is not UTF-8"):
        read_rankings(path)


def test_a_path_that_is_not_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_rankings(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is a directory"):
        read_rankings(tmp_path)


def test_a_ranking_in_kilts_form_reads_back_as_itself(tmp_path: Path) -> None:
    rankings = [Ranking("q", ("b", "a")), Ranking("r", ())]
    path = tmp_path / "kilt.jsonl"
    path.write_bytes(encode_lines(map(as_kilt, rankings)))
    assert read_rankings(path) == rankings


def test_articles_are_counted_once_where_their_best_passage_stands(collection: Collection) -> None:
    ranked = rankings_of(collection, {"q": ["elbe", "avon-river-2", "avon-ship", "avon-river-1"]})
    assert ranked.articles("q") == ["elbe", "avon-river", "avon-ship"]
    assert ranked.passages("q") == ("elbe", "avon-river-2", "avon-ship", "avon-river-1")


def test_the_depth_is_of_articles_where_articles_count(collection: Collection) -> None:
    ranked = rankings_of(collection, {"q": ["avon-river-1", "avon-river-2", "elbe", "avon-ship"]}, depth=2)
    assert ranked.articles("q") == ["avon-river", "elbe"]
    assert ranked.passages("q") == ("avon-river-1", "avon-river-2")


def test_a_query_without_a_ranking_has_found_nothing(collection: Collection) -> None:
    ranked = rankings_of(collection, {"empty": []})
    assert "empty" in ranked
    assert "never" not in ranked
    assert ranked.articles("empty") == ranked.articles("never") == []


def test_what_a_collection_lacks_is_found_out(collection: Collection) -> None:
    found = look_up(collection, {"avon-river-1", "avon-river", "elbe", "dale-ship"})
    # A passage, an article of which there are passages, a document of its own, and nothing at all.
    assert found.pages == {"avon-river-1": "avon-river"}
    assert found.lacking == {"dale-ship"}
