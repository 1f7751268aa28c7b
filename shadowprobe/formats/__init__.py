"""Foreign formats by name, one file each.

A module of this folder has only the functions that its format supports:
- `read_documents(path, predicted=False)` reads the documents of a file with their gold or predicted entities.
- `encode_documents(documents, predicted=False)` writes them.
- `import_files(imported, files)` reads a dataset with subsets and spaces, instead of documents.
- `read_dataset(paths)` reads a dataset that does not consist of such files.
- `write_folder(dataset, out, subsets)` writes one that keeps everything.

It also has `SUFFIX`, `TITLE` and `SOURCE`, and where the format requires them `name_file` and `make_metadata`. `LOST`
names the fields of a dataset that the format has no place for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shadowprobe.base.files import directory_name, make_directory, write_atomically
from shadowprobe.base.jsonl import encode_json
from shadowprobe.base.model import Prediction, Subset
from shadowprobe.dataset.dataset import Card, Dataset
from shadowprobe.errors import InputError, UsageError, nearest
from shadowprobe.formats.documents import export_documents, import_documents
from shadowprobe.formats.imported import Imported, list_files
from shadowprobe.formats.losses import find_losses
from shadowprobe.formats.placing import parse_export_names
from shadowprobe.formats.predictions import MatchedPredictions, match_predictions

# Each is a module of this folder; listing them imports none.
FORMATS = ("shadowlink", "zelda", "nif", "aida-conll", "kilt", "blink", "elevant", "simple-jsonl", "hf")


def read(format_name: str, paths: Sequence[Path], language: str | None = None) -> Imported:
    """Reads a foreign dataset; without a language, uses the one on which all its URIs agree."""
    module = import_format(format_name)
    is_whole = hasattr(module, "read_dataset")
    imported: Imported = module.read_dataset(paths) if is_whole else _read_files(format_name, module, paths)
    if not any(imported.snippets.values()):
        raise InputError(paths[0], "has no mention that can be imported")
    imported.settle_language(language)
    return imported


def _read_files(format_name: str, module: Any, paths: Sequence[Path]) -> Imported:
    files = list_files(format_name, paths, module.SUFFIX)
    exported = parse_export_names(files)
    card = Card(
        name=exported[0] if exported is not None else files[0].stem if len(files) == 1 else format_name,
        title=f"{module.TITLE}: {', '.join(file.stem for file in files)}",
        source=module.SOURCE,
        made=f"shadowprobe import {format_name}; `repairs` lists what was not taken as it stood",
    )
    imported = Imported(card)
    if hasattr(module, "import_files"):
        module.import_files(imported, files)
    else:
        documents = ((file, document) for file in files for document in module.read_documents(file))
        subsets = exported[1] if exported is not None else None
        import_documents(imported, documents, several_files=len(files) > 1, subsets=subsets)
    imported.remark_contradictions()
    return imported


def read_predictions(format_name: str, path: Path, dataset: Dataset, *, gerbil_nil: bool = False) -> MatchedPredictions:
    """Reads the predictions for a dataset from a file, or from all files of a directory."""
    module = import_format(format_name)
    read_file = _get_function(format_name, module, "predictions are read from", "read_documents")
    files = list_files(format_name, [path], module.SUFFIX)
    documents = ((file, document) for file in files for document in read_file(file, predicted=True))
    return match_predictions(path, documents, dataset, gerbil_nil=gerbil_nil)


def write(
    format_name: str,
    dataset: Dataset,
    out: Path,
    subsets: Sequence[Subset] = (),
    predictions: Mapping[str, Prediction] | None = None,
    *,
    system: str = "predictions",
    force: bool = False,
) -> dict[Path, int]:
    """Writes each subset with its gold entities, or with predictions; returns each file's number of documents."""
    module = import_format(format_name)
    if hasattr(module, "write_folder"):
        if predictions is not None:
            raise UsageError(f"export {format_name} writes a dataset, and no predictions")
        folder: dict[Path, int] = module.write_folder(dataset, out, subsets or dataset.subsets, force=force)
        return folder
    encode = _get_function(format_name, module, "export writes", "encode_documents")
    stems = {subset: f"{directory_name(dataset.name)}-{subset}" for subset in subsets or dataset.subsets}
    by = directory_name(system) if predictions is not None else None
    has_names = hasattr(module, "name_file")
    names = {
        subset: module.name_file(stem, by) if has_names else f"{stem}{module.SUFFIX}" for subset, stem in stems.items()
    }
    for name in names.values():
        if (out / name).exists() and not force:
            raise UsageError(f"{out / name} exists; --force writes over it")
    written = {}
    make_directory(out)
    for subset, name in names.items():
        documents = list(export_documents(dataset, subset, predictions))
        write_atomically(out / name, "".join(encode(documents, predicted=predictions is not None)).encode())
        written[out / name] = len(documents)
        if hasattr(module, "make_metadata"):
            about = dataset.card.title or dataset.name
            metadata_name, metadata = module.make_metadata(stems[subset], f"{about} ({subset})", by)
            write_atomically(out / metadata_name, encode_json(metadata))
    return written


def describe_losses(format_name: str, dataset: Dataset, subsets: Sequence[Subset] = ()) -> str:
    """Says in one sentence what a gold export does not keep of a dataset; empty if it keeps everything."""
    module = import_format(format_name)
    if hasattr(module, "write_folder"):
        return ""
    lost: frozenset[str] = getattr(module, "LOST", frozenset())
    losses = list(find_losses(dataset, subsets or dataset.subsets, lost))
    return f"{format_name} does not keep {'; '.join(losses)}" if losses else ""


def import_format(format_name: str) -> Any:
    """Returns the module of a format."""
    if format_name not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"unknown format `{format_name}`{nearest(format_name, FORMATS)}: choose from {known}")
    return importlib.import_module(f"{__name__}.{format_name.replace('-', '_')}")


def _get_function(format_name: str, module: Any, what: str, function: str) -> Any:
    """Returns a function of a format, and refuses a format without it."""
    if not hasattr(module, function):
        able = [name for name in FORMATS if hasattr(import_format(name), function)]
        raise UsageError(f"{what} {', '.join(able)}, and not {format_name}")
    return getattr(module, function)
