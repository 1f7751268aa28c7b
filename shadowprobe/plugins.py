"""Finds linkers, retrievers and probes by name: entry points, `file.py:Class` and `package.module:Class`."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import inspect
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

import shadowprobe
from shadowprobe.base.files import file_digest
from shadowprobe.base.jsonl import convert_to_json
from shadowprobe.base.secrets import mask_options
from shadowprobe.errors import LinkerError, PluginError, ShadowprobeError, UsageError, nearest
from shadowprobe.measure.probe import Findings, Probe
from shadowprobe.systems.linker import Linker
from shadowprobe.systems.retriever import Retriever

Group = Literal["shadowprobe.linkers", "shadowprobe.probes", "shadowprobe.retrievers", "shadowprobe.retrieval_probes"]
LINKERS: Group = "shadowprobe.linkers"
PROBES: Group = "shadowprobe.probes"
RETRIEVERS: Group = "shadowprobe.retrievers"
RETRIEVAL_PROBES: Group = "shadowprobe.retrieval_probes"
# Systems that a user may look for among the linkers, and what to use instead.
_NOT_LINKERS = {
    "gerbil": "GERBIL is a benchmark and no linker: it returns totals and no answers, so no probe can be asked of it."
    " `shadowprobe gerbil run --annotator NAME --dataset D --url URL` gives Table 3; a system with a NIF service can be"
    " asked: --linker nif -o url=..."
}
# The noun for one plugin of a group; its plural is the command that lists them.
NOUNS = {LINKERS: "linker", PROBES: "probe", RETRIEVERS: "retriever", RETRIEVAL_PROBES: "probe"}
# A retriever that is made of a linker: `linker:blend`.
BY_LINKER = "linker:"
P = TypeVar("P")
System = TypeVar("System", Linker, Retriever)
PLAIN: dict[str, Any] = {"bool": bool, "int": int, "float": float, "str": str, "Path": Path}
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


class Listing(Struct, frozen=True):
    """The entry of a plugin in a list, read from its source without importing it."""

    name: str
    about: str
    needs: str
    package: str


def names(group: Group) -> list[str]:
    """Lists the names of a group's plugins, our own in their order and then others by name."""
    return [point.name for point in _find_entry_points(group)]


def listings(group: Group) -> Iterator[Listing]:
    """Yields every plugin of a group and its requirements, without importing it."""
    for point in _find_entry_points(group):
        about, needs = _describe(point)
        yield Listing(point.name, about, needs, point.dist.name if point.dist else "")


def make_linker(spec: str, options: Mapping[str, str] | None = None) -> Linker:
    """Makes a linker by name or location, and converts its options from strings to their types."""
    return _make_system(*_load(spec, LINKERS, Linker), spec, options or {})


def linker_options(spec: str) -> list[str]:
    """Lists the options of a linker by name or location, without making it."""
    return list(list_options(_load(spec, LINKERS, Linker)[0]))


def make_retriever(spec: str, options: Mapping[str, str] | None = None) -> Retriever:
    """Makes a retriever by name or location; `linker:NAME` makes one from a linker and its options."""
    if spec.rstrip(":") == BY_LINKER.rstrip(":"):
        raise UsageError(f"retriever `{spec}`: name the linker too, as in {BY_LINKER}prior")
    if not spec.startswith(BY_LINKER):
        return _make_system(*_load(spec, RETRIEVERS, Retriever), spec, options or {})
    kind, _ = _load(BY_LINKER.rstrip(":"), RETRIEVERS, Retriever)
    linker = make_linker(spec.removeprefix(BY_LINKER), options)
    # Only this retriever has a linker as its argument.
    retriever: Retriever = kind(linker)  # type: ignore[call-arg]
    vars(retriever)["name"], vars(retriever)["version"] = f"{BY_LINKER}{linker.name}", linker.version
    retriever.notes = []
    return retriever


def make_retrieval_probe(spec: str, base: type[P]) -> P:
    """Makes a probe of retrieval by name or location, which must derive from the given base class."""
    kind, _ = _load(spec, RETRIEVAL_PROBES, base)
    return _construct_probe(kind, spec)


def _add_class(version: str, kind: type) -> str:
    """The version of a class; two classes of one file that share a name must not continue each other's run."""
    owner = next((base for base in kind.__mro__ if "name" in vars(base)), kind)
    is_shared = owner is not kind and owner.__module__ == kind.__module__
    return f"{version} {kind.__qualname__}" if is_shared else version


def _make_system(kind: type[System], version: str, spec: str, options: Mapping[str, str]) -> System:
    system = _construct(kind, spec, options)
    # Set on the instance: a run records them, and they must be the same when it is resumed.
    vars(system)["name"] = kind.name or kind.__name__
    vars(system)["version"] = kind.version or _add_class(version, kind)
    system.notes = []
    return system


def add_version(linker: Linker) -> Linker:
    """Adds a version to a linker that a user constructed: a digest of its code and state.

    A changed linker then has another version, and does not reuse the answers of the old one.
    """
    kind = type(linker)
    if not kind.version:
        try:
            source = inspect.getsource(kind)
        except (OSError, TypeError):
            # Its code is not known, so its answers are never reused.
            source = str(uuid.uuid4())
        # Only the attributes of its construction count, and not those that a run has added.
        keys = vars(linker).setdefault("_made_with", sorted(vars(linker).keys() - kind.incidental))
        state = repr([(key, vars(linker).get(key)) for key in keys])
        vars(linker)["version"] = f"sha256:{hashlib.sha256((source + state).encode()).hexdigest()[:12]}"
    return linker


def describe_system(name: str, version: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the entry of a linker or retriever in a run's card, without secrets.

    It contains the digests of files in its options, because another file gives other answers.
    """
    files = {
        option: file_digest(value) for option, value in options.items() if isinstance(value, Path) and value.is_file()
    }
    system = {"name": name, "version": version, "options": mask_options(convert_to_json(dict(options)))}
    return {**system, "files": files} if files else system


def make_probe(spec: str) -> Probe:
    """Makes a probe by name or location."""
    kind, _ = _load(spec, PROBES, Probe)
    return _construct_probe(kind, spec)


def run_probe(name: str, measure: Callable[[], Any]) -> Findings:
    """The findings of a probe as JSON will hold them; an error of a probe is one line that names it."""
    try:
        findings = convert_to_json(measure())
    except ShadowprobeError:
        raise
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {error}"
        raise PluginError(f"probe `{name}` failed: {what} (--debug shows where)") from error
    if not isinstance(findings, dict):
        raise PluginError(f"probe `{name}`: measure() must return a table of findings, not {findings!r}")
    return findings


def _construct_probe(kind: type[P], spec: str) -> P:
    try:
        probe = kind()
    except Exception as error:
        raise PluginError(f"probe `{spec}` cannot be made: {_format_cause(error)}") from error
    vars(probe)["name"] = getattr(kind, "name", "") or kind.__name__
    return probe


def list_options(kind: type) -> dict[str, inspect.Parameter]:
    """Lists the options of a linker or retriever: the keyword arguments of its constructor and those of its bases."""
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


def option_values(linker: Linker | Retriever, given: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Returns every option of a linker or retriever with its value in this run."""
    kind, given = type(linker), given or {}
    kinds = _find_types(kind)
    return {
        name: _convert(name, given[name], kinds[name]) if name in given else _read_value(linker, name, parameter)
        for name, parameter in list_options(kind).items()
    }


def _read_value(linker: Linker | Retriever, name: str, parameter: inspect.Parameter) -> Any:
    """Returns the value of an option that is not given; a method with the same name is not its value."""
    value = getattr(linker, name, parameter.default)
    return parameter.default if inspect.ismethod(value) else value


def _find_entry_points(group: Group) -> list[EntryPoint]:
    return _read_entry_points(group, tuple(sys.path))


@cache
def _read_entry_points(group: Group, _: tuple[str, ...]) -> list[EntryPoint]:
    """Reads the files of all installed packages, once for each search path: a run asks for each of its probes."""
    points: dict[tuple[str, str], EntryPoint] = {}
    for point in entry_points(group=group):
        # An editable and an installed copy of a package list the same plugin twice.
        points.setdefault((point.name, point.value), point)
    own = [point for point in points.values() if point.value.startswith("shadowprobe.")]
    others = sorted((point for point in points.values() if point not in own), key=lambda point: point.name)
    return own + others


def _load(spec: str, group: Group, base: type[P]) -> tuple[type[P], str]:
    """Returns the class that a spec names, and its version."""
    if ":" in spec:
        module_name, _, class_name = spec.rpartition(":")
        if module_name.endswith(".py"):
            return _get_class(_load_file(Path(module_name)), class_name, spec, base), _hash_file(module_name)
        return _get_class(_import_module(module_name, spec), class_name, spec, base), _hash_module(module_name)
    what = NOUNS[group]
    matching = [point for point in _find_entry_points(group) if point.name == spec]
    if not matching:
        if spec.endswith(".py"):
            raise PluginError(f"{spec}: name the class too, as in {spec}:My{what.capitalize()}")
        if group == LINKERS and spec in _NOT_LINKERS:
            raise PluginError(_NOT_LINKERS[spec])
        # `shadowprobe probes` lists only the probes for linkers.
        listed = f"`shadowprobe {what}s` lists them"
        if group == RETRIEVAL_PROBES:
            listed = f"there are {', '.join(sorted(names(group)))}"
        raise PluginError(
            f"unknown {what} `{spec}`{nearest(spec, names(group))}: {listed}; give your own class as file.py:Class"
        )
    if len(matching) > 1:
        places = " and ".join(f"`{point.value}`" for point in matching)
        raise PluginError(f"two packages have a {what} `{spec}`; choose one by its location: {places}")
    module_name, _, class_name = matching[0].value.partition(":")
    module = _import_module(module_name, spec)
    dist = matching[0].dist
    return _get_class(module, class_name, spec, base), dist.version if dist else ""


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise PluginError(f"{path}: no such file")
    name = f"shadowprobe_user_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    module_spec = importlib.util.spec_from_file_location(name, path)
    if module_spec is None or module_spec.loader is None:
        raise PluginError(f"{path}: cannot be loaded as Python")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    # A file may import other files of its directory, like a script.
    sys.path.insert(0, str(path.resolve().parent))
    try:
        module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise PluginError(f"{path}: {_format_cause(error)}") from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    return module


def _import_module(name: str, spec: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        hint = ""
        if error.name in {LINKERS, PROBES, "shadowprobe.retrievers"}:
            hint = ": this Python runs in the source tree of an installed shadowprobe; start it in another folder"
            hint += ", or install with pip install -e ."
        raise PluginError(f"`{spec}` cannot be loaded: there is no module `{error.name}`{hint}") from error
    except LinkerError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"`{spec}` cannot be loaded: {_format_cause(error)}") from error


def _get_class(module: ModuleType, name: str, spec: str, base: type[P]) -> type[P]:
    kind = getattr(module, name, None)
    if kind is None:
        defined = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise PluginError(f"`{spec}`: there is no class `{name}` in it{nearest(name, defined)}")
    if not (isinstance(kind, type) and issubclass(kind, base)):
        # The package from which users import the base class.
        package = "shadowprobe" if hasattr(shadowprobe, base.__name__) else "shadowprobe.retrieval"
        raise PluginError(f"`{spec}`: `{name}` does not derive from {package}.{base.__name__}")
    return kind


def _construct(kind: type[System], spec: str, given: Mapping[str, str]) -> System:
    known = list_options(kind)
    kinds = _find_types(kind)
    noun = "linker" if issubclass(kind, Linker) else "retriever"
    for key in given:
        if key not in known:
            options = f"it takes {', '.join(known)}" if known else "it takes none"
            raise UsageError(f"{noun} `{spec}` has no option `{key}`{nearest(key, known)}: {options}")
    values = {key: _convert(key, text, kinds[key]) for key, text in given.items()}
    missing = [name for name, p in known.items() if p.default is p.empty and name not in values]
    if missing:
        raise UsageError(f"{noun} `{spec}` needs the option `{missing[0]}`: add -o {missing[0]}=VALUE")
    try:
        return kind(**values)
    except ValueError as error:
        raise UsageError(f"{noun} `{spec}`: {_format_cause(error)}") from error
    except ShadowprobeError:
        raise
    except Exception as error:
        raise PluginError(f"{noun} `{spec}` cannot be made: {_format_cause(error)}") from error


def _find_types(kind: type) -> dict[str, Any]:
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


def _convert(key: str, text: str, kind: Any) -> Any:
    """Converts the text of an option to its type."""
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


def _hash_file(path: str) -> str:
    """Returns a digest of the file as the version: a changed linker must not resume its old answers."""
    return f"sha256:{hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]}"


def _hash_module(name: str) -> str:
    file = getattr(sys.modules.get(name), "__file__", None)
    return _hash_file(file) if file else ""


def _format_cause(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if not isinstance(error, ValueError) else text
