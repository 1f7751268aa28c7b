"""A page over many runs: a leaderboard that is served live, or written as a folder."""
