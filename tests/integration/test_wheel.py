"""The wheel as a user installs it, and not the source tree: the mapped folders and the data are in it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import shadowprobe

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


FILES = ("pyproject.toml", "MANIFEST.in", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE")
FOLDERS = ("shadowprobe", "linkers", "retrievers", "readers", "probes", "data", "docs")


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `python -m build` makes: the source archive, and from it the wheel.

    It builds a copy, so that building leaves nothing in the source tree.
    """
    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    source.mkdir()
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(place / "dist"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return place / "dist"


@pytest.fixture(scope="module")
def wheel(archives: Path) -> Path:
    """The wheel that was built."""
    return next(archives.glob("*.whl"))


def test_the_archives_can_be_published(archives: Path) -> None:
    files = sorted(str(path) for path in archives.iterdir())
    assert len(files) == 2
    command = [sys.executable, "-m", "twine", "check", "--strict", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_source_archive_has_what_a_reader_needs(archives: Path) -> None:
    with tarfile.open(next(archives.glob("*.tar.gz"))) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    assert {"CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "docs/index.md", "data/mini/top.jsonl"} <= names
    assert {f"docs/pictures/{path.name}" for path in (ROOT / "docs" / "pictures").iterdir()} <= names


def test_every_place_has_the_same_version() -> None:
    version = shadowprobe.__version__
    places = {
        "pyproject.toml": f'version = "{version}"',
        "CITATION.cff": f"version: {version}",
        "README.md": f"version   = {{{version}}}",
        "CHANGELOG.md": f"## {version} (",
    }
    for name, line in places.items():
        assert any(each.strip().startswith(line) for each in (ROOT / name).read_text().splitlines()), name
    # The last release is below what is not released yet.
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[:2] == ["Unreleased", version]


def test_the_mapped_folders_and_the_data_are_in_the_wheel(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for needed in (
        "shadowprobe/py.typed",
        "shadowprobe/linkers/tfidf.py",
        "shadowprobe/linkers/workers/protocol.py",
        "shadowprobe/retrievers/bm25.py",
        "shadowprobe/readers/lm.py",
        "shadowprobe/readers/_shared/reading_prompts.py",
        "shadowprobe/probes/overshadowing.py",
        "shadowprobe/data/mini/neutral.jsonl",
        "shadowprobe/data/mini-train/shadow.jsonl",
        "shadowprobe/data/places/dataset.json",
        "shadowprobe/reporting/html/report.html",
        "shadowprobe/reporting/board/board.html",
        f"shadowprobe-{shadowprobe.__version__}.dist-info/licenses/LICENSE",
        f"shadowprobe-{shadowprobe.__version__}.dist-info/licenses/CITATION.cff",
    ):
        assert needed in names
    # Every module of the source tree, so that a new package cannot be forgotten in pyproject.toml.
    mapped = {path.relative_to(ROOT) for folder in FOLDERS[1:5] for path in (ROOT / folder).rglob("*.py")}
    core = {path.relative_to(ROOT) for path in (ROOT / "shadowprobe").rglob("*.py")}
    assert {str(path) for path in core} | {f"shadowprobe/{path}" for path in mapped} <= names
    assert not [name for name in names if name.startswith(("linkers/", "probes/", "data/", "tests/"))]
    assert not [name for name in names if "sources" in name]


def test_the_installed_wheel_runs_the_main_job_from_anywhere(wheel: Path, tmp_path: Path) -> None:
    # An environment of its own sees the dependencies of this one but not its editable shadowprobe.
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    site = next((environment / "lib").glob("python*")) / "site-packages"
    zipfile.ZipFile(wheel).extractall(site)
    # A path in a .pth file is searched, but the .pth files in it, an editable install's among them, are not read.
    libraries = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "libraries.pth").write_text(f"{libraries}\n")
    python = str(environment / "bin" / "python")
    where = subprocess.run(
        [python, "-c", "import shadowprobe; print(shadowprobe.__file__)"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert where.stdout.startswith(str(site))
    done = subprocess.run(
        [python, "-m", "shadowprobe", "run", "--json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["dataset"]["name"] == "mini"


def test_a_python_started_in_the_source_tree_says_why_it_finds_no_linkers(tmp_path: Path) -> None:
    # The core alone, as the source tree shows it to a Python that was not told of the mapped folders.
    shutil.copytree(ROOT / "shadowprobe", tmp_path / "shadowprobe", ignore=shutil.ignore_patterns("__pycache__"))
    script = (
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'ditable' not in repr(f)];"
        "from shadowprobe.plugins import make_linker; make_linker('prior')"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "start it in another folder, or install with pip install -e ." in done.stderr.splitlines()[-1]
