"""What the card of a new dataset says of its settings."""

from __future__ import annotations

from shadowprobe.build.new_card import _list_public_settings
from shadowprobe.build.settings import BuildSettings


def test_the_card_has_no_paths_of_a_machine_and_no_secrets_of_an_address() -> None:
    local = BuildSettings(wiki="w", name="n", dumps="/home/me/dumps", common_crawl="/data/index", warc_base="warcs/all")
    shown = _list_public_settings(local)
    assert [shown[name] for name in ("dumps", "common_crawl", "warc_base")] == ["dumps", "index", "all"]
    assert "date" not in shown
    remote = BuildSettings(wiki="w", name="n", common_crawl="https://host.example/folder/index?token=abc")
    shown = _list_public_settings(remote)
    assert shown["common_crawl"].startswith("https://host.example/folder/index?token=")
    assert "abc" not in shown["common_crawl"]
    assert (shown["dumps"], shown["wiki"]) == ("", "w")
