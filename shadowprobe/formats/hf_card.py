"""The dataset card of a Hugging Face folder: README.md, whose YAML front matter says how to load the files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from shadowprobe.dataset.dataset import SUBSETS, Card
from shadowprobe.formats.columns import list_columns

# `all` means every split to the package `datasets`.
ALL_SPLIT = "test"
# The hub's names of licences. A card may have spaces in them, and more behind them.
LICENCES = (
    *("cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-3.0", "cc-by-4.0"),
    *("apache-2.0", "mit"),
)
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
LARGEST = "1M<n<10M"


def make_card(card: Card, files: Sequence[Path]) -> str:
    """Writes README.md: the front matter for programs, and a text for people."""
    return "---\n" + "\n".join(_encode_yaml(_make_front_matter(card, files))) + "\n---\n\n" + _make_text(card, files)


def _make_front_matter(card: Card, files: Sequence[Path]) -> dict[str, Any]:
    configs: dict[str, list[Path]] = {}
    for file in files:
        configs.setdefault("snippets" if file.stem in SUBSETS else file.stem, []).append(file)
    rows = sum(count for name, count in card.counts.items() if name in SUBSETS)
    # The hub opens the first config; the snippets are what a dataset is about.
    ordered = sorted(configs, key=lambda name: name != "snippets")
    licence = find_licence(card.license)
    return {
        "pretty_name": _join_lines(card.title or card.name),
        "license": licence,
        **({"license_name": _join_lines(card.license)} if licence == "other" else {}),
        "language": [card.language],
        "size_categories": [next((size for limit, size in SIZES if rows < limit), LARGEST)],
        "task_categories": ["token-classification"],
        "tags": ["entity-linking", "entity-disambiguation", "shadowprobe"],
        "configs": [
            {
                "config_name": name,
                **({"default": True} if name == "snippets" else {}),
                "data_files": [{"split": _name_split(file), "path": file.name} for file in configs[name]],
            }
            for name in ordered
        ],
        "dataset_info": [
            {
                "config_name": name,
                "features": [
                    {"name": column.name, **({"sequence": "string"} if column.repeated else {"dtype": column.dtype})}
                    for column in list_columns(configs[name][0])
                ],
                "splits": [
                    {
                        "name": _name_split(file),
                        "num_bytes": file.stat().st_size,
                        "num_examples": card.counts[file.stem],
                    }
                    for file in configs[name]
                ],
            }
            for name in ordered
        ],
    }


def _name_split(file: Path) -> str:
    return file.stem if file.stem in SUBSETS and file.stem != "all" else ALL_SPLIT


def find_licence(text: str) -> str:
    """Returns the hub's name of a licence; `other` for one that it has no name for, `unknown` for none."""
    words = "-".join(text.lower().replace("-", " ").split())
    if words.startswith("cc0"):
        return "cc0-1.0"
    return next((name for name in LICENCES if words.startswith(name)), "other" if words else "unknown")


def _make_text(card: Card, files: Sequence[Path]) -> str:
    lines = [f"# {_join_lines(card.title or card.name)}", ""]
    for words in (card.about, card.made):
        lines += [_join_lines(words), ""] if words.strip() else []
    lines += [f"Source: {_join_lines(card.source)}", ""] if card.source.strip() else []
    lines += [f"Licence: {_join_lines(card.license)}", ""] if card.license.strip() else []
    lines += ["| file | rows |", "|---|---|"]
    lines += [f"| `{file.name}` | {card.counts[file.stem]} |" for file in files]
    lines += [
        "",
        "A snippet is a text with one marked mention, `text[start:end]`. `gold` is the title of its entity, `space` the"
        " ambiguous name. `top` and `shadow` have the most common entity of a name and a less common one. `tail` has"
        " rare entities with names of their own, and `neutral` texts that fit every entity of the name.",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        'snippets = load_dataset("PATH")',
        'entities = load_dataset("PATH", "entities")',
        "```",
        "",
        "The folder is a dataset of shadowprobe too: `shadowprobe run --linker NAME --dataset PATH`.",
        "",
    ]
    return "\n".join(lines)


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _encode_yaml(value: Any, indent: str = "") -> Iterator[str]:
    """Writes tables and lists in YAML's block style, line by line; a text is quoted as in JSON."""
    pairs = value.items() if isinstance(value, dict) else (("-", item) for item in value)
    for key, item in pairs:
        label = f"{indent}{key}" if key == "-" else f"{indent}{key}:"
        if not isinstance(item, dict | list):
            yield f"{label} {_encode_scalar(item)}"
            continue
        lines = list(_encode_yaml(item, f"{indent}  "))
        if key == "-":
            yield f"{label} {lines[0].strip()}"
            lines = lines[1:]
        else:
            yield label
        yield from lines


def _encode_scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(mark if mark.isprintable() else f"\\U{ord(mark):08x}" for mark in quoted)
