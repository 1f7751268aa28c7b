"""Lists what is installed: reads the sources of plugins and imports none of them."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

from msgspec import Struct

from shadowprobe.errors import format_error
from shadowprobe.plugins.loading import Group, find_entry_points
from shadowprobe.systems.linker import Linker


class Listing(Struct, frozen=True):
    """The entry of a plugin in a list, read from its source without importing it."""

    name: str
    about: str
    needs: str
    package: str
    # Why it cannot be loaded, as far as its source tells.
    error: str = ""


def listings(group: Group) -> Iterator[Listing]:
    """Yields every plugin of a group and its requirements, without importing it."""
    for point in find_entry_points(group):
        about, needs, error = _describe(point)
        yield Listing(point.name, about, needs, point.dist.name if point.dist else "", error)


def _describe(point: EntryPoint) -> tuple[str, str, str]:
    """Reads the first docstring line and `needs` of a plugin's class from the text of its file; or what is wrong."""
    module_name, _, class_name = point.value.partition(":")
    try:
        spec = importlib.util.find_spec(module_name)
    # The packages that contain the module are imported, and may do anything.
    except Exception as error:
        return "", "", format_error(error)
    if spec is None or spec.origin is None:
        return "", "", f"there is no module `{module_name}`"
    if not spec.origin.endswith(".py"):
        return "", "", ""
    try:
        tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        return "", "", format_error(error)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            return (ast.get_docstring(node) or "").partition("\n")[0], _read_needs(node), ""
    # A class that is imported or made in another way is not described, and may well be there.
    is_named = re.search(rf"\b{re.escape(class_name)}\b|import \*", ast.unparse(tree))
    return "", "", "" if is_named else f"there is no class `{class_name}` in {module_name}"


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
