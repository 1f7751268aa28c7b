"""Small changes of Python source, each in one place: a mutant."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
}
# These arguments of a class say that no field is set or added later, which is true without them.
PROMISES = {"frozen", "slots"}
# How thick a line of a figure is, and how large its letters and marks are: they carry no data.
STYLES = {
    *("linewidth", "linewidths", "elinewidth", "capsize", "markersize"),
    *("fontsize", "labelsize", "titlesize", "labelpad", "titlepad"),
}


class Place(NamedTuple):
    """Where a source can be changed, and how."""

    line: int
    change: str
    apply: Callable[[], None]


def mutate_source(source: str, number: int) -> tuple[ast.Module, int, str]:
    """The tree of a source with one change, its line and its description."""
    tree = ast.parse(source)
    place = list(_walk(tree))[number]
    place.apply()
    return ast.fix_missing_locations(tree), place.line, place.change


def find_places(source: str) -> list[Place]:
    """Every place of a source that can be changed."""
    return list(_walk(ast.parse(source)))


def _walk(node: ast.AST) -> Iterator[Place]:
    yield from _list_changes(node)
    for name, value in ast.iter_fields(node):
        # Annotations and decorators say what a thing is, and do nothing.
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not any(
                (_is_declaration(child), _is_promise(node, child), _is_style(node, child), _is_cache_size(node, child))
            ):
                yield from _walk(child)


def _is_declaration(node: ast.AST) -> bool:
    """True for what does nothing: imports, texts that stand alone, and promises."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or isinstance(node, ast.Import | ast.ImportFrom) or _is_annotated(node)


def _is_promise(node: ast.AST, child: ast.AST) -> bool:
    """True for an argument that changes nothing where it is right, as `zip(..., strict=True)`: both have one length."""
    if isinstance(node, ast.ClassDef):
        return isinstance(child, ast.keyword) and child.arg in PROMISES
    is_zip = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip"
    return is_zip and isinstance(child, ast.keyword)


def _is_style(node: ast.AST, child: ast.AST) -> bool:
    """True for a number that is given as a style of a figure: `linewidth=0.5`, or `"axes.linewidth": 0.5`."""
    if isinstance(node, ast.keyword):
        return node.arg in STYLES and isinstance(child, ast.Constant)
    if not isinstance(node, ast.Dict) or child not in node.values:
        return False
    key = node.keys[node.values.index(child)] if isinstance(child, ast.Constant) else None
    return isinstance(key, ast.Constant) and str(key.value).rpartition(".")[2] in STYLES


def _is_cache_size(node: ast.AST, child: ast.AST) -> bool:
    """True for the size in `lru_cache(size)`: the answers are the same."""
    is_cache = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lru_cache"
    return is_cache and isinstance(child, ast.keyword | ast.Constant)


def _is_annotated(node: ast.AST) -> bool:
    """True for `Annotated[...]`, whose parts are the words of a help text."""
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Annotated"


def _list_changes(node: ast.AST) -> Iterator[Place]:
    line = getattr(node, "lineno", 0)

    def place(change: str, apply: Callable[[], None]) -> Place:
        return Place(line, change, apply)

    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            other = COMPARISONS[type(operator)]
            change = f"{type(operator).__name__} to {other.__name__}"
            yield place(change, partial(node.ops.__setitem__, number, other()))
    elif isinstance(node, ast.BoolOp):
        opposite = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield place(f"{type(node.op).__name__} to {opposite.__name__}", lambda: setattr(node, "op", opposite()))
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS and not _has_text(node):
        replaced = OPERATIONS[type(node.op)]
        yield place(f"{type(node.op).__name__} to {replaced.__name__}", lambda: setattr(node, "op", replaced()))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield place("not removed", lambda: _double_negate(node))
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.BoolOp):
        negated = ast.UnaryOp(ast.Not(), node.test)
        yield place("condition negated", lambda: setattr(node, "test", negated))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield place(f"{node.value} to {not node.value}", lambda: setattr(node, "value", not node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value + 1 != node.value:
        value = node.value + 1
        yield place(f"{node.value} to {value}", lambda: setattr(node, "value", value))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        # The call is not made.
        yield place("call removed", lambda: setattr(node, "value", ast.Constant(None)))


def _double_negate(node: ast.UnaryOp) -> None:
    """`not x` becomes `not not x`, which is the truth of x."""
    node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)


def _has_text(node: ast.BinOp) -> bool:
    """True where text is put together or filled in: that is caught by the first call."""
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in (node.left, node.right)
    )
