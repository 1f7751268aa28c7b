"""The order in which the documents of a set are shown to a language model."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal, TypeVar, get_args

from msgspec import Struct

Order = Literal["shuffled", "given", "reversed"]
ORDERS: tuple[Order, ...] = get_args(Order)
T = TypeVar("T")


class DocumentOrder(Struct, frozen=True):
    """Random for each set, so that the popular entity is not always first; or that of the file, or its reverse."""

    order: Order = "shuffled"
    # Of the random order.
    seed: int = 0

    def arrange(self, set_id: str, documents: Sequence[T]) -> list[T]:
        """The documents of a set, or one thing for each of them, in the order in which they are shown.

        A random order depends on the set and the number of its documents alone.
        """
        arranged = list(documents)
        if self.order == "shuffled":
            random.Random(f"{self.seed}\n{set_id}").shuffle(arranged)
        elif self.order == "reversed":
            arranged.reverse()
        return arranged
