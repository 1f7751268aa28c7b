"""The public dumps of a wiki as a second source of names, links, references and rare articles, without requests."""
