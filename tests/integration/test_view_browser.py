"""`shadowprobe view` and its folder in a real browser."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from browser import ENTER, Browser, chromium
from report_window import CONTRAST, choose, focused
from world import write_world

import shadowprobe
from shadowprobe.cli import main

pytest.importorskip("starlette", reason="the extra [serve] is not installed")
HOSTILE = "<img src=x onerror=alert(1)>"
# Of the visible rows: the system, and the figure of a column by its place.
SYSTEMS = "#board tbody td.system"
open_url = build_opener(ProxyHandler({})).open


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of four systems over the small world, of two over another dataset, and one that is not finished."""
    place = tmp_path_factory.mktemp("view")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        write_world(place / "world")
        for linker in ("prior", "nil", "random", "oracle"):
            shadowprobe.run(linker, "world", out=f"runs/{linker}")
        for linker in ("prior", "bm25"):
            shadowprobe.run(linker, "mini", out=f"runs/{linker}-mini", limit=12)
        Path("named.jsonl").write_bytes(Path("runs/prior/predictions.jsonl").read_bytes())
        shadowprobe.score("named.jsonl", "world", name=HOSTILE, out="runs/named")
        shutil.copytree("runs/prior", "runs/begun")
        Path("runs/begun/results.json").unlink()
    return place


@contextmanager
def viewing(folder: Path) -> Iterator[str]:
    """The address of a server over the runs, which stops by itself at the end of the block."""
    command = [sys.executable, "-m", "shadowprobe", "view", "runs", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/", line)
            assert found is not None, line
            yield found[0]
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(20) in {0, 130, -signal.SIGINT}


@pytest.fixture(scope="module")
def board(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Browser, str]]:
    with chromium(tmp_path_factory.mktemp("browser")) as browser, viewing(folder) as url:
        yield browser, url


@pytest.fixture
def page(board: tuple[Browser, str]) -> Browser:
    browser, url = board
    browser.size(1200, 900)
    browser.scheme("light")
    browser.visit(url)
    browser.wait("document.querySelectorAll('#board tbody td.system').length")
    return browser


def choose_data(page: Browser, name: str) -> None:
    choose(page, "data-name", name)
    page.wait(f"location.hash.includes('data={name}')")


def status(url: str, host: str | None = None) -> int:
    try:
        with open_url(Request(url, headers={"Host": host} if host else {}), timeout=20) as reply:
            return int(reply.status)
    except HTTPError as error:
        return error.code


def test_runs_stand_below_their_dataset_and_a_click_sorts_them(page: Browser) -> None:
    assert page.texts("#board tr.group th") == ["mini, first 12", "world"]
    assert page.texts(SYSTEMS)[2:] == ["prior", HOSTILE, "nil", "oracle", "prior", "random"]
    page.click('[data-sort="consistent"]')
    # The oracle is right in both contexts of every name; what has no figure is at the end.
    world = page.texts(SYSTEMS)[-6:]
    assert (world[0], page.texts("#board tbody tr")[-1][:5]) == ("oracle", "prior")
    assert page.script("return document.querySelector('[aria-sort=descending]').innerText") == "both right ▼"
    page.click('[data-sort="consistent"]')
    assert page.texts(SYSTEMS)[-2] == "oracle"
    assert page.console() == []


def test_the_best_of_each_dataset_is_marked(page: Browser) -> None:
    choose_data(page, "world")
    marked = page.script(
        "return [...document.querySelectorAll('#board tbody tr')].filter((row) => row.querySelector('strong'))"
        ".map((row) => row.querySelector('td.system').textContent)"
    )
    # The oracle is always right; `nil` never names the same entity twice; the prior is right on every Top context.
    assert marked == [HOSTILE, "nil", "oracle", "prior"]


def test_what_is_chosen_is_in_the_address(page: Browser, board: tuple[Browser, str]) -> None:
    choose_data(page, "world")
    page.keys("#system", "ora")
    page.click('[data-sort="top_f1"]')
    assert page.texts(SYSTEMS) == ["oracle"]
    kept = page.script("return location.hash")
    page.visit(board[1] + kept)
    page.wait("document.querySelectorAll('#board tbody td.system').length === 1")
    assert page.texts(SYSTEMS) == ["oracle"]
    assert page.script("return document.getElementById('system').value") == "ora"


def test_means_are_those_of_the_finished_runs(page: Browser) -> None:
    choose(page, "rows", "mean of each system")
    page.wait("location.hash.includes('rows=system')")
    rows = dict(zip(page.texts(SYSTEMS), page.texts("#board tbody tr"), strict=True))
    # The prior is right on every Top and on no Shadow context of both datasets.
    assert re.match(r"prior2 runs0\.0100\.0", rows["prior"].replace("\n", ""))
    assert rows["oracle"].startswith("oracle1 run100.0")


def test_the_table_is_copied_as_it_is_seen(page: Browser) -> None:
    choose_data(page, "world")
    page.click('[data-sort="consistent"]')
    page.click('[data-copy="csv"]')
    page.wait("document.getElementById('copied').textContent")
    rows = list(csv.DictReader(io.StringIO(page.script("return page.copied"))))
    assert [rows[0]["system"], float(rows[0]["Shadow F1"]), rows[0]["verdict"]] == ["oracle", 100, "reads"]
    page.click('[data-copy="markdown"]')
    assert "| oracle | world | 100.0 |" in page.script("return page.copied")
    page.click('[data-copy="latex"]')
    latex = page.script("return page.copied")
    assert "oracle & world & 100.0 &" in latex
    assert latex.startswith("\\begin{tabular}{llrrrrrl}")


def test_a_click_opens_a_report_and_two_that_are_chosen_stand_side_by_side(page: Browser) -> None:
    choose_data(page, "world")
    for system in ("nil", "oracle"):
        page.click(f'[aria-label="choose {system} on world"]')
    assert page.text("#compare") == "Report of the 2 chosen runs"
    page.click("#compare")
    page.wait("document.title.includes('oracle') && document.querySelector('#mentions')")
    assert page.script("return document.title") == "nil, oracle on world"
    page.script("history.back()")
    page.wait("document.querySelectorAll('#board tbody td.system').length")
    page.click("#board td.system a")
    page.wait("document.querySelector('#mentions')")


def test_runs_over_different_data_do_not_stand_side_by_side(page: Browser) -> None:
    page.click('[aria-label="choose prior on world"]')
    page.click('[aria-label="choose prior on mini"]')
    assert page.script("return document.getElementById('compare').disabled")
    page.script("chosen.clear(); show()")


def test_a_hostile_name_is_text(page: Browser) -> None:
    assert HOSTILE in page.texts(SYSTEMS)
    assert page.script("return document.querySelectorAll('#board img').length") == 0


def test_it_can_be_used_by_keyboard(page: Browser) -> None:
    page.script("document.querySelector('[data-sort=top_f1]').focus()")
    page.press(ENTER)
    assert page.script("return document.querySelector('[aria-sort=descending]').innerText") == "Top F1 ▼"
    # The focus stays where it was, though the table is drawn anew.
    assert focused(page).startswith("Top F1")


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 400])
def test_it_can_be_read_on_a_desktop_and_a_phone_by_day_and_night(page: Browser, width: int, colours: str) -> None:
    page.size(width, 900)
    page.scheme(colours)
    ratio, words = page.script(CONTRAST)
    assert ratio >= 4.5, words
    # A wide table scrolls by itself, and not the page.
    assert page.script("return document.documentElement.scrollWidth") <= width


SLOW = """
import time
from shadowprobe import Linker

class Slow(Linker):
    name = "slow"
    batch_size = 1

    def link(self, snippets):
        time.sleep(0.3)
        return [self.nil(snippet) for snippet in snippets]
"""


def test_a_run_is_followed_and_a_killed_one_is_unfinished(page: Browser, folder: Path) -> None:
    (folder / "slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "shadowprobe", "run", "--linker", "slow.py:Slow", "-d", "world", "--out", "runs/z"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    row = "[...document.querySelectorAll('#board tbody tr')].find((row) => row.textContent.startsWith('slow'))"
    try:
        page.wait(f"{row}?.querySelector('progress')?.value > 0")
        assert "running" in page.script(f"return {row}.textContent")
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    page.wait(f"{row}.textContent.includes('unfinished')")
    shutil.rmtree(folder / "runs/z")
    page.wait(f"{row} === undefined")


def test_nothing_outside_the_folder_and_no_other_name_of_the_machine_is_served(
    board: tuple[Browser, str], folder: Path
) -> None:
    _, url = board
    (folder / "secret").mkdir(exist_ok=True)
    shutil.copytree(folder / "runs/prior", folder / "secret/run", dirs_exist_ok=True)
    assert status(url) == 200
    assert status(url, host="evil.example") == 400
    for run in ("", "?run=secret/run", "?run=runs/../secret/run", "?run=/etc"):
        assert status(f"{url}report{run}") == 404, run
    assert status(f"{url}world/top.jsonl") == 404
    assert status(url + "report?run=runs/prior&run=runs/prior-mini") == 409


def test_two_hundred_runs_are_seen_sorted_and_filtered(
    tmp_path: Path, folder: Path, board: tuple[Browser, str]
) -> None:
    for number in range(200):
        shutil.copytree(folder / "runs/bm25-mini", tmp_path / f"runs/{number:03d}")
        card = tmp_path / f"runs/{number:03d}/results.json"
        card.write_text(card.read_text().replace('"name": "bm25"', f'"name": "system {number}"', 1))
    browser, _ = board
    with viewing(tmp_path) as url:
        browser.visit(url)
        browser.wait("document.querySelectorAll('#board tbody td.system').length === 200")
        browser.click("[data-sort=system]")
        assert browser.texts(SYSTEMS)[:2] == ["system 0", "system 1"]
        browser.keys("#system", "system 19")
        # 19 and 190 to 199.
        browser.wait("document.querySelectorAll('#board tbody td.system').length === 11")


def test_the_folder_is_the_same_page_without_a_server(folder: Path, tmp_path: Path) -> None:
    runs = ["runs/prior", "runs/oracle", "runs/prior-mini", "runs/begun"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with pytest.raises(SystemExit) as end:
            main(["report", *runs, "--out", str(tmp_path / "site")])
    assert not end.value.code
    assert sorted(path.name for path in (tmp_path / "site/reports").iterdir()) == [
        *("1.html", "2.html", "3.html", "all-1.html"),
    ]
    with chromium(tmp_path) as browser:
        browser.open(tmp_path / "site/index.html")
        assert browser.texts("#board tr.group th") == ["mini, first 12", "world side by side"]
        assert browser.texts(SYSTEMS) == ["prior", "prior", "oracle"]
        browser.click("#board tr.group a")
        browser.wait("document.title === 'prior, oracle on world'")
        assert browser.console() == []


def test_a_folder_that_is_there_is_not_written_over(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for more, code in (([], 0), ([], 2), (["--force"], 0)):
            with pytest.raises(SystemExit) as end:
                main(["report", "runs/prior", "runs/prior-mini", "--out", str(tmp_path / "site"), *more])
            assert (end.value.code or 0) == code
    assert "index.html exists; give another --out" in capsys.readouterr().err


def test_it_needs_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["view"])
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("shadowprobe: runs: no such directory")


def test_the_data_of_the_page_is_json_that_ends_no_script(folder: Path) -> None:
    from shadowprobe.reporting.board.page import compose_board
    from shadowprobe.running.listing import list_runs

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        text = compose_board(list_runs(Path("runs")), "</script>")
    assert text.count("</script>") == 2
    data = re.search(r'id="data">(.*?)</script>', text, re.S)
    assert data is not None
    assert any(run["system"] == HOSTILE for run in json.loads(data[1])["runs"])
