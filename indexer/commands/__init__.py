"""The commands of ``python -m indexer``, one file each."""
