"""A stand-in for Bootleg."""
