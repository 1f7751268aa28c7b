"""How pages are divided into parts: by their number alone, so that the parts do not depend on the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import pytest

from shadowprobe.base.languages import Language
from shadowprobe.build.gather import Gatherer
from shadowprobe.build.settings import BuildSettings
from shadowprobe.compute.executor import SerialExecutor


class Watcher(SerialExecutor):
    """Notes the sizes of parts, and does nothing with them."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def map(self, function: Callable[[Any], Any], parts: Iterable[Any]) -> Iterator[Any]:
        self.sizes += [len(part) for part in parts]
        return iter(())


@pytest.mark.parametrize(
    ("pages", "sizes"),
    [
        (20, [8, 8, 4]),
        # Sixty-four parts of eight pages.
        (512, [8] * 64),
        (640, [10] * 64),
        # No part has more than 500 pages.
        (64 * 500, [500] * 64),
        (64 * 501, [500] * 64 + [64]),
    ],
)
def test_there_are_about_64_parts_of_8_to_500_pages(pages: int, sizes: list[int]) -> None:
    executor = Watcher()
    settings, nothing = BuildSettings(wiki="", name=""), cast(Any, None)
    gatherer = Gatherer(nothing, Language("en"), nothing, settings, nothing, nothing, nothing, executor=executor)
    works: Any = iter(range(pages))
    assert list(gatherer._cut_parts(works, pages, "tail")) == []
    assert executor.sizes == sizes
