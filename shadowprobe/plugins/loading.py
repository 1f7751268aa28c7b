"""Loads linkers, retrievers, readers and probes by name: entry points, `file.py:Class` and `package.module:Class`."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import shadowprobe
from shadowprobe.base.jsonl import convert_to_json
from shadowprobe.errors import (
    USER_MODULE,
    LinkerError,
    PluginError,
    ShadowprobeError,
    UsageError,
    find_place,
    nearest,
)
from shadowprobe.measure.probe import Findings, Probe
from shadowprobe.systems.calling import SEE_DEBUG, name_errors
from shadowprobe.systems.linker import Linker, System
from shadowprobe.systems.options import GIVEN, convert_option, find_types, inner_linkers, is_linker, list_options
from shadowprobe.systems.retriever import Retriever

if TYPE_CHECKING:
    from shadowprobe.systems.reader import Reader

Group = Literal[
    "shadowprobe.linkers",
    "shadowprobe.probes",
    "shadowprobe.retrievers",
    "shadowprobe.readers",
    "shadowprobe.retrieval_probes",
]
LINKERS: Group = "shadowprobe.linkers"
PROBES: Group = "shadowprobe.probes"
RETRIEVERS: Group = "shadowprobe.retrievers"
READERS: Group = "shadowprobe.readers"
RETRIEVAL_PROBES: Group = "shadowprobe.retrieval_probes"
# Systems that a user may look for among the linkers, and what to use instead.
_NOT_LINKERS = {
    "gerbil": "GERBIL is a benchmark and no linker: it returns totals and no answers, so no probe can be asked of it."
    " `shadowprobe gerbil run --annotator NAME --dataset D --url URL` gives Table 3; a system with a NIF service can be"
    " asked: --linker nif -o url=..."
}
# The noun for one plugin of a group; its plural is the command that lists them.
NOUNS = {
    LINKERS: "linker",
    PROBES: "probe",
    RETRIEVERS: "retriever",
    READERS: "reader",
    RETRIEVAL_PROBES: "probe",
}
# A retriever that is made of a linker: `linker:blend`.
BY_LINKER = "linker:"
# The version of a plugin of ours is the release that last changed its answers, so that a run of an earlier release
# goes on. Who changes the answers of a linker or retriever writes the next release here.
OWN_SINCE = "0.1.0"
OWN_CHANGED = {"llm": "0.2.0", "genre": "0.2.0"}
P = TypeVar("P")
AnySystem = TypeVar("AnySystem", bound=System)


def names(group: Group) -> list[str]:
    """Lists the names of a group's plugins, our own in their order and then others by name."""
    return [point.name for point in find_entry_points(group)]


def find_entry_points(group: Group) -> list[EntryPoint]:
    """Finds the plugins of a group, our own in their order and then others by name."""
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


def make_linker(spec: str, options: Mapping[str, str] | None = None) -> Linker:
    """Makes a linker by name or location, and converts its options from strings to their types."""
    return _make_linker(spec, options or {})


def _make_linker(spec: str, options: Mapping[str, str], prefix: str = "") -> Linker:
    return _make_system(*_load(spec, LINKERS, Linker), spec, options, prefix)


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


def make_reader(spec: str, options: Mapping[str, str] | None = None) -> Reader:
    """Makes a reader by name or location."""
    from shadowprobe.systems.reader import Reader

    return _make_system(*_load(spec, READERS, Reader), spec, options or {})


def _make_system(
    kind: type[AnySystem], version: str, spec: str, options: Mapping[str, str], prefix: str = ""
) -> AnySystem:
    """Makes a system; a user gives the options of an inner one with a prefix, which messages must name."""
    system = _construct(kind, spec, options, prefix)
    # Set on the instance: a run records them, and they must be the same when it is resumed.
    vars(system)["name"] = kind.name or kind.__name__
    others: set[str] = {linker.version for linker in inner_linkers(system).values()} - {version}
    vars(system)["version"] = " of ".join([kind.version or _add_class(version, kind), *sorted(others)])
    vars(system)[GIVEN] = dict(options)
    system.notes = []
    return system


def _construct(kind: type[AnySystem], spec: str, given: Mapping[str, str], prefix: str) -> AnySystem:
    # A run of a linker or a retriever needs no readers.
    noun = "linker" if issubclass(kind, Linker) else "retriever" if issubclass(kind, Retriever) else "reader"
    owner = f"{noun} `{spec}`"
    values = _read_options(kind, owner, given, prefix)
    try:
        return kind(**values)
    except ValueError as error:
        raise UsageError(f"{owner}: {_format_cause(error)}") from error
    except ShadowprobeError:
        raise
    except Exception as error:
        raise PluginError(f"{owner} cannot be made: {_format_cause(error)}{SEE_DEBUG}") from error


def _read_options(kind: type, owner: str, given: Mapping[str, str], prefix: str) -> dict[str, Any]:
    """Converts the options that a user gives; refuses unknown ones, and a constructor that needs more of them.

    An option that is a linker is made of its own options, which are given as `OPTION.KEY`.
    """
    known, types = list_options(kind), find_types(kind)
    of_inner: dict[str, dict[str, str]] = {name: {} for name in known if is_linker(types[name])}
    values: dict[str, Any] = {}
    for key, text in given.items():
        name, dot, inner_key = key.partition(".")
        if dot and name in of_inner:
            of_inner[name][inner_key] = text
        elif key not in known:
            options = f"it takes {', '.join(known)}" if known else "it takes none"
            raise UsageError(f"{owner} has no option `{key}`{nearest(key, known)}: {options}")
        elif key not in of_inner:
            values[key] = convert_option(prefix + key, text, types[key])
    missing = [name for name, p in known.items() if p.default is p.empty and name not in given]
    if missing:
        raise UsageError(f"{owner} needs the option `{missing[0]}`: add -o {prefix}{missing[0]}=VALUE")
    inner = {name: _make_linker(given[name], options, f"{prefix}{name}.") for name, options in of_inner.items()}
    return values | inner


def load_class(spec: str, group: Group) -> type:
    """Returns the class of a plugin by name or location, without an instance of it."""
    from shadowprobe.systems.reader import Reader

    bases: dict[Group, type] = {LINKERS: Linker, PROBES: Probe, RETRIEVERS: Retriever, READERS: Reader}
    return _load(spec, group, bases.get(group, object))[0]


def make_probe(spec: str) -> Probe:
    """Makes a probe by name or location."""
    kind, _ = _load(spec, PROBES, Probe)
    return _construct_probe(kind, spec)


def make_retrieval_probe(spec: str, base: type[P]) -> P:
    """Makes a probe of retrieval by name or location, which must derive from the given base class."""
    kind, _ = _load(spec, RETRIEVAL_PROBES, base)
    return _construct_probe(kind, spec)


def make_retrieval_probes(base: type[P]) -> list[P]:
    """Makes all probes of retrieval that derive from a base class and can be loaded."""
    probes = []
    for name in names(RETRIEVAL_PROBES):
        with suppress(PluginError):
            probes.append(make_retrieval_probe(name, base))
    return probes


def _construct_probe(kind: type[P], spec: str) -> P:
    try:
        probe = kind()
    except Exception as error:
        raise PluginError(f"probe `{spec}` cannot be made: {_format_cause(error)}{SEE_DEBUG}") from error
    vars(probe)["name"] = getattr(kind, "name", "") or kind.__name__
    return probe


def run_probe(name: str, measure: Callable[[], Any]) -> Findings:
    """The findings of a probe as JSON will hold them; an error of a probe is one line that names it."""
    with name_errors(f"probe `{name}` failed", PluginError, SEE_DEBUG):
        findings = convert_to_json(measure())
    if not isinstance(findings, dict):
        raise PluginError(f"probe `{name}`: measure() must return a table of findings, not {findings!r}")
    return findings


def add_version(linker: Linker) -> Linker:
    """Adds a version to a linker that a user constructed: a digest of its code and state.

    A changed linker then has another version, and does not reuse the answers of the old one.
    """
    kind = type(linker)
    # `make_linker` has given its linkers a version.
    is_made_by_name = "version" in vars(linker) and "_made_with" not in vars(linker)
    if not kind.version and not is_made_by_name:
        try:
            source = inspect.getsource(kind)
        except (OSError, TypeError):
            # Its code is not known, so its answers are never reused.
            source = str(uuid.uuid4())
        # Only the attributes of its construction count, and not those that a run has added.
        keys = vars(linker).setdefault("_made_with", sorted(vars(linker).keys() - kind.incidental))
        inner = {name: add_version(other).version for name, other in inner_linkers(linker).items()}
        state = repr([(key, inner.get(key, vars(linker).get(key))) for key in keys])
        vars(linker)["version"] = f"sha256:{hashlib.sha256((source + state).encode()).hexdigest()[:12]}"
    return linker


def _load(spec: str, group: Group, base: type[P]) -> tuple[type[P], str]:
    """Returns the class that a spec names, and its version."""
    if ":" in spec:
        module_name, _, class_name = spec.rpartition(":")
        if module_name.endswith(".py"):
            return _get_class(_load_file(Path(module_name)), class_name, spec, base), _hash_file(module_name)
        return _get_class(_import_module(module_name, spec), class_name, spec, base), _hash_module(module_name)
    what = NOUNS[group]
    matching = [point for point in find_entry_points(group) if point.name == spec]
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
    return _get_class(module, class_name, spec, base), _choose_version(matching[0])


def _choose_version(point: EntryPoint) -> str:
    """The version of an installed plugin: that of its package, or of ours the one that last changed its answers."""
    if point.dist is None:
        return ""
    return OWN_CHANGED.get(point.name, OWN_SINCE) if point.dist.name == "shadowprobe" else point.dist.version


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise PluginError(f"{path}: no such file")
    name = f"{USER_MODULE}{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
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
        if error.name in {LINKERS, PROBES, RETRIEVERS, READERS}:
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


def _add_class(version: str, kind: type) -> str:
    """The version of a class; two classes of one file that share a name must not continue each other's run."""
    owner = next((base for base in kind.__mro__ if "name" in vars(base)), kind)
    is_shared = owner is not kind and owner.__module__ == kind.__module__
    return f"{version} {kind.__qualname__}" if is_shared else version


def _hash_file(path: str) -> str:
    """Returns a digest of the file as the version: a changed linker must not resume its old answers."""
    return f"sha256:{hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]}"


def _hash_module(name: str) -> str:
    file = getattr(sys.modules.get(name), "__file__", None)
    return _hash_file(file) if file else ""


def _format_cause(error: BaseException) -> str:
    text = " ".join(str(error).split())
    name = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return f"{name}{text}{find_place(error)}"
