"""The nouns, and small tools that every other package uses."""
