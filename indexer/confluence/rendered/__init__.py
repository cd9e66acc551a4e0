"""Confluence's own rendering, read back."""
