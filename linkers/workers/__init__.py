"""Worker scripts: each runs in the environment of its system and exchanges JSON lines."""
