"""The types of our structs: none of them has a form for which msgspec corrupts the memory."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

import shadowprobe

CONTAINERS = (inspect.ListType, inspect.SetType, inspect.FrozenSetType, inspect.VarTupleType, inspect.TupleType)


def find_structs() -> list[type[msgspec.Struct]]:
    """Every struct of the package, those of optional parts included where they are installed."""
    for module in pkgutil.walk_packages(shadowprobe.__path__, "shadowprobe."):
        if ".workers" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    waiting, structs = [msgspec.Struct], []
    while waiting:
        for kind in waiting.pop().__subclasses__():
            waiting.append(kind)
            if kind.__module__.startswith("shadowprobe."):
                structs.append(kind)
    return structs


def find_unions(value: Any) -> Iterator[inspect.UnionType]:
    """Every union inside the description of a type."""
    if isinstance(value, inspect.UnionType):
        yield value
    if isinstance(value, inspect.StructType):
        return
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from find_unions(item)
    elif isinstance(value, (inspect.Type, inspect.Field)):
        for name in value.__struct_fields__:
            yield from find_unions(getattr(value, name))


def is_dangerous(union: inspect.UnionType) -> bool:
    """True for a string with a pattern beside a list: decoding then writes behind the end of its memory."""
    has_pattern = any(isinstance(kind, inspect.StrType) and kind.pattern is not None for kind in union.types)
    return has_pattern and any(isinstance(kind, CONTAINERS) for kind in union.types)


@pytest.mark.filterwarnings("ignore")
def test_no_union_has_a_list_and_a_string_with_a_pattern() -> None:
    structs = find_structs()
    assert len(structs) > 50
    descriptions = [inspect.type_info(struct) for struct in structs]
    dangerous = [
        description.cls.__qualname__
        for description in descriptions
        if isinstance(description, inspect.StructType)
        for union in find_unions(list(description.fields))
        if is_dangerous(union)
    ]
    assert dangerous == []
