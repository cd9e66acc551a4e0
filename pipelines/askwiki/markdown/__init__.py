"""The one reader of Markdown: blocks and plain text."""
