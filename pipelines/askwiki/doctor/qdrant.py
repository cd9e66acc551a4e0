"""The doctor's questions to a Qdrant server: its version, and in a cluster which nodes and copies are there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from askwiki.doctor.llm import Line
from askwiki.errors import StoreError
from askwiki.settings import StoreSettings

if TYPE_CHECKING:
    from askwiki.store.qdrant.shards import Nodes

PART = "qdrant nodes"


def probe_qdrant(settings: StoreSettings) -> Iterator[Line]:
    """No line where no server can be asked: the line of the store says so already."""
    from askwiki.store.qdrant.server import open_server
    from askwiki.store.qdrant.shards import look
    from askwiki.store.qdrant.versions import client_version

    try:
        server = open_server(settings)
        nodes = look(server, server.aliased(settings.collection))
        server.close()
    except StoreError:
        return
    versions = sorted(set(nodes.versions.values()))
    yield from (of_version(version, client_version()) for version in versions)
    if len(versions) > 1:
        said = ", ".join(f"{address} {version}" for address, version in nodes.versions.items())
        yield PART, "warning", f"The nodes run different versions: {said}.", "Bring all to one, one node at a time."
    if nodes.peers > 1 or nodes.gone:
        yield of_nodes(nodes)


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


def of_nodes(nodes: Nodes) -> Line:
    """A shard that nobody can be asked about is a failure, one with too few copies or a node away a warning."""
    wanted = f"{nodes.wanted} {'copy' if nodes.wanted == 1 else 'copies'}"
    gone = f"{', '.join(nodes.gone)}: no answer. " if nodes.gone else ""
    lost = sorted(shard for shard, copies in nodes.copies.items() if not copies)
    few = sorted(shard for shard, copies in nodes.copies.items() if copies < nodes.wanted)
    if lost:
        said = f"{gone}Shards that no node can be asked about: {_listed(lost)} of {len(nodes.copies)}; questions fail."
        return PART, "failure", said, "Start the nodes again, or restore a backup."
    if few:
        behind = f" on {', '.join(nodes.dead)}" if nodes.dead else ""
        filling = f" {nodes.filling} copies are being filled{behind}." if nodes.filling else ""
        said = f"{gone}Shards with fewer than {wanted} to be asked: {_listed(few)} of {len(nodes.copies)}.{filling}"
        mend = "Start the node again, it catches up by itself" if gone else "Make the missing copies"
        mend += "; another node lost meanwhile may take pages along."
        return PART, "warning", said, mend if gone or not nodes.filling else "Wait: questions are answered meanwhile."
    if gone:
        return (
            PART,
            "warning",
            f"{gone}Every shard has its {wanted}.",
            "Start it again, or take it out of the settings.",
        )
    said = f"{nodes.peers} nodes, {len(nodes.copies)} shards in {wanted} each."
    if nodes.wanted == 1:
        return (
            PART,
            "warning",
            f"{said} A lost node takes its pages along.",
            "See docs/operations.md, one node to three.",
        )
    return PART, "ok", said, ""


def _listed(shards: list[int]) -> str:
    return ", ".join(map(str, shards))
