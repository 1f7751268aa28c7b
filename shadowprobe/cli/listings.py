"""`shadowprobe linkers`, `retrievers`, `readers`, `probes` and `datasets`: what there is, and what each needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shadowprobe.cli import common

if TYPE_CHECKING:
    from shadowprobe.plugins import Group


def linkers(json: common.JsonOption = False) -> None:
    """List the linkers and what each needs; none of them is loaded for it."""
    from shadowprobe import plugins

    _print_plugins([plugins.LINKERS], "linker", json=json)


def retrievers(json: common.JsonOption = False) -> None:
    """List the retrievers and what each needs; none of them is loaded for it."""
    from shadowprobe import plugins

    _print_plugins([plugins.RETRIEVERS], "retriever", json=json)


def readers(json: common.JsonOption = False) -> None:
    """List the readers and what each needs; none of them is loaded for it."""
    from shadowprobe import plugins

    _print_plugins([plugins.READERS], "reader", json=json)


def probes(json: common.JsonOption = False) -> None:
    """List the probes; none of them is loaded for it."""
    from shadowprobe import plugins

    _print_plugins([plugins.PROBES, plugins.RETRIEVAL_PROBES], "probe", "what it asks", json=json)


def _print_plugins(groups: list[Group], noun: str, about: str = "what it does", *, json: bool) -> None:
    from shadowprobe import plugins
    from shadowprobe.reporting.tables.listing_tables import plugins_table

    installed = [listing for group in groups for listing in plugins.listings(group)]
    common.print_listing(installed, plugins_table(installed, noun, about), json=json)


def datasets(json: common.JsonOption = False) -> None:
    """List the datasets that go by a name; any dataset directory will do as well."""
    from shadowprobe.catalogue.datasets import listing
    from shadowprobe.reporting.tables.listing_tables import datasets_table

    known = listing()
    common.print_listing(known, datasets_table(known), json=json)
