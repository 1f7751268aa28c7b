"""What the tests of the annotation forms do in a browser again and again."""

from __future__ import annotations

import time
from pathlib import Path

from browser import PATIENCE, Browser

from shadowprobe.human_study.form import FORM

WIDEST = "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"
# The contrast of the text with its ground by the WCAG formula.
CONTRAST = """
const shades = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map((value) => value / 255)
  .map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const weights = [0.2126, 0.7152, 0.0722];
const light = (colour) => shades(colour).reduce((sum, value, place) => sum + value * weights[place], 0);
const ground = (node) => {
  const own = getComputedStyle(node).backgroundColor;
  return own === "rgba(0, 0, 0, 0)" && node.parentElement ? ground(node.parentElement) : own;
};
const node = document.querySelector(arguments[0]);
const both = [light(getComputedStyle(node).color), light(ground(node))].sort((one, other) => other - one);
return (both[0] + 0.05) / (both[1] + 0.05);
"""


def begin(browser: Browser, study: Path, annotator: str) -> None:
    """Opens the form and gives a name."""
    browser.open(study / FORM)
    browser.keys("#annotator", annotator)
    browser.click("#begin button")


def downloaded(browser: Browser, name: str) -> Path:
    """A file that the browser saves, once it is whole."""
    end = time.monotonic() + PATIENCE
    while not (browser.downloads / name).exists() or list(browser.downloads.glob("*.crdownload")):
        assert time.monotonic() < end, f"{name} was never saved"
        time.sleep(0.05)
    return browser.downloads / name
