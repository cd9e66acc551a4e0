"""The doctor's questions to a Qdrant server: its version, and what its nodes say of themselves."""

from __future__ import annotations

from collections.abc import Iterator

from askwiki.doctor.llm import Line
from askwiki.settings import StoreSettings


def probe_qdrant(settings: StoreSettings) -> Iterator[Line]:
    """No line where the server cannot be asked: the line of the store says so already."""
    from askwiki.errors import StoreError
    from askwiki.store.qdrant.server import open_server
    from askwiki.store.qdrant.versions import client_version

    try:
        server = open_server(settings)
        version = server.version()
        server.close()
    except StoreError:
        return
    yield of_version(version, client_version())


def of_version(server: str, client: str) -> Line:
    """What to say of a server beside this client."""
    from askwiki.store.qdrant.versions import TESTED, fits

    said = f"Server {server}, client {client}"
    if not fits(server, client):
        mend = (
            f"Run the server {TESTED}, which askwiki was tested with. Go up one minor version after another; a server "
            "is never moved back to an older version: sync into a fresh one."
        )
        return "qdrant", "warning", f"{said}: this client is made for servers at most one minor version away.", mend
    return "qdrant", "ok", f"{said}{'' if server == TESTED else f'; tested with {TESTED}'}.", ""
