"""Measuring answers: questions, runs, judge, human review, report."""
