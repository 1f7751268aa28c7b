"""The web pages that a build asks for."""
