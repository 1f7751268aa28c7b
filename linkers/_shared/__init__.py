"""What several linkers share."""
