"""The report: one HTML file that opens from disk and asks nobody for anything."""
