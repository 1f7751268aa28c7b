"""The datasets that come with shadowprobe."""
