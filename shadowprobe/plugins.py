"""Linkers, retrievers and probes by name: entry points, `file.py:Class` and `package.module:Class`."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import inspect
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from shadowprobe.errors import LinkerError, PluginError, ShadowprobeError, UsageError, nearest
from shadowprobe.linker import Linker
from shadowprobe.probe import Probe
from shadowprobe.retrieval.retriever import Retriever

Group = Literal["shadowprobe.linkers", "shadowprobe.probes", "shadowprobe.retrievers", "shadowprobe.retrieval_probes"]
LINKERS: Group = "shadowprobe.linkers"
PROBES: Group = "shadowprobe.probes"
RETRIEVERS: Group = "shadowprobe.retrievers"
RETRIEVAL_PROBES: Group = "shadowprobe.retrieval_probes"
# What one of a group is called; the plural is the command that lists them.
NOUNS = {LINKERS: "linker", PROBES: "probe", RETRIEVERS: "retriever", RETRIEVAL_PROBES: "probe"}
# A retriever of this kind, and the linker behind it: `linker:blend`.
BY_LINKER = "linker:"
P = TypeVar("P")
Made = TypeVar("Made", Linker, Retriever)
PLAIN: dict[str, Any] = {"bool": bool, "int": int, "float": float, "str": str, "Path": Path}
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


class Listing(Struct, frozen=True):
    """A plugin as a list shows it, read from its source without importing it."""

    name: str
    about: str
    needs: str
    package: str


def names(group: Group) -> list[str]:
    """The names of a group's plugins, in the order of their package's list, our own package first."""
    return [point.name for point in _points(group)]


def listings(group: Group) -> Iterator[Listing]:
    """Every plugin of a group with what it needs; none of them is imported."""
    for point in _points(group):
        about, needs = _describe(point)
        yield Listing(point.name, about, needs, point.dist.name if point.dist else "")


def make_linker(spec: str, options: Mapping[str, str] | None = None) -> Linker:
    """A linker by name or place, with its options read from strings as their types ask."""
    return _named(*_load(spec, LINKERS, Linker), spec, options or {})


def make_retriever(spec: str, options: Mapping[str, str] | None = None) -> Retriever:
    """A retriever by name or place; `linker:NAME` makes one of a linker, whose options it then takes."""
    if spec.rstrip(":") == BY_LINKER.rstrip(":"):
        raise UsageError(f"retriever `{spec}`: name the linker too, as in {BY_LINKER}prior")
    if not spec.startswith(BY_LINKER):
        return _named(*_load(spec, RETRIEVERS, Retriever), spec, options or {})
    kind, _ = _load(BY_LINKER.rstrip(":"), RETRIEVERS, Retriever)
    linker = make_linker(spec.removeprefix(BY_LINKER), options)
    # Its one argument is the linker, as that of no other retriever is.
    retriever: Retriever = kind(linker)  # type: ignore[call-arg]
    vars(retriever)["name"], vars(retriever)["version"] = f"{BY_LINKER}{linker.name}", linker.version
    retriever.notes = []
    return retriever


def make_retrieval_probe(spec: str, base: type[P]) -> P:
    """A probe of retrieval by name or place, of the kind that a command can use."""
    kind, _ = _load(spec, RETRIEVAL_PROBES, base)
    return _made_probe(kind, spec)


def _named(kind: type[Made], version: str, spec: str, options: Mapping[str, str]) -> Made:
    made = _construct(kind, spec, options)
    # Set on the instance: what a run records, and what a resumed run must find unchanged.
    vars(made)["name"] = kind.name or kind.__name__
    vars(made)["version"] = kind.version or version
    made.notes = []
    return made


def adopt(linker: Linker) -> Linker:
    """A linker made by its user: its version tells its code and state, so that changed ones do not share answers."""
    kind = type(linker)
    if not kind.version:
        try:
            source = inspect.getsource(kind)
        except (OSError, TypeError):
            # Nothing can be said of its code, and so none of its answers may be another's.
            source = str(uuid.uuid4())
        # What it was made with; what running it has added since says nothing of its answers.
        keys = vars(linker).setdefault("_made_with", sorted(vars(linker).keys() - kind.incidental))
        state = repr([(key, vars(linker).get(key)) for key in keys])
        vars(linker)["version"] = f"sha256:{hashlib.sha256((source + state).encode()).hexdigest()[:12]}"
    return linker


def make_probe(spec: str) -> Probe:
    """A probe by name or place."""
    kind, _ = _load(spec, PROBES, Probe)
    return _made_probe(kind, spec)


def _made_probe(kind: type[P], spec: str) -> P:
    try:
        probe = kind()
    except Exception as error:
        raise PluginError(f"probe `{spec}` cannot be made: {_one_line(error)}") from error
    vars(probe)["name"] = getattr(kind, "name", "") or kind.__name__
    return probe


def options_of(kind: type) -> dict[str, inspect.Parameter]:
    """The options of a linker or retriever: the keyword arguments of its constructor, and of those its `**` goes to."""
    options: dict[str, inspect.Parameter] = {}
    for constructor in _constructors(kind):
        for parameter in list(inspect.signature(constructor).parameters.values())[1:]:
            if parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
                options.setdefault(parameter.name, parameter)
    return options


def _constructors(kind: type) -> Iterator[Callable[..., None]]:
    """The constructor of a class, then those of its bases as long as each takes `**` for the next."""
    for base in kind.__mro__:
        constructor = vars(base).get("__init__")
        if constructor is None or base is object:
            continue
        yield constructor
        if not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(constructor).parameters.values()):
            return


def option_values(linker: Linker | Retriever, given: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Every option of a linker or retriever with the value that this run uses."""
    kind, given = type(linker), given or {}
    kinds = _kinds(kind)
    return {
        name: _convert(name, given[name], kinds[name]) if name in given else _value(linker, name, parameter)
        for name, parameter in options_of(kind).items()
    }


def _value(linker: Linker | Retriever, name: str, parameter: inspect.Parameter) -> Any:
    """The value of an option that is not given; a method of the same name is not where it is kept."""
    kept = getattr(linker, name, parameter.default)
    return parameter.default if inspect.ismethod(kept) else kept


def _points(group: Group) -> list[EntryPoint]:
    found: dict[tuple[str, str], EntryPoint] = {}
    for point in entry_points(group=group):
        # An editable and an installed copy of one package list the same plugin twice.
        found.setdefault((point.name, point.value), point)
    own = [point for point in found.values() if point.value.startswith("shadowprobe.")]
    others = sorted((p for p in found.values() if p not in own), key=lambda point: point.name)
    return own + others


def _load(spec: str, group: Group, base: type[P]) -> tuple[type[P], str]:
    """The class that a spec names, and the version of what it came from."""
    if ":" in spec:
        module_name, _, class_name = spec.rpartition(":")
        if module_name.endswith(".py"):
            return _class(_from_file(Path(module_name)), class_name, spec, base), _file_version(module_name)
        return _class(_from_module(module_name, spec), class_name, spec, base), _module_version(module_name)
    what = NOUNS[group]
    matching = [point for point in _points(group) if point.name == spec]
    if not matching:
        if spec.endswith(".py"):
            raise PluginError(f"{spec}: name the class too, as in {spec}:My{what.capitalize()}")
        # The list of probes has those that are asked of linkers.
        there_are = f"there are {', '.join(sorted(names(group)))}"
        listed = there_are if group == RETRIEVAL_PROBES else f"`shadowprobe {what}s` lists them"
        raise PluginError(
            f"unknown {what} `{spec}`{nearest(spec, names(group))}:"
            f" {listed}; a class of yours is given as file.py:Class"
        )
    if len(matching) > 1:
        places = " and ".join(f"`{point.value}`" for point in matching)
        raise PluginError(f"two packages offer the {what} `{spec}`; choose one by its place: {places}")
    module_name, _, class_name = matching[0].value.partition(":")
    module = _from_module(module_name, spec)
    dist = matching[0].dist
    return _class(module, class_name, spec, base), dist.version if dist else ""


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise PluginError(f"{path}: no such file")
    name = f"shadowprobe_user_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    module_spec = importlib.util.spec_from_file_location(name, path)
    if module_spec is None or module_spec.loader is None:
        raise PluginError(f"{path}: cannot be loaded as Python")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    # A file may import its neighbours, as it could when run as a script.
    sys.path.insert(0, str(path.resolve().parent))
    try:
        module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise PluginError(f"{path}: {_one_line(error)}") from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    return module


def _from_module(name: str, spec: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        hint = ""
        if error.name in {LINKERS, PROBES, "shadowprobe.linkers.retrievers"}:
            hint = ": this Python runs in the source tree of an installed shadowprobe; start it in another folder"
            hint += ", or install with pip install -e ."
        raise PluginError(f"`{spec}` cannot be loaded: there is no module `{error.name}`{hint}") from error
    except LinkerError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"`{spec}` cannot be loaded: {_one_line(error)}") from error


def _class(module: ModuleType, name: str, spec: str, base: type[P]) -> type[P]:
    kind = getattr(module, name, None)
    if kind is None:
        defined = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise PluginError(f"`{spec}`: there is no class `{name}` in it{nearest(name, defined)}")
    if not (isinstance(kind, type) and issubclass(kind, base)):
        package = base.__module__.rpartition(".")[0]
        raise PluginError(f"`{spec}`: `{name}` does not derive from {package}.{base.__name__}")
    return kind


def _construct(kind: type[Made], spec: str, given: Mapping[str, str]) -> Made:
    known = options_of(kind)
    kinds = _kinds(kind)
    noun = "linker" if issubclass(kind, Linker) else "retriever"
    for key in given:
        if key not in known:
            offer = f"it takes {', '.join(known)}" if known else "it takes none"
            raise UsageError(f"{noun} `{spec}` has no option `{key}`{nearest(key, known)}: {offer}")
    values = {key: _convert(key, text, kinds[key]) for key, text in given.items()}
    missing = [name for name, p in known.items() if p.default is p.empty and name not in values]
    if missing:
        raise UsageError(f"{noun} `{spec}` needs the option `{missing[0]}`: add -o {missing[0]}=VALUE")
    try:
        return kind(**values)
    except ValueError as error:
        raise UsageError(f"{noun} `{spec}`: {_one_line(error)}") from error
    except ShadowprobeError:
        raise
    except Exception as error:
        raise PluginError(f"{noun} `{spec}` cannot be made: {_one_line(error)}") from error


def _kinds(kind: type) -> dict[str, Any]:
    """The type of each option: as annotated, else that of its default, else text."""
    kinds: dict[str, Any] = {}
    for constructor in _constructors(kind):
        try:
            hints = get_type_hints(constructor)
        except Exception:
            # A wrapper may name types that exist only for its checker; the plain ones can still be read.
            hints = {name: PLAIN.get(str(text)) for name, text in constructor.__annotations__.items()}
        for name, parameter in inspect.signature(constructor).parameters.items():
            default = type(parameter.default) if type(parameter.default) in PLAIN.values() else str
            kinds.setdefault(name, hints.get(name) or default)
    return kinds


def _convert(key: str, text: str, kind: Any) -> Any:
    """The value of an option from its text."""
    if get_origin(kind) in {Union, UnionType}:
        if text.lower() == "none" and type(None) in get_args(kind):
            return None
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
        return get_origin(kind)(_convert(key, part.strip(), inner) for part in text.split(",") if part.strip())
    return Path(text) if kind is Path else text


def _describe(point: EntryPoint) -> tuple[str, str]:
    """First docstring line and `needs` of a plugin's class, read from the text of its file."""
    module_name, _, class_name = point.value.partition(":")
    source = _source_file(module_name)
    if source is None:
        return "", ""
    try:
        tree = ast.parse(source.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return "", ""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            return (ast.get_docstring(node) or "").partition("\n")[0], _needs(node)
    return "", ""


def _needs(node: ast.ClassDef) -> str:
    for statement in node.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        named = any(isinstance(target, ast.Name) and target.id == "needs" for target in targets)
        if named and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
            return statement.value.value
    return Linker.needs


def _source_file(module_name: str) -> Path | None:
    """The file of a module, found by importing at most the packages that it lies in."""
    try:
        spec = importlib.util.find_spec(module_name)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def _file_version(path: str) -> str:
    """A digest of the file: a changed linker is another linker, and its old answers are not resumed."""
    return f"sha256:{hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]}"


def _module_version(name: str) -> str:
    file = getattr(sys.modules.get(name), "__file__", None)
    return _file_version(file) if file else ""


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if not isinstance(error, ValueError) else text
