"""The XML space export: its objects, its rights, whether it is whole."""
