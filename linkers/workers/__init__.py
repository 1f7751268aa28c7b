"""Worker scripts: each runs in the environment of its own system and speaks JSON lines."""
