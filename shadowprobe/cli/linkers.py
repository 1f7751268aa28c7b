"""`shadowprobe linkers`: which there are, and what each needs."""

from __future__ import annotations

from shadowprobe.cli import common


def linkers(json: common.JsonOption = False) -> None:
    """List the linkers and what each needs; none of them is loaded for it."""
    from shadowprobe import plugins

    found = list(plugins.listings(plugins.LINKERS))
    if json:
        common.print_json(found)
        return
    from shadowprobe.report.listings import linkers_table

    common.stdout().print(linkers_table(found))
