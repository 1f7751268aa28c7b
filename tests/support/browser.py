"""A real Chromium without a window, driven over WebDriver; nothing that it asks of the network gets through.

with chromium(tmp_path) as browser:
    browser.open(tmp_path / "report.html")
    browser.click("#next")
    assert browser.text("h1") == "Avon"
    assert (browser.console(), browser.requests()) == ([], [])
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import pytest

# What WebDriver calls a reference to an element, and the keys that no character stands for.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ENTER, ESCAPE, TAB, BACKSPACE = "\ue007", "\ue00c", "\ue004", "\ue003"
UP, DOWN, LEFT, RIGHT = "\ue013", "\ue015", "\ue012", "\ue014"
SHIFT, CONTROL = "\ue008", "\ue009"
PATIENCE = 20.0
SENT = "Network.requestWillBeSent"
STARTED = "started successfully on port "
ARGUMENTS = (
    "--headless=new",
    # Chromium refuses to run as root with one.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
    # Nothing but this machine itself can be reached.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def missing() -> str:
    """Why there can be no browser here; empty where there can."""
    if os.environ.get("SHADOWPROBE_TEST_CHROMIUM") == "0":
        return "SHADOWPROBE_TEST_CHROMIUM=0 leaves the browser out"
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        return "chromium or chromedriver is not installed; scripts/chromium.sh installs them"
    return ""


@contextmanager
def chromium(directory: Path) -> Iterator[Browser]:
    """A browser whose profile and downloads lie in a directory; skips the test where none is installed."""
    if reason := missing():
        pytest.skip(reason)
    command = [shutil.which("chromedriver") or "", "--port=0"]
    with (
        (directory / "chromedriver.log").open("w+", encoding="utf-8") as log,
        subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT) as driver,
    ):
        try:
            browser = Browser(f"http://127.0.0.1:{_port(Path(log.name))}", directory)
            try:
                yield browser
            finally:
                browser.close()
        finally:
            driver.terminate()


def _port(log: Path) -> int:
    """The port that the driver has taken, as it says when it is ready."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        _, found, rest = log.read_text(encoding="utf-8").partition(STARTED)
        if found and "\n" in rest:
            return int(rest.splitlines()[0].rstrip("."))
        time.sleep(0.05)
    raise AssertionError(f"chromedriver did not start: {log.read_text(encoding='utf-8')}")


class Browser:
    """One window; elements are named by CSS selectors, and the first that fits is meant."""

    def __init__(self, driver: str, directory: Path) -> None:
        self.downloads = directory / "downloads"
        self.downloads.mkdir(exist_ok=True)
        self._opener = build_opener(ProxyHandler({}))
        self._session = driver
        self._opened: set[str] = set()
        options = {
            "binary": shutil.which("chromium"),
            "args": [*ARGUMENTS, f"--user-data-dir={directory / 'profile'}"],
            "prefs": {"download.default_directory": str(self.downloads), "download.prompt_for_download": False},
        }
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self._session = f"{driver}/session/{made['sessionId']}"
        self.size(1200, 900)

    def close(self) -> None:
        """Ends the browser."""
        with suppress(OSError):
            self._ask("DELETE", "")

    def open(self, page: Path, fragment: str = "") -> None:
        """Opens a file as a person does who clicks on it; always anew, even where only the fragment differs."""
        self._ask("POST", "/url", {"url": "about:blank"})
        self._opened.add(page.resolve().as_uri())
        self._ask("POST", "/url", {"url": page.resolve().as_uri() + fragment})
        # A page that is still opening its data says so.
        self.wait("!document.querySelector('[aria-busy=true]')")

    def visit(self, url: str) -> None:
        """Opens a page of a server on this machine."""
        assert url.startswith("http://127.0.0.1:")
        self._ask("POST", "/url", {"url": "about:blank"})
        self._ask("POST", "/url", {"url": url})

    def script(self, code: str, *arguments: Any) -> Any:
        """What a piece of JavaScript returns: `return document.title`."""
        return self._ask("POST", "/execute/sync", {"script": code, "args": list(arguments)})

    def wait(self, condition: str) -> None:
        """Waits until a JavaScript expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.script(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"never true in the page: {condition}"
            time.sleep(0.02)

    def find(self, css: str) -> dict[str, str]:
        """The element, as `script` takes it for an argument."""
        found: dict[str, str] = self._ask("POST", "/element", {"using": "css selector", "value": css})
        return found

    def click(self, css: str) -> None:
        """Clicks on an element that can be seen."""
        self._ask("POST", f"/element/{self.find(css)[ELEMENT]}/click", {})
        # A link within the page is followed only after the click: its event waits behind this one.
        self.script("return new Promise((done) => setTimeout(() => setTimeout(done, 20), 0))")

    def keys(self, css: str, text: str) -> None:
        """Types into an element."""
        self._ask("POST", f"/element/{self.find(css)[ELEMENT]}/value", {"text": text})

    def press(self, *keys: str, held: str = "") -> None:
        """Presses keys one after the other, wherever the focus is; those of `held` are down all the time."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        downs, ups = ([{"type": kind, "value": key} for key in held] for kind in ("keyDown", "keyUp"))
        chain = [*downs, *actions, *ups]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": chain}]})

    def point(self, css: str, *moves: tuple[str, int, int], kind: str = "mouse") -> None:
        """Moves a mouse or a finger to places in an element, from its top left corner; `down`, `up` or `move` there."""
        left, top = self.script(
            "const box = arguments[0].getBoundingClientRect(); return [box.left, box.top]", self.find(css)
        )
        actions: list[dict[str, Any]] = []
        for action, across, along in moves:
            actions.append({"type": "pointerMove", "duration": 50, "x": round(left + across), "y": round(top + along)})
            if action != "move":
                actions.append({"type": "pointerDown" if action == "down" else "pointerUp", "button": 0})
        pointer = {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": actions}
        self._ask("POST", "/actions", {"actions": [pointer]})

    def text(self, css: str) -> str:
        """The text of an element as it is seen."""
        return str(self._ask("GET", f"/element/{self.find(css)[ELEMENT]}/text"))

    def texts(self, css: str) -> list[str]:
        """The texts of all elements that fit, whether seen or not."""
        code = "return [...document.querySelectorAll(arguments[0])].map((element) => element.textContent.trim())"
        found: list[str] = self.script(code, css)
        return found

    def console(self) -> list[str]:
        """What the console has shown since it was last asked."""
        entries = self._ask("POST", "/se/log", {"type": "browser"})
        return [f"{entry['level']}: {entry['message']}" for entry in entries]

    def requests(self) -> list[str]:
        """What pages have asked for since this was last asked, be it of the network or of the disk."""
        entries = self._ask("POST", "/se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        asked = [message["params"]["request"]["url"] for message in messages if message["method"] == SENT]
        # The browser's own first page counts as little.
        own = ("data:", "about:", "blob:", "chrome:")
        return [url for url in asked if url not in self._opened and not url.startswith(own)]

    def size(self, width: int, height: int) -> None:
        """Makes the page so many CSS pixels wide and high, as narrow as a telephone if need be."""
        sizes = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._devtools("Emulation.setDeviceMetricsOverride", sizes)

    def scheme(self, colours: str, media: str = "screen") -> None:
        """Asks for `light` or `dark` colours, on the `screen` or in `print`."""
        features = [{"name": "prefers-color-scheme", "value": colours}]
        self._devtools("Emulation.setEmulatedMedia", {"media": media, "features": features})

    def screenshot(self, path: Path) -> None:
        """Writes what is seen as a PNG file."""
        path.write_bytes(base64.b64decode(self._ask("GET", "/screenshot")))

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self._ask("POST", "/print", {"background": True}))

    def _devtools(self, command: str, parameters: dict[str, Any]) -> None:
        self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        content = json.dumps(body).encode() if body is not None else None
        request = Request(self._session + path, content, {"Content-Type": "application/json"}, method=method)
        try:
            with self._opener.open(request, timeout=60) as reply:
                return json.load(reply)["value"]
        except OSError as error:
            # The driver says what is wrong in the body of its refusal.
            said = getattr(error, "read", bytes)()
            if not said:
                raise
            refused = json.loads(said)["value"]
            raise AssertionError(f"{path}: {refused['error']}: {refused['message'].splitlines()[0]}") from None
