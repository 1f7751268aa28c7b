"""What is measured: answers in columns, scores, statistics, and the base classes of probes."""
