"""The layout of the code keeps to the page on the architecture."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "measure_structure.py"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """The figures of this very tree."""
    done = subprocess.run([sys.executable, str(SCRIPT), "--json"], capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_figure_is_within_its_limit(script: dict[str, Any], measured: dict[str, Any]) -> None:
    assert measured.keys() == script["LIMITS"].keys()
    exceeded = {
        name: (figure["value"], figure["parts"])
        for name, figure in measured.items()
        if figure["value"] > script["LIMITS"][name]
    }
    assert exceeded == {}


def test_the_figures_are_of_real_runs(measured: dict[str, Any]) -> None:
    assert "shadowprobe.linkers.blend" in measured["modules executed by `run --linker blend`"]["parts"]
    assert "shadowprobe.reporting.html.page" in measured["modules imported by `report`"]["parts"]
    assert "shadowprobe.retrievers.tfidf" in measured["modules imported by `retrieve`"]["parts"]
    opened = measured["most often that one dataset file is opened in it"]
    assert {part.partition(":")[0] for part in opened["parts"]} >= {"top.jsonl", "shadow.jsonl", "neutral.jsonl"}


def test_an_import_inside_a_function_counts(script: dict[str, Any], tmp_path: Path) -> None:
    module = tmp_path / "late.py"
    module.write_text("def f():\n    from shadowprobe.cli import common\n    import shadowprobe.running.job\n")
    known = dict.fromkeys(("shadowprobe.cli.common", "shadowprobe.running.job", "shadowprobe.base.late"), module)
    found = script["read_imports"]("shadowprobe.base.late", module, known)
    assert found == {"shadowprobe.cli.common", "shadowprobe.running.job"}


def test_a_relative_import_counts(script: dict[str, Any], tmp_path: Path) -> None:
    module = tmp_path / "near.py"
    module.write_text("from ..reporting import screen\nfrom .spans import Span\n")
    known = dict.fromkeys(("shadowprobe.reporting.screen", "shadowprobe.base.spans", "shadowprobe.base.near"), module)
    found = script["read_imports"]("shadowprobe.base.near", module, known)
    assert found == {"shadowprobe.reporting.screen", "shadowprobe.base.spans"}


@pytest.mark.parametrize(
    ("importer", "imported", "is_allowed"),
    [
        ("running", "measure", True),
        ("measure", "running", False),
        ("reporting", "running", True),
        ("running", "reporting", False),
        ("reporting", "build", True),
        ("probes", "measure", True),
        ("linkers", "running", False),
        ("running", "linkers", False),
        ("cli", "probes", False),
    ],
)
def test_the_import_rule(script: dict[str, Any], importer: str, imported: str, is_allowed: bool) -> None:
    assert script["is_allowed"](importer, imported) is is_allowed


def test_packages_that_import_each_other_are_a_cycle(script: dict[str, Any]) -> None:
    imports = {"shadowprobe.net.client": {"shadowprobe.base.model"}, "shadowprobe.base.model": {"shadowprobe.errors"}}
    assert script["find_cycles"](imports) == []
    imports["shadowprobe.base.model"] = {"shadowprobe.net.client"}
    assert script["find_cycles"](imports) == ["base", "net"]
