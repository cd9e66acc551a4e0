"""Which Qdrant server askwiki was tested with, and whether another one fits the client that is installed."""

from __future__ import annotations

import importlib.metadata

from qdrant_client.common.version_check import is_compatible

TESTED = "1.18.3"  # by `make test-server`; what docker-compose.yml pins, and within the range of the locked client


def client_version() -> str:
    return importlib.metadata.version("qdrant-client")


def fits(server: str, client: str) -> bool:
    """The client's own rule: the same major version, minor versions at most one apart."""
    return is_compatible(client, server)
