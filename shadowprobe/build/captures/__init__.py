"""Pages from an existing crawl, such as Common Crawl, instead of from their hosts."""

from shadowprobe.build.captures.capture_index import check_index
from shadowprobe.build.captures.fill_archive import count_captures, fill_archive

__all__ = ["check_index", "count_captures", "fill_archive"]
