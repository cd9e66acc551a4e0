"""The index brought to what a source holds."""
