"""Ray is optional: what is missing is said in one line. Real clusters are in tests/integration/test_ray.py."""

from __future__ import annotations

import sys

import pytest

from shadowprobe.compute.executor import make_executor
from shadowprobe.errors import UsageError


def test_without_ray_the_install_command_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"^--executor ray: Ray is not installed: pip install 'shadowprobe\[ray\]'$"):
        make_executor("ray")
