"""Croissant metadata of a dataset folder: its files with their digests, and the columns of each.

Akhtar et al., 2024, https://docs.mlcommons.org/croissant/docs/croissant-spec.html, version 1.0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shadowprobe.base.files import file_digest, open_for_reading
from shadowprobe.dataset.dataset import Card
from shadowprobe.formats.columns import Column, list_columns

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
# The terms of the specification that it abbreviates with its own prefix, in its order.
TERMS = (
    *("citeAs", "column", "conformsTo", "data", "dataType", "examples", "equivalentProperty", "extract", "field"),
    *("fileProperty", "fileObject", "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5"),
    *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator"),
    *("source", "subField", "transform"),
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    **{term: f"cr:{term}" for term in TERMS},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
}
_VERSION = re.compile(r"[0-9]+(\.[0-9]+){0,2}")


def make_metadata(card: Card, files: Sequence[Path]) -> dict[str, Any]:
    """Makes croissant.json."""
    version = card.version if _VERSION.fullmatch(card.version) else "1"
    about = " ".join(f"{card.title or card.name}. {card.about}".split())
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": re.sub(r"[^\w.-]+", "_", card.name),
        "description": about,
        "conformsTo": CONFORMS_TO,
        "license": card.license or "unknown",
        **({"url": card.source} if card.source.startswith(("http://", "https://")) else {}),
        "citeAs": " ".join(card.source.split()) or card.name,
        "inLanguage": card.language,
        # Three numbers, as the specification asks.
        "version": ".".join([*version.split("."), "0", "0"][:3]),
        "distribution": [_describe_file(file) for file in files],
        "recordSet": [_describe_records(file) for file in files],
    }


def _describe_file(file: Path) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.name,
        "contentSize": f"{file.stat().st_size} B",
        "encodingFormat": "application/jsonlines",
        "sha256": file_digest(file),
    }


def _describe_records(file: Path) -> dict[str, Any]:
    # A column in which no row has a value is not in the file.
    present = _find_keys(file)
    columns = [column for column in list_columns(file) if column.name in present]
    return {
        "@type": "cr:RecordSet",
        "@id": file.stem,
        "name": file.stem,
        "field": [_describe_column(file, column) for column in columns],
    }


def _describe_column(file: Path, column: Column) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{file.stem}/{column.name}",
        "name": column.name,
        "description": column.about,
        "dataType": "sc:Integer" if column.dtype == "int64" else "sc:Text",
        **({"repeated": True} if column.repeated else {}),
        "source": {"fileObject": {"@id": file.name}, "extract": {"column": column.name}},
    }


def _find_keys(file: Path) -> set[str]:
    keys: set[str] = set()
    with open_for_reading(file) as lines:
        for line in lines:
            keys |= json.loads(line).keys()
    return keys
