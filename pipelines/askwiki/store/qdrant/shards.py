"""Which node of a cluster holds which shard of a collection, and in what state."""

from __future__ import annotations

from qdrant_client import models

from askwiki.errors import StoreError
from askwiki.store.qdrant.client import addresses
from askwiki.store.qdrant.server import WIRE, QdrantServer


def holders(server: QdrantServer, collection: str) -> dict[int, str]:
    """Shard -> an address of ours whose node has an active copy; StoreError when one has none."""
    found, known = dict[int, str](), set[int]()
    for client, address in zip(server.clients, addresses(server.settings), strict=False):
        try:
            seen = client.collection_cluster_info(collection)
        except WIRE:  # another node may hold the same
            continue
        known |= {shard.shard_id for shard in seen.local_shards}
        known |= {shard.shard_id for shard in seen.remote_shards}
        for shard in seen.local_shards:
            if shard.state == models.ReplicaState.ACTIVE:
                found.setdefault(shard.shard_id, address)
    if not known:
        raise StoreError(f"The Qdrant server at {server.settings.qdrant_url} does not say where its shards are.")
    if lacking := sorted(known - found.keys()):
        raise StoreError(
            f"Shard {lacking[0]} is on none of the nodes in store.qdrant_url that answer; name all nodes there, "
            "comma-separated, and bring them back first."
        )
    return found
