"""Exports and the API as sources of pages."""
