"""A dataset directory, and what a linker may know of it."""
