"""What a linker answers in the neutral contexts of names: linked once, and kept in the user's cache."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from shadowprobe import Failure, ItemError, Knowledge, Linker, LinkerError, Prediction, UsageError
from shadowprobe.base.files import make_directory, write_atomically
from shadowprobe.catalogue.datasets import cache_directory
from shadowprobe.dataset.neutral import make_neutral_snippets
from shadowprobe.errors import format_error
from shadowprobe.systems.calling import by_id
from shadowprobe.systems.linker import without_gold


class _Entry(Struct, frozen=True):
    """One file of the cache."""

    name: str
    predictions: list[Prediction]


class NeutralAnswers:
    """The predictions of a linker for the neutral contexts of names.

    A directory of the cache belongs to one linker with its version and options, one set of entities, and one set of
    templates. It has a file for each name. Files are replaced as a whole, so that several processes can write them.
    """

    def __init__(
        self, linker: Linker, knowledge: Knowledge, templates: Sequence[str], description: dict[str, Any]
    ) -> None:
        self._linker, self._templates = linker, templates
        self._directory: Path | None = None
        # Without a version, a changed linker would get the answers of the old one.
        if linker.version:
            key = (description, list(knowledge.entities.values()), knowledge.spaces, knowledge.language, templates)
            digest = hashlib.sha256(msgspec.json.encode(key)).hexdigest()
            self._directory = cache_directory() / "neutral" / digest[:32]
        self.problem = ""

    def find(self, names: Iterable[str]) -> dict[str, list[Prediction] | str]:
        """For each name its predictions, from the cache or new; or why the linker has none."""
        found: dict[str, list[Prediction] | str] = {}
        missing = []
        for name in names:
            stored = self._read(name)
            if stored is None:
                missing.append(name)
            else:
                found[name] = stored
        # So many names at a time that a batch is about as large as the linker wants it.
        size = max(1, self._linker.batch_size // max(1, len(self._templates)))
        for start in range(0, len(missing), size):
            for name, answers in self._link(missing[start : start + size]):
                found[name] = answers
                if not isinstance(answers, str):
                    self._write(name, answers)
        return found

    def _link(self, names: Sequence[str]) -> Iterator[tuple[str, list[Prediction] | str]]:
        """Links the contexts of some names; where the linker fails on all together, it is asked for each alone."""
        snippets = [without_gold(one) for one in make_neutral_snippets(names, self._templates, "debiased")]
        try:
            given = by_id(self._linker.link(list(snippets)))
        except (Exception, SystemExit) as error:
            if isinstance(error, LinkerError) and not isinstance(error, ItemError):
                raise
            if len(names) > 1:
                for name in names:
                    yield from self._link([name])
            else:
                yield names[0], format_error(error)
            return
        for number, name in enumerate(names):
            first = number * len(self._templates)
            own = [given.get(snippet.id) for snippet in snippets[first : first + len(self._templates)]]
            failed = next((one for one in own if not isinstance(one, Prediction)), None)
            if isinstance(failed, Failure):
                yield name, failed.error
            elif None in own:
                yield name, "the linker gave no prediction"
            else:
                yield name, [one for one in own if isinstance(one, Prediction)]

    def _path(self, name: str) -> Path | None:
        # A name may have any character and any length.
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        return self._directory / f"{digest}.json" if self._directory is not None else None

    def _read(self, name: str) -> list[Prediction] | None:
        """The stored predictions of a name; a damaged file counts as none, and is then replaced."""
        path = self._path(name)
        try:
            entry = msgspec.json.decode(path.read_bytes(), type=_Entry) if path is not None else None
        except (OSError, ValueError):
            return None
        is_whole = entry is not None and entry.name == name and len(entry.predictions) == len(self._templates)
        return entry.predictions if entry is not None and is_whole else None

    def _write(self, name: str, predictions: list[Prediction]) -> None:
        """Stores the predictions of a name; without a place for them they are linked again by the next run."""
        path = self._path(name)
        if path is None or self.problem:
            return
        try:
            if not path.parent.is_dir():
                make_directory(path.parent)
            write_atomically(path, msgspec.json.encode(_Entry(name, predictions)))
        except UsageError as error:
            self.problem = str(error)
