"""Whether this machine is online: any answer of a server says so."""

from __future__ import annotations

import pytest
from service import serving

from shadowprobe.build.web.partition import is_online

# Nobody listens there.
NOWHERE = "http://127.0.0.1:9"


@pytest.mark.parametrize("status", [200, 404, 503, 302])
def test_any_answer_shows_that_the_machine_is_online(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, NOWHERE)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(lambda *_: (status, {"Location": NOWHERE}, b"here")) as served:
        assert is_online(served.url, "tests/1")
        assert [asked.headers["user-agent"] for asked in served.requests] == ["tests/1"]


def test_a_server_without_an_answer_does_not_show_it() -> None:
    assert not is_online(NOWHERE, "tests/1")
