"""Macros of the storage format into Markdown."""
