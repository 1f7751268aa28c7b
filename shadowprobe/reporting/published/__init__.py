"""The figures that the papers print."""
