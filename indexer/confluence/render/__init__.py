"""Trees into Markdown: elements, lists, links, tables."""
