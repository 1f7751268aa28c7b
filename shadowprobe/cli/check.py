"""`shadowprobe check`: is a linker there, does it answer, is its wrapper right?"""

from __future__ import annotations

from shadowprobe.cli import common


def check(
    linker: common.LinkerOption,
    dataset: common.DatasetOption = "mini",
    option: common.OptionsOption = None,
    json: common.JsonOption = False,
) -> int:
    """Test a linker on a battery of small cases. Exit 1: some case does not hold."""
    from shadowprobe import check as battery
    from shadowprobe.plugins import make_linker

    opened = common.open_dataset(dataset)
    with common.stdout_is_ours():
        made = make_linker(linker, common.parse_options(option))
        findings = list(battery.check(made, opened))
    if json:
        common.print_json(findings)
    else:
        from shadowprobe.report.listings import findings_table

        console = common.stdout()
        console.print(findings_table(made.name, findings))
        if made.howto and not all(finding.holds for finding in findings[:2]):
            console.print(f"To set `{made.name}` up:\n{made.howto}", markup=False, soft_wrap=True)
        elif sent := battery.outgoing(made, opened):
            console.print(f"What `{made.name}` is sent for the first snippet:\n{sent}", markup=False, soft_wrap=True)
    return 0 if all(finding.holds for finding in findings) else 1
