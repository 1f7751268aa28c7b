"""A real MediaWiki on loopback that holds the pages of the fixture, and the web that they refer to."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

import pytest
from web_pages import Web, web
from wiki_pages import Article, Fixture, build_fixture
from wiki_pages.serving import web_pages

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "mediawiki.sh"
TREE = Path(os.environ.get("MEDIAWIKI_TREE") or "/usr/share/mediawiki")
STARTING = 60.0
HOSTS = 8
# MediaWiki knows more namespaces; these are those of the fixture.
NAMESPACES = {"": 0, "Project": 4, "Template": 10}


def missing() -> str:
    """Why there can be no wiki here; empty where there can."""
    if os.environ.get("SHADOWPROBE_TEST_MEDIAWIKI") == "0":
        return "SHADOWPROBE_TEST_MEDIAWIKI=0 leaves MediaWiki out"
    if shutil.which("php") is None or not (TREE / "maintenance" / "install.php").exists():
        return f"MediaWiki is not installed: no php, or nothing in {TREE}; scripts/mediawiki.sh installs it"
    return ""


def free_port() -> int:
    """A port of loopback that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class WikiWorld:
    """A wiki in a directory: made, filled, and served for as long as a block runs."""

    def __init__(self, directory: Path, port: int) -> None:
        self.directory, self.host = directory, f"127.0.0.1:{port}"
        self.url = f"http://{self.host}"
        self._environment = {**os.environ, "MW_CONFIG_FILE": str(directory / "LocalSettings.php")}

    @property
    def database(self) -> Path:
        """The file that holds the wiki."""
        return self.directory / "data" / "wiki.sqlite"

    def make(self, articles: list[Article]) -> None:
        """Installs the wiki and brings the articles in, with the dates of their revisions."""
        self._run(["bash", str(SCRIPT), str(self.directory), self.url])
        dump = self.directory / "pages.xml"
        dump.write_text(export(articles), encoding="utf-8")
        self.maintain("importDump", "--no-updates", str(dump))
        # What is counted from the pages: links to those that came later, the size of categories, the number of pages.
        self.maintain("refreshLinks")
        self.maintain("recountCategories", "--mode", "pages")
        self.maintain("initSiteStats", "--update")
        self.maintain("runJobs")

    def maintain(self, script: str, *arguments: str) -> str:
        """What one of MediaWiki's own scripts prints."""
        return self._run(["php", str(TREE / "maintenance" / f"{script}.php"), *arguments])

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The URL of the wiki, which answers while the block runs."""
        log = self.directory / "server.log"
        command = ["php", "-S", self.host, "-t", str(TREE)]
        with log.open("ab") as written:
            # PHP's server starts workers of its own, and a group can be ended as one.
            server = subprocess.Popen(
                command,
                env={**self._environment, "PHP_CLI_SERVER_WORKERS": "2"},
                stdout=written,
                stderr=written,
                start_new_session=True,
            )
        try:
            self._wait(server, log)
            yield self.url
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait()

    def _wait(self, server: subprocess.Popen[bytes], log: Path) -> None:
        last = time.monotonic() + STARTING
        host, port = self.host.split(":")
        while time.monotonic() < last and server.poll() is None:
            try:
                socket.create_connection((host, int(port)), timeout=1.0).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError(f"MediaWiki did not start: {log.read_text(errors='replace')[-2000:]}")

    def requests(self) -> int:
        """How many requests the server has answered so far."""
        log = (self.directory / "server.log").read_text(errors="replace")
        return sum(" [200]: " in line or " [404]: " in line for line in log.splitlines())


class Shadowland(NamedTuple):
    """The wiki of the fixture and the web around it."""

    url: str
    world: WikiWorld
    web: Web
    fixture: Fixture


@contextmanager
def shadowland(directory: Path) -> Iterator[Shadowland]:
    """The wiki of the fixture and the pages that it refers to, while the block runs; skips where it cannot be."""
    if why := missing():
        pytest.skip(why)
    world = WikiWorld(directory, free_port())
    with web({}, hosts=HOSTS) as served:
        # The pages name their port, which is known only now.
        fixture = build_fixture([f"{host}:{served.port}" for host in served.hosts], world.host)
        served.pages.update(web_pages(fixture))
        world.make(fixture.articles)
        with world.serving() as url:
            yield Shadowland(url, world, served, fixture)


def export(articles: list[Article]) -> str:
    """The articles in the format of MediaWiki's exports."""
    pages = "".join(_page(article) for article in articles)
    schema = "http://www.mediawiki.org/xml/export-0.11/"
    return f'<mediawiki xmlns="{schema}" version="0.11" xml:lang="en">\n{pages}</mediawiki>\n'


def _page(article: Article) -> str:
    namespace = NAMESPACES.get(article.title.partition(":")[0], 0) if ":" in article.title else 0
    target = (
        article.text.removeprefix("#REDIRECT [[").removesuffix("]]") if article.text.startswith("#REDIRECT") else ""
    )
    redirect = f"<redirect title={quoteattr(target)}/>" if target else ""
    revisions = "".join(
        f"<revision><timestamp>{moment}</timestamp><contributor><username>Scribe</username></contributor>"
        "<model>wikitext</model><format>text/x-wiki</format>"
        # An edit that changes nothing would not be kept, so that all but the last lack the last full stop.
        f"<text xml:space='preserve'>{escape(_at(article, number))}</text></revision>"
        for number, moment in enumerate(article.dates, start=1)
    )
    return f"<page><title>{escape(article.title)}</title><ns>{namespace}</ns>{redirect}{revisions}</page>\n"


def _at(article: Article, number: int) -> str:
    """The text after so many revisions."""
    return article.text if number == len(article.dates) else f"{article.text}\n<!-- draft {number} -->"
