"""`python -m shadowprobe` is the command."""

from __future__ import annotations

import subprocess
import sys

import shadowprobe


def test_the_package_can_be_run_as_the_command() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "shadowprobe", "--version"], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert shadowprobe.__version__ in ended.stdout
