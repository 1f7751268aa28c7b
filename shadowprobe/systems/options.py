"""The options of systems: the keyword arguments of their constructors, as text and as values."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from shadowprobe.base.files import file_digest
from shadowprobe.base.jsonl import convert_to_json
from shadowprobe.base.secrets import MASK, mask_url
from shadowprobe.errors import UsageError
from shadowprobe.systems.linker import Linker, System

# Options with such names hold secrets; `tokens` in the plural is a number, as in `max_tokens`.
SECRET_NAME = re.compile(r"token(?!s(?:_|$))|secret|passw|credential|api_?key|(?:^|[_.])key$", re.IGNORECASE)
_URL = re.compile(r"^\w+://")
PLAIN: dict[str, Any] = {"bool": bool, "int": int, "float": float, "str": str, "Path": Path}
# The attribute that holds the options with which a system was made, as the user wrote them.
GIVEN = "given_options"
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def list_options(kind: type) -> dict[str, inspect.Parameter]:
    """Lists the options of a system: the keyword arguments of its constructor and those of its bases."""
    options: dict[str, inspect.Parameter] = {}
    for constructor in _find_constructors(kind):
        for parameter in list(inspect.signature(constructor).parameters.values())[1:]:
            if parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
                options.setdefault(parameter.name, parameter)
    return options


def _find_constructors(kind: type) -> Iterator[Callable[..., None]]:
    """Yields the constructor of a class, then those of its bases as long as each passes `**` to the next."""
    for base in kind.__mro__:
        constructor = vars(base).get("__init__")
        if constructor is None or base is object:
            continue
        yield constructor
        if not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(constructor).parameters.values()):
            return


def option_values(system: System, given: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Returns every option of a system with its value in this run.

    An option that is a linker is its name, and the options of that linker follow as `OPTION.KEY`. `given` are the
    options as the user wrote them; without it, those that the system was made with.
    """
    kind, given = type(system), given if given is not None else vars(system).get(GIVEN, {})
    kinds, inner, values = find_types(kind), inner_linkers(system), dict[str, Any]()
    for name, parameter in list_options(kind).items():
        if name in inner:
            values[name] = given.get(name) or inner[name].name or type(inner[name]).__name__
            values |= {f"{name}.{key}": value for key, value in option_values(inner[name]).items()}
        elif name in given:
            values[name] = convert_option(name, given[name], kinds[name])
        else:
            values[name] = _read_value(system, name, parameter)
    return values


def is_linker(kind: Any) -> bool:
    """True for the type of an option that is another linker."""
    return isinstance(kind, type) and issubclass(kind, Linker)


def inner_linkers(system: System) -> dict[str, Linker]:
    """The linkers that a system was made of, by the names of their options."""
    names = (name for name, kind in find_types(type(system)).items() if is_linker(kind))
    # A class may keep it under another name; then it is not known.
    found = {name: getattr(system, name, None) for name in names}
    return {name: linker for name, linker in found.items() if isinstance(linker, Linker)}


def list_incidental(linker: Linker) -> frozenset[str]:
    """The options that cannot change an answer, those of an inner linker as `OPTION.KEY`."""
    inner = (f"{name}.{key}" for name, other in inner_linkers(linker).items() for key in list_incidental(other))
    return linker.incidental.union(inner)


def _read_value(system: System, name: str, parameter: inspect.Parameter) -> Any:
    """Returns the value of an option that is not given; a method with the same name is not its value."""
    value = getattr(system, name, parameter.default)
    return parameter.default if inspect.ismethod(value) else value


def find_types(kind: type) -> dict[str, Any]:
    """Finds the type of each option: its annotation, else the type of its default, else text."""
    kinds: dict[str, Any] = {}
    for constructor in _find_constructors(kind):
        try:
            hints = get_type_hints(constructor)
        except Exception:
            # A wrapper may name types that exist only for a type checker. Simple types can still be read.
            hints = {name: PLAIN.get(str(text)) for name, text in constructor.__annotations__.items()}
        for name, parameter in inspect.signature(constructor).parameters.items():
            default = type(parameter.default) if type(parameter.default) in PLAIN.values() else str
            kinds.setdefault(name, hints.get(name) or default)
    return kinds


def convert_option(key: str, text: str, kind: Any) -> Any:
    """Converts the text of an option to its type."""
    if get_origin(kind) in {Union, UnionType}:
        if text.lower() == "none" and type(None) in get_args(kind):
            return None
        words = [word for choice in get_args(kind) if get_origin(choice) is Literal for word in get_args(choice)]
        if text in words:
            return text
        kind = next(choice for choice in get_args(kind) if choice is not type(None))
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            choices = ", ".join(map(str, get_args(kind)))
            raise UsageError(f"option `{key}`: {text!r} is not one of {choices}")
        return text
    if kind is bool:
        if text.lower() not in _TRUE | _FALSE:
            raise UsageError(f"option `{key}`: {text!r} is neither true nor false")
        return text.lower() in _TRUE
    if kind in {int, float}:
        try:
            return kind(text)
        except ValueError:
            noun = "whole number" if kind is int else "number"
            raise UsageError(f"option `{key}`: {text!r} is not a {noun}") from None
    if get_origin(kind) in {list, tuple}:
        inner = next(iter(get_args(kind)), str)
        return get_origin(kind)(convert_option(key, part.strip(), inner) for part in text.split(",") if part.strip())
    return Path(text) if kind is Path else text


def describe_system(name: str, version: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the entry of a system in a run's card, without secrets.

    It contains the digests of files in its options, because another file gives other answers.
    """
    files = {
        option: file_digest(value) for option, value in options.items() if isinstance(value, Path) and value.is_file()
    }
    system = {"name": name, "version": version, "options": mask_options(convert_to_json(dict(options)))}
    return {**system, "files": files} if files else system


def mask_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns options for a file, with a mask instead of secrets."""
    public: dict[str, Any] = {}
    for name, value in options.items():
        shown = mask_url(value) if isinstance(value, str) and _URL.match(value) else value
        public[name] = MASK if value and SECRET_NAME.search(name) else shown
    return public
