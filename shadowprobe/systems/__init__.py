"""The base classes of the systems under test: linkers, web services, workers, retrievers, readers."""
