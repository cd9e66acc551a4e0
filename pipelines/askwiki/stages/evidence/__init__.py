"""What a passage says beside what a sentence says: facts, statements, places, denials, likeness."""
