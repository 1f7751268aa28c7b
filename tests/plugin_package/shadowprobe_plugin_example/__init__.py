"""A linker and a probe in a package of their own."""
