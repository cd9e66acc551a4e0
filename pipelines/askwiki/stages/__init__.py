"""The stages of the question's way, one function a step."""
