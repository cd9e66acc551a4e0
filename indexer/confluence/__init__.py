"""All that knows Confluence: its exports, its API, its macros and tables."""
