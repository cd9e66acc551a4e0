"""The embedded store: the engine in this process, a folder on disk."""
