"""What all snippets together show: longer names, shared sentences and near duplicates."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from msgspec.structs import replace
from wiki_standin import StandIn, running

from shadowprobe.build.cut_filter import filter_cuts
from shadowprobe.build.longer_names import LONGER_NAME
from shadowprobe.build.near_duplicates import NEAR_DUPLICATE, NearDuplicates
from shadowprobe.build.qualifiers import SHARED_SENTENCE
from shadowprobe.dataset.kept_pages import Cut

WALL = "On that day they came to see the Berlin Wall and did not believe it."
SNOW = "Whoever has seen Berlin in the snow knows why it was so cold there."
RAIN = "There was a storm over Berlin, and all of the boats were lost in it."
COPY = "There was a storm over Berlin, and all of the boats were lost in it!"
FILM = "Nobody in the cinema had understood Berlin before the lights went on."


def cut(original: str, entity: str = "Berlin", url: str = "http://one.example") -> Cut:
    start = original.index("Berlin")
    return Cut(entity, "Berlin", original, start, start + 6, "Berlin", original, url, 0)


def test_each_rule_drops_its_snippets_and_the_others_keep_their_order(tmp_path: Path) -> None:
    standin = StandIn()
    standin.add("Berlin Wall", 1)
    cuts = [
        cut(RAIN),
        cut(FILM),
        cut(WALL),
        # The same sentence of another entity: neither says whom it means.
        cut(FILM, "Berlin (film)", "http://two.example"),
        cut(SNOW),
        cut(COPY, url="http://three.example"),
    ]
    dropped: Counter[str] = Counter()
    steps: list[tuple[int, int]] = []
    with running(standin, tmp_path) as server:
        kept = filter_cuts(
            iter(cuts),
            server.wiki(),
            NearDuplicates(),
            dropped,
            tmp_path,
            lambda done, total: steps.append((done, total)),
        )
        assert list(kept) == [cuts[0], cuts[4]]
    assert dropped == {LONGER_NAME: 1, SHARED_SENTENCE: 2, NEAR_DUPLICATE: 1}
    assert steps == [(1, 1)]


def test_a_sentence_counts_as_shared_only_if_both_snippets_are_usable(tmp_path: Path) -> None:
    standin = StandIn()
    standin.add("Berlin Wall", 1)
    # For the city, "Berlin Wall" is a longer name, and its snippet is dropped first. It is the other entity itself.
    text = WALL.replace("Berlin Wall", "Berlin")
    cuts = [cut(WALL), replace(cut(WALL, "Berlin Wall"), text=text, written="Berlin Wall")]
    dropped: Counter[str] = Counter()
    with running(standin, tmp_path) as server:
        assert list(filter_cuts(cuts, server.wiki(), NearDuplicates(), dropped, tmp_path)) == cuts[1:]
    assert dropped == {LONGER_NAME: 1}
