"""The version."""

__version__ = "1.1.1dev0"
