"""The guarded server, and the encoder service."""
