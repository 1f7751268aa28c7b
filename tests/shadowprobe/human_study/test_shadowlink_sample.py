"""Which snippets a sample of ShadowLink has, and how many it can have."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import snippet

from shadowprobe import Card, Dataset, Entity, EntitySpace, UsageError, write_dataset
from shadowprobe.human_study.shadowlink_sample import draw_sample


def make_dataset(path: Path, tops: int, shadows: int) -> Dataset:
    """A dataset of names, of which some have a Top and some a Shadow snippet."""
    names = [f"Town{number}" for number in range(max(tops, shadows))]
    titles = {name: (f"{name} (river)", f"{name} (ship)") for name in names}
    snippets = {
        subset: [
            snippet(f"{subset}{name}", subset, f"Here is {name}.", name, space=name, gold=titles[name][place])
            for name in names[:count]
        ]
        for place, (subset, count) in enumerate({"top": tops, "shadow": shadows}.items())
    }
    entities = [Entity(title) for pair in titles.values() for title in pair]
    spaces = [EntitySpace(name, pair) for name, pair in titles.items()]
    return write_dataset(path, Card(name="towns"), entities, spaces, snippets)  # type: ignore[arg-type]


@pytest.mark.parametrize(("tops", "shadows", "most"), [(2, 3, 5), (3, 2, 4), (1, 1, 2)])
def test_shadow_and_top_take_turns_as_long_as_there_are_both(
    tmp_path: Path, tops: int, shadows: int, most: int
) -> None:
    dataset = make_dataset(tmp_path / "data", tops, shadows)
    drawn = [item.subset for item in draw_sample(dataset, most, seed=1).key.items]
    # Shadow is first.
    assert (drawn.count("shadow"), drawn.count("top")) == ((most + 1) // 2, most // 2)
    message = f"`towns` has {tops} Top and {shadows} Shadow snippets; {most} at most"
    with pytest.raises(UsageError, match=message):
        draw_sample(dataset, most + 1, seed=1)


def test_another_seed_draws_other_snippets(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "data", 8, 8)
    samples = [frozenset(item.id for item in draw_sample(dataset, 2, seed=seed).key.items) for seed in range(8)]
    # With one pair of 64 each time, eight equal ones would be a chance of 1 in 10^12.
    assert len(set(samples)) > 1
