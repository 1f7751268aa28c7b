"""Readers, one file a system."""
