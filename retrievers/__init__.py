"""Retrievers, one file a system."""
