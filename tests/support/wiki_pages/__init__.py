"""A small world of our own writing: a wiki's pages, and the web pages that its references name."""

from __future__ import annotations

from wiki_pages.fixture import Article, Expected, Fixture, build_fixture
from wiki_pages.web import Served

__all__ = ["Article", "Expected", "Fixture", "Served", "build_fixture"]
