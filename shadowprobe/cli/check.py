"""`shadowprobe check`: tests whether a linker is available, answers, and has a correct wrapper."""

from __future__ import annotations

from shadowprobe.cli import common


def check(
    linker: common.LinkerOption,
    dataset: common.DatasetOption = "mini",
    option: common.OptionsOption = None,
    json: common.JsonOption = False,
) -> int:
    """Test a linker on small cases. Exit 1: a case failed."""
    from shadowprobe.plugins import make_linker
    from shadowprobe.running import check as battery

    opened = common.open_dataset(dataset)
    with common.stdout_is_ours():
        made = make_linker(linker, common.parse_options(option))
        findings = list(battery.check(made, opened))
    if json:
        common.print_json(findings)
    else:
        from shadowprobe.reporting.tables.listing_tables import findings_table

        common.print_tables([findings_table(made.name, findings)])
        if made.howto and not made.is_reached and not all(finding.holds for finding in findings[:2]):
            common.print_lines(f"To set `{made.name}` up:\n{made.howto}")
        elif sent := battery.describe_request(made, opened):
            common.print_lines(f"What `{made.name}` is sent for the first snippet:\n{sent}")
    return 0 if all(finding.holds for finding in findings) else 1
