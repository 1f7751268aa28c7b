"""A flag is off where nothing is said; the few that are on are listed here."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import shadowprobe

# The options of these are in test_linker_defaults.py and test_retriever_defaults.py.
SYSTEMS = ("shadowprobe.linkers", "shadowprobe.retrievers")
ON = {
    # AmbER counts an item of a subclass as one of its class.
    "shadowprobe.cli.sets.amber: subclasses",
    "shadowprobe.cli.sets_wikidata.make_origin: subclasses",
    "shadowprobe.cli.common.user_agent: needed",
    # A server that the user named may have any address, and may be behind the user's proxy.
    "shadowprobe.net.client.Client.__init__: allow_private",
    "shadowprobe.net.client.Client.__init__: use_environment",
    "shadowprobe.net.client.Client.__init__: keep_alive",
    "shadowprobe.net.client.Client.send: follow",
    "shadowprobe.net.client.Client.stream: follow",
    "shadowprobe.net.decompression.decompressor: is_requested",
    "shadowprobe.report.figures.bars.draw_bar: filled",
}


def find_functions() -> Iterator[tuple[str, Any]]:
    """Every function and method of the package, by its full name."""
    for found in pkgutil.walk_packages(shadowprobe.__path__, "shadowprobe."):
        if found.name.startswith(SYSTEMS) or found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for value in vars(module).values():
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(value):
                yield f"{module.__name__}.{value.__qualname__}", value
            elif inspect.isclass(value):
                for name, method in vars(value).items():
                    if inspect.isfunction(method):
                        yield f"{module.__name__}.{value.__qualname__}.{name}", method


def test_a_flag_is_off_unless_it_is_listed() -> None:
    on = {
        f"{name}: {parameter.name}"
        for name, function in find_functions()
        for parameter in inspect.signature(inspect.unwrap(function)).parameters.values()
        if parameter.default is True
    }
    assert on == ON
