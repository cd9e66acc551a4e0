"""What works, what does not, and how to mend it."""
