"""Pages from an existing crawl, such as Common Crawl, instead of from their hosts."""
