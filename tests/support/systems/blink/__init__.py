"""A stand-in for BLINK."""
