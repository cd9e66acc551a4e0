"""Calls of parts that may be slow or down: one fair pool, breakers, tries again."""
