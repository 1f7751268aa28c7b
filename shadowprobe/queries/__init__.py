"""Collections of documents and sets of queries, for retrievers and language models."""
