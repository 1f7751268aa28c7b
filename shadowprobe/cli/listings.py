"""`shadowprobe linkers`, `retrievers`, `readers`, `probes`, `datasets`, `figures`: what there is, or what one is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from shadowprobe.cli import common

if TYPE_CHECKING:
    from shadowprobe.plugins import Group
    from shadowprobe.reporting.details import Details


def _name_plugin(noun: str, completed: str = "") -> Any:
    """The argument for one plugin of a list, which is completed to the names of a group."""
    return typer.Argument(
        metavar="[NAME|FILE.py:CLASS]",
        autocompletion=common.complete(completed or f"{noun}s"),
        help=f"The {noun} to explain.",
    )


def linkers(
    name: Annotated[str | None, _name_plugin("linker")] = None,
    json: common.JsonOption = False,
) -> None:
    """List the linkers and what each needs; none of them is loaded for it.

    With a name: what this one does, what it needs, its options, and an example.
    """
    _print_plugins(["shadowprobe.linkers"], name, "linker", json=json)


def retrievers(
    name: Annotated[str | None, _name_plugin("retriever")] = None,
    json: common.JsonOption = False,
) -> None:
    """List the retrievers and what each needs; none of them is loaded for it.

    With a name: what this one does, what it needs, its options, and an example.
    """
    _print_plugins(["shadowprobe.retrievers"], name, "retriever", json=json)


def readers(
    name: Annotated[str | None, _name_plugin("reader")] = None,
    json: common.JsonOption = False,
) -> None:
    """List the readers and what each needs; none of them is loaded for it.

    With a name: what this one does, what it needs, its options, and an example.
    """
    _print_plugins(["shadowprobe.readers"], name, "reader", json=json)


def probes(
    name: Annotated[str | None, _name_plugin("probe", "all_probes")] = None,
    json: common.JsonOption = False,
) -> None:
    """List the probes; none of them is loaded for it.

    With a name: what this one measures, and an example.
    """
    _print_plugins(["shadowprobe.probes", "shadowprobe.retrieval_probes"], name, "probe", "what it asks", json=json)


def _print_plugins(
    groups: list[Group], name: str | None, noun: str, about: str = "what it does", *, json: bool
) -> None:
    from shadowprobe import plugins
    from shadowprobe.reporting.tables.listing_tables import plugins_table

    if name is not None:
        from shadowprobe.reporting.details import describe_plugin

        _print_details(describe_plugin(name, *groups), json=json)
        return
    installed = [listing for group in groups for listing in plugins.listings(group)]
    common.print_listing(installed, plugins_table(installed, noun, about), json=json)


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|DIR]", autocompletion=common.complete("datasets"), help="The dataset to explain."
        ),
    ] = None,
    json: common.JsonOption = False,
) -> None:
    """List the datasets that go by a name; any dataset directory will do as well.

    With a name: what this one contains, its licence, and an example.
    """
    if name is not None:
        from shadowprobe.reporting.details import describe_dataset

        _print_details(describe_dataset(name), json=json)
        return
    from shadowprobe.catalogue.datasets import listing
    from shadowprobe.reporting.tables.listing_tables import datasets_table

    known = listing()
    common.print_listing(known, datasets_table(known), json=json)


def figures(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[FIGURE]", autocompletion=common.complete("figures"), help="The figure to explain."),
    ] = None,
    json: common.JsonOption = False,
) -> None:
    """List the figures that `shadowprobe plot` draws.

    With a name: what this one shows, which runs it needs, and an example.
    """
    if name is not None:
        from shadowprobe.reporting.details import describe_figure

        _print_details(describe_figure(name), json=json)
        return
    from shadowprobe.reporting.figures import list_figures
    from shadowprobe.reporting.tables.listing_tables import figures_table

    listed = list(list_figures())
    items = [{"name": name, "about": about} for name, about in listed]
    common.print_listing(items, figures_table(listed), json=json)


def _print_details(details: Details, *, json: bool) -> None:
    if json:
        common.print_json(details)
        return
    from shadowprobe.reporting.tables.details_text import make_lines
    from shadowprobe.reporting.tables.listing_tables import options_table

    for line in make_lines(details):
        common.stdout().print(line, markup=False)
    common.print_lines(*(f"    {line}" for line in details.setup.splitlines()))
    if details.options:
        common.print_tables([options_table(details)])
    common.print_lines("", f"Example: {details.example}")
