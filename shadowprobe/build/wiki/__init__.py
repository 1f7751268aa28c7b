"""The MediaWiki that a build asks."""
