"""HTTP: requests with limits on bytes, time, redirects and addresses."""
