"""Answers without a language model: quotations."""
