"""The annotator."""
