"""Texts of the files of a page: documents of their own below it, with its readers."""
