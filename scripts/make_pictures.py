"""Makes the pictures of the README and the documentation from real runs: `python scripts/make_pictures.py`.

The runs are those of the README. It takes one or two minutes, and needs Chromium for the two web pages.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
LINKERS, DATASETS = ("prior", "bm25", "tfidf", "blend"), ("mini", "places")
# Columns of the terminal; and how a web page is seen, in pixels.
COLUMNS = 80
WINDOWS = {"report": (1000, 760), "leaderboard": (1120, 860)}
# Bytes: a page with all of them stays small.
LARGEST = 120_000
SHADES = 128


def main() -> None:
    """Runs the systems in a folder of its own, and writes each picture."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (PICTURES / "terminal.svg").write_text(draw_terminal(run(folder, "run"), "shadowprobe run"), encoding="utf-8")
        for linker in LINKERS:
            for dataset in DATASETS:
                run(folder, "run", "--linker", linker, "--dataset", dataset)
        runs = [f"runs/{linker}-{dataset}" for dataset in DATASETS for linker in LINKERS]
        of_mini = runs[: len(LINKERS)]
        run(folder, "plot", "overshadowing", *of_mini, "--width", "two", "--out", "figure.png")
        write_picture("overshadowing", folder / "figure.png")
        run(folder, "report", *of_mini, "--out", "report.html")
        run(folder, "report", *runs, "--out", "board/")
        for picture, page in (("report", "report.html"), ("leaderboard", "board/index.html")):
            photograph(folder / page, folder / f"{picture}.png", WINDOWS[picture])
            write_picture(picture, folder / f"{picture}.png")
    for path in sorted(PICTURES.iterdir()):
        size = path.stat().st_size
        print(f"{path.name}: {size:,} bytes")
        if size > LARGEST:
            sys.exit(f"{path.name} is larger than {LARGEST:,} bytes")


def run(folder: Path, *arguments: str) -> str:
    """Runs a command of shadowprobe as in a terminal with colours, and returns what it prints."""
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "shadowprobe", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def draw_terminal(printed: str, command: str) -> str:
    """The screen of a terminal as SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {command}"))
    console.print(Text.from_ansi(printed))
    drawn = console.export_svg(title="shadowprobe", theme=MONOKAI, unique_id="terminal")
    # Its font would be requested from a server; every reader has a monospaced one.
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S).replace("Fira Code, monospace", "monospace")


def photograph(page: Path, picture: Path, window: tuple[int, int]) -> None:
    """Opens a page in Chromium and stores what it shows."""
    chromium = shutil.which("chromium") or sys.exit("chromium is not installed: scripts/chromium.sh installs it")
    size = ",".join(map(str, window))
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=8000", f"--window-size={size}"]
    command = [chromium, *options, f"--screenshot={picture}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def write_picture(name: str, source: Path) -> None:
    """Stores a picture with few colours, which makes it small."""
    with Image.open(source) as picture:
        small = picture.convert("RGB")
    small.thumbnail((1400, 1400))
    small.quantize(SHADES).save(PICTURES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
