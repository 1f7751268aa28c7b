"""Variants of snippets that a probe needs linked: what they cost, what is left, and whose answer each has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from world import hand_predictions, linked, shadow, top

from shadowprobe import Answers, Dataset, PluginError, Snippet
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.measure.probe import VariantProbe
from shadowprobe.running.variant_dataset import Variants


class Shouted(VariantProbe):
    """Top snippets with an exclamation mark, and the first Shadow snippets as they are or with another mention."""

    name = "shouted"

    def variants(self, dataset: Dataset) -> Iterator[tuple[str, Snippet]]:
        for snippet in dataset.snippets("top"):
            yield "loud", replace(snippet, text=f"{snippet.text}!")
        for number, snippet in enumerate(dataset.snippets("shadow")):
            if number < 2:
                yield "same", snippet
                yield "loud", replace(snippet, end=snippet.end - 1)


class Broken(VariantProbe):
    name = "broken"

    def variants(self, dataset: Dataset) -> Iterator[tuple[str, Snippet]]:
        raise ValueError("no words")


def test_only_what_differs_from_its_snippet_is_linked(world: Dataset, tmp_path: Path) -> None:
    variants = Variants(Shouted(), world, tmp_path)
    assert variants.names == ["loud", "same"]
    assert variants.cost == {"loud": 6, "same": 0}
    dataset = variants.write()
    assert dataset is not None
    ids = [snippet.id for snippet in dataset.snippets()]
    assert ids == ["tAvon~loud", "tBerg~loud", "tComo~loud", "tDale~loud", "sAvon~loud", "sBerg~loud"]
    assert dataset.path == tmp_path / "extra" / "shouted" / "dataset"
    assert (dataset.name, dataset.subsets) == ("world~shouted", ("top", "shadow"))


def test_a_limited_run_has_variants_of_its_own(world: Dataset, tmp_path: Path) -> None:
    variants = Variants(Shouted(), world.first(1), tmp_path)
    assert variants.out == tmp_path / "extra" / "shouted-first-1"
    # Avon alone, in its Top and its Shadow context.
    assert variants.cost == {"loud": 2, "same": 0}


def test_nothing_is_written_where_nothing_needs_linking(world: Dataset, tmp_path: Path) -> None:
    class Same(VariantProbe):
        name = "same"

        def variants(self, dataset: Dataset) -> Iterator[tuple[str, Snippet]]:
            yield from (("as it is", snippet) for snippet in dataset.snippets("tail"))

    variants = Variants(Same(), world, tmp_path)
    assert variants.write() is None
    assert (variants.cost, variants.left()) == ({"as it is": 0}, {"as it is": 0})


def test_what_is_linked_already_is_not_left(world: Dataset, tmp_path: Path) -> None:
    variants = Variants(Shouted(), world, tmp_path)
    assert not variants.are_linked()
    assert variants.left() == {"loud": 6, "same": 0}
    variants.out.mkdir(parents=True)
    done = encode_lines([linked("tAvon~loud", top("Avon")), linked("sBerg~loud", top("Berg"))])
    # A run that was killed leaves half a line.
    (variants.out / "predictions.jsonl").write_bytes(done + b'{"id": "tBer')
    assert variants.are_linked()
    assert variants.left() == {"loud": 4, "same": 0}


def test_a_variant_has_its_own_answer_or_that_of_the_same_question(world: Dataset, tmp_path: Path) -> None:
    variants = Variants(Shouted(), world, tmp_path)
    (tmp_path / "predictions.jsonl").write_bytes(encode_lines(hand_predictions()))
    answers = Answers(world).fill(hand_predictions())
    for has_links, avon in ((False, None), (True, shadow("Avon"))):
        if has_links:
            variants.out.mkdir(parents=True)
            (variants.out / "predictions.jsonl").write_bytes(encode_lines([linked("tAvon~loud", shadow("Avon"))]))
        found = variants.read(answers, tmp_path / "predictions.jsonl")
        ids = list(answers.row)
        rows = {name: [ids[row] for row in one.rows.nonzero()[0]] for name, one in found.items()}
        assert rows == {
            "loud": ["tAvon", "tBerg", "tComo", "tDale", "sAvon", "sBerg"],
            "same": ["sAvon", "sBerg"],
        }
        loud, same = found["loud"].answers, found["same"].answers
        entity = int(loud.entity[answers.row["tAvon"]])
        assert (loud.names[entity] if entity >= 0 else None) == avon
        # The run has the river for both, and Berg is right.
        assert [bool(same.correct[answers.row[one]]) for one in ("sAvon", "sBerg")] == [False, True]


def test_a_probe_that_cannot_make_its_variants_is_named(world: Dataset, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="probe `broken` failed to make its variants: ValueError: no words"):
        Variants(Broken(), world, tmp_path).write()
