"""The live wiki over its API, or a folder of what it answered."""
