"""What an import says of a dataset on a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe import Dataset
from shadowprobe.formats.imported import Remark
from shadowprobe.reporting.import_lines import import_lines


@pytest.mark.parametrize(
    ("count", "last"), [(5, "    line 4  no text"), (6, "    ... 1 more in {}/dataset.json, `repairs`")]
)
def test_five_remarks_of_a_kind_are_shown_and_the_others_are_in_the_card(world: Dataset, count: int, last: str) -> None:
    remarks = [Remark("dropped", "it is empty", f"line {number}", "no text") for number in range(count)]
    counts, kind, *shown = import_lines(world, remarks)
    assert counts.plain.startswith(f"{world.path}: ")
    assert f"{world.card.counts['top']} top" in counts.plain
    assert kind.plain == f"dropped: it is empty ({count})"
    assert [line.plain for line in shown[:5]] == [f"    line {number}  no text" for number in range(5)]
    assert shown[-1].plain == last.format(world.path)


def test_remarks_of_one_kind_stand_together_in_the_order_of_the_first(world: Dataset) -> None:
    kinds = [("kept", "it is long"), ("dropped", "it is long"), ("kept", "it is long")]
    remarks = [Remark(action, why, str(Path("a"))) for action, why in kinds]  # type: ignore[arg-type]
    lines = [line.plain for line in import_lines(world, remarks)]
    assert [line for line in lines if not line.startswith(" ")][1:] == [
        "kept: it is long (2)",
        "dropped: it is long (1)",
    ]
