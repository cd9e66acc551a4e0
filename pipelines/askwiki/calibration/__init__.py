"""What the index's confidence is measured by: its own questions, asked with their page and without it."""
