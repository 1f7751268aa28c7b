"""What one linker, retriever, probe, dataset or figure is: its description, its options and an example."""

from __future__ import annotations

import inspect
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from msgspec import Struct, field

from shadowprobe import plugins
from shadowprobe.catalogue.datasets import KNOWN, find_directory
from shadowprobe.dataset.dataset import CARD, Card
from shadowprobe.errors import UsageError, nearest
from shadowprobe.measure.probe import VariantProbe

WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "file"}
EXAMPLES: dict[plugins.Group, str] = {
    plugins.LINKERS: "shadowprobe run --linker {name}",
    plugins.RETRIEVERS: "shadowprobe retrieve --retriever {name}",
    plugins.PROBES: "shadowprobe run --probe {name}",
    plugins.RETRIEVAL_PROBES: "shadowprobe retrieve --probe {name}",
}


class Option(Struct, frozen=True):
    """An option of a linker or retriever; `default` is None if the option must be given."""

    name: str
    type: str
    default: str | None
    about: str


class Details(Struct, frozen=True, omit_defaults=True):
    """Everything that is known about one thing that has a name."""

    name: str
    about: str
    example: str
    needs: str = ""
    package: str = ""
    options: list[Option] = field(default_factory=list)
    # The commands that install what it needs, one per line.
    setup: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    license: str = ""
    source: str = ""


def describe_plugin(name: str, *groups: plugins.Group) -> Details:
    """Describes a plugin by name or location; of several groups, the first that has the name."""
    known = {listed.name: listed for group in groups for listed in plugins.listings(group)}
    group = next((group for group in groups if name in plugins.names(group)), groups[0])
    kind = plugins.load_class(name, group)
    options = list_options(kind)
    example = EXAMPLES[group].format(name=name)
    if issubclass(kind, VariantProbe):
        example = f"shadowprobe run --also {name}"
    if group == plugins.RETRIEVERS and name == plugins.BY_LINKER.rstrip(":"):
        example, options = f"{example}:blend", []
    required = "".join(f" -o {option.name}={option.name.upper()}" for option in options if option.default is None)
    return Details(
        name,
        inspect.getdoc(kind) or "",
        example + required,
        needs=str(getattr(kind, "needs", "")),
        package=known[name].package if name in known else "",
        options=options,
        setup=str(getattr(kind, "howto", "")),
    )


def list_options(kind: type) -> list[Option]:
    """Lists the options of a class with their types, defaults and meanings."""
    types_of = plugins.find_types(kind)
    meanings: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        meanings |= vars(base).get("option_help", {})
    return [
        Option(name, describe_type(types_of[name]), _describe_default(kind, parameter), meanings.get(name, ""))
        for name, parameter in plugins.list_options(kind).items()
    ]


def describe_type(hint: Any) -> str:
    """Returns a type in words, as `-o key=value` expects its value."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(map(str, inner))
    if origin in {Union, types.UnionType}:
        words = " | ".join(describe_type(one) for one in inner if one is not type(None))
        return f"{words}, or none" if type(None) in inner else words
    if origin in {list, tuple}:
        return f"{describe_type(next(iter(inner), str))}, with commas between several"
    return WORDS.get(hint, "text")


def _describe_default(kind: type, parameter: inspect.Parameter) -> str | None:
    if parameter.default is parameter.empty:
        return None
    if parameter.name == "url" and not parameter.default:
        return str(getattr(kind, "endpoint", ""))
    if parameter.default is None or isinstance(parameter.default, bool):
        return str(parameter.default).lower()
    return f"{parameter.default:g}" if isinstance(parameter.default, float) else str(parameter.default)


def describe_dataset(name: str) -> Details:
    """Describes a dataset by its name, or that of a directory; what is not on this machine has no counts."""
    known = {one.name: one for one in KNOWN}
    path = find_directory(name) if name in known else Path(name)
    if name not in known and not path.is_dir():
        raise UsageError(
            f"unknown dataset `{name}`{nearest(name, known)}: give a directory or one of {', '.join(known)}"
        )
    example = f"shadowprobe run --dataset {name}"
    if name in known and not (path / CARD).exists():
        return Details(name, known[name].about, example, needs=known[name].needs)
    from shadowprobe.base.jsonl import read_json

    card = read_json(path / CARD, Card)
    about = "\n\n".join(text for text in (card.title, card.about, card.made) if text)
    needs = known[name].needs if name in known else "nothing"
    return Details(name, about, example, needs=needs, counts=card.counts, license=card.license, source=card.source)


def describe_figure(name: str) -> Details:
    """Describes a figure by its name."""
    from shadowprobe.reporting import figures
    from shadowprobe.running.kinds import COMMANDS, NOUNS

    if name not in figures.FIGURES:
        raise UsageError(f"no figure `{name}`{nearest(name, figures.FIGURES)}: `shadowprobe figures` lists them")
    kind = figures.FIGURES[name]
    if kind == "training":
        needs, example = "directories that `shadowprobe train-encoder` makes", f"shadowprobe plot {name} DIR"
    else:
        needs = f"finished runs of {NOUNS[kind]}s, which `shadowprobe {COMMANDS[kind]}` makes"
        example = f"shadowprobe plot {name} runs/*"
    return Details(name, figures.explain(name), example, needs=needs)
