"""A stand-in for ReFinED."""
