"""One engine for all runs: a job, its tasks, its directory, its results, and what is made of finished runs."""
