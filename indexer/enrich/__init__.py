"""What models add to a page: cuts, contexts, diagrams out of pictures."""
