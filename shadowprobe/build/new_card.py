"""The card of a dataset that a build makes: what it is, where it comes from, and with what it was made."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

import shadowprobe
from shadowprobe.base.secrets import mask_url
from shadowprobe.build.gather import LIBRARIES
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.wiki.wiki_api import Wiki
from shadowprobe.dataset.dataset import Card

LICENCE = (
    "Titles and links come from {wiki}; Wikipedia's are under CC BY-SA 4.0. Snippets are short quotations from the web"
    " pages named in `source`, which remain their owners'; the full texts are in the archive of the build."
)


def make_card(wiki: Wiki, language: str, settings: BuildSettings) -> Card:
    """Makes the card without the counts of the dataset."""
    return Card(
        name=settings.name,
        language=language,
        title=f"Names from {wiki.name}, contexts from the web pages that its articles cite",
        source=settings.wiki,
        license=LICENCE.format(wiki=settings.wiki),
        made="shadowprobe build",
        commonness="backlinks",
        build={
            "date": settings.date,
            "settings": _list_public_settings(settings),
            "versions": {
                "shadowprobe": shadowprobe.__version__,
                "python": platform.python_version(),
                "wiki": wiki.generator,
                **{name: version(name) for name in LIBRARIES},
            },
        },
    )


def _list_public_settings(given: BuildSettings) -> dict[str, Any]:
    """Returns the settings for publication, with the names of files and directories instead of their paths."""
    settings = asdict(given)
    del settings["date"]
    for name in ("dumps", "common_crawl", "warc_base"):
        is_url = settings[name].startswith(("http://", "https://"))
        settings[name] = mask_url(settings[name]) if is_url else Path(settings[name]).name
    return settings
