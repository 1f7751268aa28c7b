"""The human studies of the papers: what people answer to the questions that systems are asked."""
