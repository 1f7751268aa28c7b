"""Foreign formats, one file each, by name.

A module of this folder has what its format can do, and no more:
`documents(path)` the documents of a file with their gold entities; `lines(documents)` the way back;
`answer_documents(path)` and `answer_lines(documents)` the same for predictions, where they are written otherwise;
`read(paths)` a whole dataset, where there is more to it than documents; `SUFFIX`, `TITLE` and `SOURCE`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from shadowprobe.dataset import Card, Dataset, directory_name, make_directory
from shadowprobe.errors import InputError, UsageError, nearest
from shadowprobe.formats.answers import Taken, take
from shadowprobe.formats.documents import Document, documents_of, read_into
from shadowprobe.formats.imported import Imported
from shadowprobe.jsonl import write_atomically
from shadowprobe.model import Prediction, Subset

# Named by module, so that listing the formats imports none of them.
FORMATS = {
    "shadowlink": "shadowprobe.formats.shadowlink",
    "zelda": "shadowprobe.formats.zelda",
    "nif": "shadowprobe.formats.nif",
    "aida-conll": "shadowprobe.formats.aida_conll",
    "kilt": "shadowprobe.formats.kilt",
    "blink": "shadowprobe.formats.blink",
    "elevant": "shadowprobe.formats.elevant",
    "simple-jsonl": "shadowprobe.formats.simple_jsonl",
}

Reading = Callable[[Path], Iterator[Document]]
Writing = Callable[[Iterable[Document]], Iterator[str]]


def read(format_name: str, paths: Sequence[Path], language: str | None = None) -> Imported:
    """Reads a foreign dataset; without a language, its URIs tell it where they agree on one."""
    module = _module(format_name)
    whole = cast("Callable[[Sequence[Path]], Imported] | None", getattr(module, "read", None))
    imported = whole(paths) if whole is not None else _read_documents(format_name, module, paths)
    if not any(imported.snippets.values()):
        raise InputError(paths[0], "has no mention that could be taken")
    imported.settle_language(language)
    return imported


def _read_documents(format_name: str, module: Any, paths: Sequence[Path]) -> Imported:
    files = files_of(format_name, paths, module.SUFFIX)
    card = Card(
        name=files[0].stem if len(files) == 1 else format_name,
        title=f"{module.TITLE}: {', '.join(file.stem for file in files)}",
        source=module.SOURCE,
        made=f"shadowprobe import {format_name}; `repairs` lists what was not taken as it stood",
    )
    found = ((file, document) for file in files for document in module.documents(file))
    imported = read_into(Imported(card), found, several_files=len(files) > 1)
    imported.remark_contradictions()
    return imported


def files_of(format_name: str, paths: Sequence[Path], suffix: str) -> list[Path]:
    """The files that a user means by files and directories; two of one name would share their ids."""
    files = [file for path in paths for file in (sorted(path.glob(f"*{suffix}")) if path.is_dir() else [path])]
    if not files:
        raise UsageError(f"{paths[0]} holds no *{suffix}: {format_name} takes such files, or a directory of them")
    stems = [file.stem for file in files]
    if twice := next((stem for stem in stems if stems.count(stem) > 1), None):
        raise UsageError(f"two files are called {twice}: give each once, under a name of its own")
    return files


def read_predictions(format_name: str, path: Path, dataset: Dataset) -> Taken:
    """The predictions of a file, or of all files of a directory, for a dataset."""
    module = _module(format_name)
    reading = _able(format_name, module, "predictions are read from", "answer_documents", "documents")
    files = files_of(format_name, [path], module.SUFFIX)
    return take(path, ((file, document) for file in files for document in reading(file)), dataset)


def write(
    format_name: str,
    dataset: Dataset,
    out: Path,
    subsets: Sequence[Subset] = (),
    predictions: Mapping[str, Prediction] | None = None,
    *,
    force: bool = False,
) -> dict[Path, int]:
    """Writes each subset into a file of its own, with gold or with predictions; the files and their documents."""
    module = _module(format_name)
    names = ("lines",) if predictions is None else ("answer_lines", "lines")
    writing = _able(format_name, module, "export writes", *names)
    name = directory_name(dataset.name)
    targets = {subset: out / f"{name}-{subset}{module.SUFFIX}" for subset in subsets or dataset.subsets}
    for target in targets.values():
        if target.exists() and not force:
            raise UsageError(f"{target} exists; --force writes over it")
    written = {}
    make_directory(out)
    for subset, target in targets.items():
        documents = list(documents_of(dataset, subset, predictions))
        write_atomically(target, "".join(writing(documents)).encode())
        written[target] = len(documents)
    return written


def _module(format_name: str) -> Any:
    if format_name not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"unknown format `{format_name}`{nearest(format_name, FORMATS)}: choose from {known}")
    return importlib.import_module(FORMATS[format_name])


def _able(format_name: str, module: Any, what: str, *functions: str) -> Any:
    """The first of these functions that a format has; a format that lacks all of them is refused."""
    for function in functions:
        if hasattr(module, function):
            return getattr(module, function)
    able = [name for name in FORMATS if any(hasattr(_module(name), function) for function in functions)]
    raise UsageError(f"{what} {', '.join(able)}, and not {format_name}")
