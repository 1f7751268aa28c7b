"""A report in a window: what a person does there, and whether it can be read."""

from __future__ import annotations

from browser import Browser

# The least contrast of all text that is seen, by the formula of WCAG 2, and the text that has it.
CONTRAST = """
  const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const numbers = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  function behind(element) {
    for (let one = element; one; one = one.parentElement) {
      const colour = numbers(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  }
  let least = [99, ""];
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.disabled) continue;
    const pair = [numbers(getComputedStyle(element).color), behind(element)].map(light).sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < least[0]) least = [ratio, `${element.tagName} ${element.className} ${element.textContent}`];
  }
  return least;
"""


def choose(browser: Browser, field: str, words: str) -> None:
    """Chooses from a list by the words that are seen."""
    options = browser.texts(f"#{field} option")
    browser.click(f"#{field} option:nth-child({options.index(words) + 1})")


def focused(browser: Browser) -> str:
    """What has the focus: its identifier, or its first line."""
    code = "const one = document.activeElement; return one.id || one.innerText.split('\\n')[0]"
    return str(browser.script(code))
