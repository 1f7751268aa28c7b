"""`shadowprobe datasets`: which go by a name."""

from __future__ import annotations

from shadowprobe.cli import common


def datasets(json: common.JsonOption = False) -> None:
    """List the datasets that go by a name; any dataset directory will do as well."""
    from shadowprobe.catalogue import listing

    found = listing()
    if json:
        common.print_json(found)
        return
    from shadowprobe.report.listings import datasets_table

    common.stdout().print(datasets_table(found))
