"""Questions put to the flow, and what came of each."""
