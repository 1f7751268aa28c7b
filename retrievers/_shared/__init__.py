"""What several retrievers share."""
