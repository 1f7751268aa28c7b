"""The probes that come with shadowprobe, one file each; the core finds them by entry point."""
