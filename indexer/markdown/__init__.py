"""A folder of Markdown as a source."""
