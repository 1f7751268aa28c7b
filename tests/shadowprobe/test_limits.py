"""How long we wait, how much we accept, and where numbers are cut: all limits in one place, changed only on purpose."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest

import shadowprobe

LIMITS: dict[str, dict[str, Any]] = {
    "base.jsonl": {"SMALL": 1_000_000},
    "base.secrets": {"SHORTEST_CODED": 6, "LONGEST_URL": 200},
    "build.longer_names": {"_MOST_WORDS": 2, "_LONGEST_TITLE": 255, "_MOST_QUALIFIERS": 3},
    "build.near_duplicates": {"_RUN": 3, "_SHARED": 7, "_OF": 10},
    "build.pipeline": {"MAX_DRAWS": 60},
    "build.snippets": {"FEWEST_WORDS": 6, "MOST_WORDS": 80, "LONGEST_PARAGRAPH": 20_000, "MOST_FAULTS": 300},
    # MediaWiki keeps page ids in 32 bits.
    "build.tail": {"MAX_EMPTY_REQUESTS": 200, "HIGHEST": 2**32 - 1},
    "build.dumps.sql": {"LONGEST_ROW": 16 * 2**20, "LONGEST_HEAD": 16 * 2**10},
    # A site that asks for two minutes is asked again, one that asks for more is left alone.
    "build.web.crawl": {
        "FIRST_PAUSE": 1.0,
        "LONGEST_PAUSE": 30.0,
        "LONGEST_RETRY_AFTER": 120.0,
        "SILENCE": 3,
        "SILENT_HOSTS": 50,
        "WITNESSES": 3,
    },
    # RFC 9309 asks a crawler to read at least 500 KiB of robots.txt.
    "build.web.politeness": {"ROBOTS_BYTES": 500 * 1024},
    # MediaWiki takes 50 pages in one request.
    "build.wiki.wiki_api": {"BATCH": 50, "MOST_PARTS": 1_000_000, "MOST_EMPTY": 500},
    "build.wiki.session": {"PAUSES": (2.0, 4.0, 8.0, 16.0), "PATIENCE": 600.0, "FIRST": 20.0, "TIMEOUT": 60.0},
    "catalogue.download": {"TRIES": 3},
    "cli.build": {"MOST_AT_ONCE": 300, "LONGEST_PAUSE": 3600.0, "LONGEST_PAGE": 86400.0},
    "formats.nif_documents": {"MOST_SAME": 500},
    "formats.nif_process": {"SMALL_BYTES": 32 * 2**10, "MEMORY_BYTES": 2 * 2**30},
    "formats.predictions": {"SHOWN": 20},
    "gerbil.experiment": {"MAX_SILENT_POLLS": 10, "TOLERANCE": 1e-6},
    "gerbil.gerbil_client": {"TIMEOUT": 60.0, "LONG_TIMEOUT": 600.0, "LAST_LOOK": 1.0},
    "gerbil.head_timeout": {"HEAD_TIMEOUT": 10.0, "MOST_WAITING": 100},
    "gerbil.nif_service": {"MAX_BODY": 16 * 2**20, "BODY_TIMEOUT": 30.0, "PARSE_TIMEOUT": 10.0, "REOPEN_PAUSE": 5.0},
    "measure.answers": {"LARGEST_SCORE": 1e100},
    "measure.candidate_scores": {"ROUNDING": 1e-6, "TIE": 1e-9, "LEAST_PROBABILITY": 1e-9, "SUM_ERROR": 0.01},
    "measure.debiasing": {"DEFAULT_WEIGHT": 0.5, "SPLITS": 5, "LEAST_NAMES": 4},
    # The level and the power that are usual in this field.
    "measure.power": {"LEVEL": 0.05, "POWER": 0.8},
    "measure.statistics": {"ROUNDS": 1000, "SEED": 7},
    "net.client": {"CONNECT_SECONDS": 10.0, "KEEP_ALIVE_SECONDS": 5.0, "HEADER_BYTES": 16 * 2**10},
    "net.decompression": {"MOST_MEMBERS": 10_000},
    "net.limits": {"MEGABYTE": 2**20},
    "report.html.data": {"CANDIDATES": 6, "NEUTRAL_CANDIDATES": 2, "DESCRIPTION": 160, "NOTHING": -1},
    "report.import_lines": {"SHOWN": 5},
    "report.tables.other_findings": {"LONGEST_VALUE": 60, "MOST_ROWS": 40},
    "runs.check": {"SAMPLE": 12},
    "runs.retrieving": {"DEPTH": 100, "KS": (1, 20)},
    # The rules of AmbER: the first 350 tokens of an article; a gap of 10%.
    "sets.amber_rules": {"FIRST_TOKENS": 350, "SMALLEST_GAP": 0.1},
    "sets.entity_questions": {"PER_RELATION": 1000, "SEED": 7},
    # Wikimedia publishes page views since July 2015.
    "sets.popularity": {"FIRST_MONTH": (2015, 7), "MOST_DIGITS": 18},
    "sets.wikibase_api": {"AT_ONCE": 50, "MOST_HITS": 500},
    "systems.chat_linker": {"SHOWN": 200, "BEGINNING": 80},
    "systems.hugging_face": {"HUB_TIMEOUT": 10.0},
    "systems.linker": {"HOPELESS": 16},
    # FIRST_PAUSE is 0.5 s; conftest.py makes it shorter.
    "systems.service_client": {"LONGEST_PAUSE": 30.0, "LONGEST_RETRY_AFTER": 300.0, "GONE": 8, "IN_TROUBLE": 4},
    "systems.web_linker": {"MOST_AT_ONCE": 1024, "SLOWEST": 0.001, "AHEAD": 4, "SHOWN": 120},
    "systems.worker_linker": {"GRACE": 5.0, "KEPT_BYTES": 8 * 2**10},
}


@pytest.mark.parametrize("module", LIMITS)
def test_the_limits_of_a_module(module: str) -> None:
    found = vars(importlib.import_module(f"shadowprobe.{module}"))
    assert {name: found[name] for name in LIMITS[module]} == LIMITS[module]


def test_every_module_of_the_table_exists() -> None:
    modules = {found.name for found in pkgutil.walk_packages(shadowprobe.__path__, "shadowprobe.")}
    assert {f"shadowprobe.{module}" for module in LIMITS} <= modules


def test_a_page_of_a_wiki_a_download_and_an_answer_have_their_limits() -> None:
    from shadowprobe.build.settings import BuildSettings
    from shadowprobe.build.web.politeness import Manners
    from shadowprobe.catalogue.download import LIMITS as DOWNLOAD

    assert (DOWNLOAD.max_bytes, DOWNLOAD.seconds, DOWNLOAD.idle_seconds) == (256 * 2**20, 1800.0, 20.0)
    manners = Manners(user_agent="x")
    assert (manners.total, manners.per_host, manners.delay, manners.longest_delay) == (32, 1, 0.5, 30.0)
    assert (manners.timeout, manners.max_bytes, manners.redirects, manners.retries) == (30.0, 4_000_000, 5, 2)
    settings = BuildSettings(wiki="", name="")
    assert (settings.seed, settings.references, settings.snippets, settings.sentences) == (7, 20, 10, 0)
    assert settings.max_bytes == 4_000_000
