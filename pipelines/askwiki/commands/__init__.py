"""The commands of ``python -m askwiki``, one file each."""
