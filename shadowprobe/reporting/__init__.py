"""How findings are shown; nothing here computes a number."""
