"""Ray is optional: what is missing is said in one line. Real clusters are in tests/integration/test_ray.py."""

from __future__ import annotations

import socket
import sys

import pytest

from shadowprobe.compute.executor import make_executor
from shadowprobe.errors import UsageError


def test_without_ray_the_install_command_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"^--executor ray: Ray is not installed: pip install 'shadowprobe\[ray\]'$"):
        make_executor("ray")


def test_an_address_where_nobody_listens_is_refused_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(UsageError, match=rf"^--ray-address {address}: no cluster answers there \("):
            make_executor("ray", address=address)


def test_a_port_that_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^--ray-address 127\.0\.0\.1:99999: no cluster answers there"):
        make_executor("ray", address="127.0.0.1:99999")
