"""The hostile set: what a page, a model under a page's spell, a chat or a caller may try."""
