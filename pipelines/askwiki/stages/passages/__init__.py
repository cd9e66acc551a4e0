"""Candidates to numbered passages within a budget."""
