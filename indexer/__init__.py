"""The page's way: from a wiki export to the index. ``python -m indexer``."""
