"""askwiki: ask a corporate wiki and get a grounded answer with links."""
