"""A dataset folder for the Hugging Face hub: our own files, with a dataset card and Croissant metadata.

`datasets.load_dataset(DIR)` opens the folder: the config `snippets` has a split for each subset, and `entities` and
`spaces` are configs of their own. An import reads our folders directly. Any other folder or a dataset of the hub is
read by the package `datasets`. It needs the columns `text`, `start` and `end`, and `gold` for the title of the entity.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from shadowprobe.base.files import write_atomically
from shadowprobe.base.jsonl import encode_json
from shadowprobe.base.model import Entity, EntitySpace, Snippet, Subset
from shadowprobe.base.spans import Span, check_span
from shadowprobe.dataset.dataset import CARD, ENTITIES, SPACES, SUBSETS, Card, Dataset, write_dataset
from shadowprobe.errors import InputError, UsageError, shorten
from shadowprobe.formats.croissant import make_metadata
from shadowprobe.formats.hf_card import ALL_SPLIT, make_card
from shadowprobe.formats.imported import Entities, Imported, Remark, read_remarks
from shadowprobe.formats.placing import place_snippets

README, CROISSANT = "README.md", "croissant.json"
SNIPPETS = "snippets"
T = TypeVar("T")


def write_folder(dataset: Dataset, out: Path, subsets: Sequence[Subset], *, force: bool = False) -> dict[Path, int]:
    """Writes the folder of a dataset; returns each data file's number of rows."""
    for name in (README, CROISSANT):
        if (out / name).exists() and not force:
            raise UsageError(f"{out / name} exists; --force writes over it")
    card = msgspec.convert(msgspec.to_builtins(dataset.card), Card)
    chosen = {subset: list(dataset.snippets(subset)) for subset in subsets}
    written = write_dataset(out, card, dataset.entities.values(), dataset.spaces.values(), chosen, force=force)
    names = (ENTITIES, SPACES, *(f"{subset}.jsonl" for subset in subsets))
    # The package cannot open a file without rows.
    files = [out / name for name in names if written.card.counts[Path(name).stem]]
    write_atomically(out / README, make_card(written.card, files).encode())
    write_atomically(out / CROISSANT, encode_json(make_metadata(written.card, files)))
    return {file: written.card.counts[file.stem] for file in files}


def read_dataset(paths: Sequence[Path]) -> Imported:
    """Reads a folder, or a dataset of the hub by its name."""
    if len(paths) != 1:
        raise UsageError("import hf takes one folder, or the name of one dataset of the hub")
    path = paths[0]
    if (path / CARD).is_file():
        dataset = Dataset.read(path)
        snippets = {subset: list(dataset.snippets(subset)) for subset in dataset.subsets}
        entities, spaces = list(dataset.entities.values()), list(dataset.spaces.values())
        return Imported(dataset.card, entities, spaces, snippets, read_remarks(dataset.card))
    if not path.is_dir() and (path.is_absolute() or len(path.parts) > 2 or path.exists()):
        raise UsageError(f"{path} is no folder: import hf takes one, or a name of the hub such as OWNER/NAME")
    with TemporaryDirectory() as cache:
        # The hub is cached for the next time; a folder need not be.
        return _read_configs(path, _Loader(path, {"cache_dir": cache} if path.is_dir() else {}))


class _Loader:
    """The package `datasets` on one folder or name; each of its many errors becomes one line."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        import datasets

        datasets.disable_progress_bars()
        # They print each attempt to reach the hub, and each file that they cannot read.
        for package in ("datasets", "huggingface_hub"):
            logging.getLogger(package).setLevel(logging.CRITICAL)
        self._datasets, self._path, self._settings = datasets, path, settings
        # The package gives a dataset the name of its folder, which `.` does not have.
        self._place = str(path.resolve() if path.is_dir() else path)
        self.configs: list[str] = self._call(datasets.get_dataset_config_names, self._place)

    def load(self, config: str) -> dict[str, Any]:
        """Loads the splits of a config by their names."""
        splits = self._call(self._datasets.load_dataset, self._place, config, **self._settings)
        return dict(splits)

    def _call(self, function: Any, *arguments: Any, **settings: Any) -> Any:
        try:
            return function(*arguments, **settings)
        # The package has no common class for its errors.
        except Exception as error:
            cause: BaseException = error
            while cause.__cause__ is not None:
                # The outer ones only say that something went wrong.
                cause = cause.__cause__
            reason = shorten(f"{type(cause).__name__}: {cause}")
            if isinstance(error, ConnectionError | OSError) and not self._path.is_dir():
                raise UsageError(
                    f"{self._path}: there is no such folder, and the hub cannot be asked for it ({reason})"
                ) from error
            raise UsageError(f"{self._path}: the package `datasets` cannot load it ({reason})") from error


def _read_configs(path: Path, loader: _Loader) -> Imported:
    imported = Imported(
        Card(
            name=path.resolve().name,
            title=f"Hugging Face: {path}",
            source=str(path),
            made="shadowprobe import hf; `repairs` lists what was not taken as it stood",
        )
    )
    rows = loader.load(SNIPPETS if SNIPPETS in loader.configs else loader.configs[0])
    for split, table in rows.items():
        if missing := next((name for name in ("text", "start", "end") if name not in table.column_names), None):
            columns = ", ".join(table.column_names)
            problem = f"is missing: expected the columns text, start, end and gold, got {columns}"
            raise InputError(f"{path} (split {split})", problem, field=missing)
    has_own = {SNIPPETS, "entities"} <= set(loader.configs)
    if has_own:
        imported.entities = list(_read_table(path, loader.load("entities"), Entity))
        if "spaces" in loader.configs:
            imported.spaces = list(_read_table(path, loader.load("spaces"), EntitySpace))
    entities = Entities(imported.remarks)
    snippets = list(_read_snippets(path, rows, None if has_own else entities, imported.remarks))
    if has_own:
        for snippet in snippets:
            imported.snippets.setdefault(snippet.subset, []).append(snippet)
    else:
        place_snippets(imported, snippets)
        imported.entities = list(entities)
    imported.remark_contradictions()
    return imported


def _read_snippets(
    path: Path, splits: dict[str, Any], entities: Entities | None, remarks: list[Remark]
) -> Iterator[Snippet]:
    """Yields the snippets of all splits; adds the gold of each to the entities, unless these are known."""
    for split, table in splits.items():
        name = split if split != ALL_SPLIT else "all"
        subset: Subset = name if name in SUBSETS else "all"
        for number, row in enumerate(table):
            where = str(row.get("id") or f"{split}-{number}")
            snippet = _convert(path, split, number, row | {"id": where, "subset": subset}, Snippet)
            checked = check_span(snippet.text, Span(snippet.start, snippet.end))
            if checked.problem:
                remarks.append(Remark(checked.action, checked.problem, where, f"[{snippet.start}, {snippet.end}]"))
            if checked.span is None:
                continue
            gold = snippet.gold or None
            if gold is not None and entities is not None:
                gold = entities.add(gold, row.get("page_id") or None, where, row.get("qid") or None)
            yield replace(snippet, start=checked.span.start, end=checked.span.end, gold=gold)


def _read_table(path: Path, splits: dict[str, Any], kind: type[T]) -> Iterator[T]:
    for split, table in splits.items():
        for number, row in enumerate(table):
            yield _convert(path, split, number, row, kind)


def _convert(path: Path, split: str, number: int, row: dict[str, Any], kind: type[T]) -> T:
    """Makes a row one of our objects; columns that it does not have are ignored."""
    known = {field.name for field in msgspec.structs.fields(kind)}  # type: ignore[arg-type]
    fields = {key: value for key, value in row.items() if key in known and value is not None}
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"{path} (split {split})", f"row {number}: {error}") from None
