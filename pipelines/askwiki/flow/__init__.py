"""The question's way: the order of the stages. Knows nothing of Open WebUI."""
