"""The human study of the paper (section 3): which entity people choose from the context."""
