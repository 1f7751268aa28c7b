"""The entities that a system has seen in training, as a user lists them (EntityQuestions, section 4.1)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from shadowprobe.base.files import file_digest, read_text_lines
from shadowprobe.base.identity import normalise_title
from shadowprobe.errors import InputError
from shadowprobe.queries.collection import Collection

_QID = re.compile(r"Q[1-9][0-9]*")


class SeenEntities:
    """A list of titles and QIDs, one on each line; QIDs stand for the titles of their documents."""

    def __init__(self, path: Path, collection: Collection) -> None:
        lines = dict.fromkeys(text.strip() for _, text in read_text_lines(path) if text.strip())
        if not lines:
            raise InputError(path, "lists no entity: give a title or a QID on each line")
        qids = {line for line in lines if _QID.fullmatch(line)}
        found = {one.qid: one.title for one in collection.documents() if one.qid in qids} if qids else {}
        titles = [*(line for line in lines if line not in qids), *found.values()]
        self._titles = frozenset(map(normalise_title, titles))
        self._path, self.listed, self.unknown_qids = path, len(lines), len(qids) - len(found)

    def __contains__(self, subject: str) -> bool:
        return normalise_title(subject) in self._titles

    def describe(self) -> dict[str, Any]:
        """The entry of the list in results.json."""
        return {"entities": self.listed, "unknown_qids": self.unknown_qids, "digest": file_digest(self._path)}

    def note(self) -> str | None:
        """What a reader of the results must know about the list."""
        if not self.unknown_qids:
            return None
        return f"--seen: {self.unknown_qids} of the {self.listed} entities are QIDs that no document has"
