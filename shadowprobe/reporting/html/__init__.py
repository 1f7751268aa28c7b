"""The report: one HTML file that opens from disk and sends no request."""
