"""Lists what is installed: reads the sources of plugins and imports none of them."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

from msgspec import Struct

from shadowprobe.plugins.loading import Group, find_entry_points
from shadowprobe.systems.linker import Linker


class Listing(Struct, frozen=True):
    """The entry of a plugin in a list, read from its source without importing it."""

    name: str
    about: str
    needs: str
    package: str


def listings(group: Group) -> Iterator[Listing]:
    """Yields every plugin of a group and its requirements, without importing it."""
    for point in find_entry_points(group):
        about, needs = _describe(point)
        yield Listing(point.name, about, needs, point.dist.name if point.dist else "")


def _describe(point: EntryPoint) -> tuple[str, str]:
    """Reads the first docstring line and `needs` of a plugin's class from the text of its file."""
    module_name, _, class_name = point.value.partition(":")
    source = _find_source_file(module_name)
    if source is None:
        return "", ""
    try:
        tree = ast.parse(source.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return "", ""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            return (ast.get_docstring(node) or "").partition("\n")[0], _read_needs(node)
    return "", ""


def _read_needs(node: ast.ClassDef) -> str:
    for statement in node.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        is_needs = any(isinstance(target, ast.Name) and target.id == "needs" for target in targets)
        if is_needs and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
            return statement.value.value
    return Linker.needs


def _find_source_file(module_name: str) -> Path | None:
    """Finds the file of a module; only the packages that contain it are imported."""
    try:
        spec = importlib.util.find_spec(module_name)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None
