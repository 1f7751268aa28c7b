"""GERBIL by its experiment API: gold goes up, totals come back."""
