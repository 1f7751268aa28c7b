"""`shadowprobe probes`: which questions can be asked."""

from __future__ import annotations

from shadowprobe.cli import common


def probes(json: common.JsonOption = False) -> None:
    """List the probes; none of them is loaded for it."""
    from shadowprobe import plugins

    found = [*plugins.listings(plugins.PROBES), *plugins.listings(plugins.RETRIEVAL_PROBES)]
    if json:
        common.print_json(found)
        return
    from shadowprobe.report.listings import probes_table

    common.stdout().print(probes_table(found))
