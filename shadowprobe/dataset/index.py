"""The snippets of a dataset by row number: all that scoring needs to know of them, without their texts."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from shadowprobe.base.model import Snippet

if TYPE_CHECKING:
    # Importing it takes longer than opening a small dataset.
    import numpy as np
    import numpy.typing as npt

# Long enough that two different questions never share a digest.
QUESTION_BYTES = 16
BLOCK = 65536
# The code of a space or gold entity that a snippet does not have.
NONE = -1


def digest_question(snippet: Snippet) -> bytes:
    """A digest of what a linker is asked; snippets with the same digest get the same answer."""
    # With a masked mention the text does not show whose candidates are meant, so the name is part of the question.
    hidden_name = snippet.space if snippet.space != snippet.mention else None
    # The fourth value is always None; stored replies of earlier versions have digests with it.
    content = msgspec.json.encode((snippet.text, snippet.start, snippet.end, None, hidden_name))
    return blake2b(content, digest_size=QUESTION_BYTES).digest()


class SnippetIndex:
    """One row per snippet, in the order of the files: its id, subset, space, gold entity and question, as codes."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.subsets, self.spaces, self.golds = array("b"), array("i"), array("i")
        # The foreign document that a snippet is a mention of.
        self.documents = array("i")
        self._document_codes: dict[str, int] = {}
        self.questions = bytearray()

        # The template of each neutral context, and the text of each template with `{name}` for the mention; None where
        # the contexts of a template differ.
        self.templates = array("i")
        self.template_texts: dict[int, str | None] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, snippet: Snippet, subset: int, space: int, gold: int) -> None:
        """Adds the next row."""
        template = NONE
        if snippet.template is not None:
            template = snippet.template
            text = f"{snippet.text[: snippet.start]}{{name}}{snippet.text[snippet.end :]}"
            if self.template_texts.setdefault(template, text) != text:
                self.template_texts[template] = None
        document = NONE
        if snippet.document is not None:
            document = self._document_codes.setdefault(snippet.document, len(self._document_codes))
        self.add_codes(snippet.id, subset, space, gold, template, digest_question(snippet), document)

    def add_codes(
        self,
        snippet_id: str,
        subset: int,
        space: int,
        gold: int,
        template: int,
        question: bytes,
        document: int = NONE,
    ) -> None:
        """Adds the next row by its codes."""
        self.rows[snippet_id] = len(self.rows)
        self.subsets.append(subset)
        self.spaces.append(space)
        self.golds.append(gold)
        self.templates.append(template)
        self.documents.append(document)
        self.questions += question

    def take(self, rows: Sequence[int]) -> SnippetIndex:
        """An index of some of the rows, numbered anew."""
        part, ids, size = SnippetIndex(), list(self.rows), QUESTION_BYTES
        part.rows = {ids[row]: number for number, row in enumerate(rows)}
        for name in ("subsets", "spaces", "golds", "templates", "documents"):
            column: array[int] = getattr(self, name)
            setattr(part, name, array(column.typecode, (column[row] for row in rows)))
        part.questions = bytearray(b"".join(self.questions[row * size : (row + 1) * size] for row in rows))
        part.template_texts = self.template_texts
        return part

    def first(self, limit: int) -> SnippetIndex:
        """An index of the first spaces, and in each subset of as many snippets without a space."""
        rows = []
        without_space: Counter[int] = Counter()
        for row, (subset, space) in enumerate(zip(self.subsets, self.spaces, strict=True)):
            if space == NONE:
                without_space[subset] += 1
            if space < limit and (space != NONE or without_space[subset] <= limit):
                rows.append(row)
        return self.take(rows)

    def find_repeats(self, waiting: npt.NDArray[np.bool_], *, with_gold: bool) -> Repeats:
        """The rows that are waiting for an answer, grouped by what they ask; with the gold, also by that."""
        import numpy as np

        rows = np.flatnonzero(waiting).astype(np.int32)
        columns = list(np.frombuffer(self.questions, dtype=np.int64).reshape(-1, 2).T)
        if with_gold:
            # The release has texts that stand in Top and in Shadow, with two gold answers for the same mention.
            columns.append(np.frombuffer(self.golds, dtype=np.int32))
        # Rows that ask the same come to stand side by side, and among themselves in the order of the dataset. Half of
        # the digest is enough for that, and takes half the memory; whole digests are compared below.
        rows = rows[np.lexsort([column[rows] for column in columns[1:]])]
        following = np.full(len(self), NONE, dtype=np.int32)
        is_first = waiting.copy()
        # In blocks, which bounds the memory for the comparison.
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK + 1]
            is_repeat = np.logical_and.reduce([column[block[1:]] == column[block[:-1]] for column in columns])
            following[block[:-1][is_repeat]] = block[1:][is_repeat]
            is_first[block[1:][is_repeat]] = False
        return Repeats(is_first, following)


class Repeats(NamedTuple):
    """Waiting rows with the later ones that ask the same."""

    first: npt.NDArray[np.bool_]
    following: npt.NDArray[np.int32]

    def is_first(self, row: int) -> bool:
        """True for a waiting row that asks something new."""
        return bool(self.first[row])

    def rows_of(self, row: int) -> list[int]:
        """The row and all later ones that ask the same."""
        rows = [row]
        while (row := int(self.following[row])) != NONE:
            rows.append(row)
        return rows
