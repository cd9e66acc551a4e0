"""Which node of a cluster holds which shard of a collection, in what state, and which nodes are gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from qdrant_client import models

from askwiki.errors import StoreError
from askwiki.store.qdrant.client import addresses
from askwiki.store.qdrant.server import WIRE, QdrantServer

_ACTIVE, _DEAD = models.ReplicaState.ACTIVE, models.ReplicaState.DEAD


@dataclass(frozen=True, slots=True)
class Nodes:
    """What the nodes say that answer. ``copies``: shard -> copies that can be asked; ``wanted``: of each shard."""

    versions: Mapping[str, str]  # address -> version
    gone: tuple[str, ...] = ()  # addresses
    peers: int = 1
    wanted: int = 1
    copies: Mapping[int, int] = field(default_factory=dict)
    filling: int = 0  # copies that are being brought up to date
    dead: tuple[str, ...] = ()  # nodes with copies that missed something, as they are called among themselves


def look(server: QdrantServer, collection: str) -> Nodes:
    """Every address is asked once, without a second try; no collection = only the addresses."""
    versions, seen, uris = dict[str, str](), list[models.CollectionClusterInfo](), dict[str, str]()
    gone = list[str]()
    for client, address in zip(server.clients, addresses(server.settings), strict=True):
        try:
            versions[address] = str(client.info().version)
            status = client.cluster_status()
            if isinstance(status, models.ClusterStatusOneOf1):
                uris = {peer: info.uri for peer, info in status.peers.items()}
            if collection:
                seen.append(client.collection_cluster_info(collection))
        except WIRE:  # the store's own line says what a refusal means
            if address not in versions:
                gone.append(address)
    if not seen:
        return Nodes(versions, tuple(gone), peers=max(len(uris), 1))
    wanted = server.call("get_collection", collection).config.params.replication_factor or 1
    return _counted(Nodes(versions, tuple(gone), max(len(uris), 1), int(wanted)), seen, uris)


def _counted(nodes: Nodes, seen: list[models.CollectionClusterInfo], uris: Mapping[str, str]) -> Nodes:
    """By what the first node says of all; where every node was asked, a copy on a silent one does not count."""
    answering = {info.peer_id for info in seen}
    all_asked = len(answering) + len(nodes.gone) >= nodes.peers
    first = seen[0]
    states = [(shard.shard_id, first.peer_id, shard.state) for shard in first.local_shards]
    states += [(shard.shard_id, shard.peer_id, shard.state) for shard in first.remote_shards]
    copies, dead = Counter({shard: 0 for shard, _, _ in states}), set[int]()
    filling = 0
    for shard, peer, state in states:
        there = peer in answering or not all_asked
        copies[shard] += there and state == _ACTIVE
        filling += there and state not in (_ACTIVE, _DEAD)
        if state == _DEAD:
            dead.add(peer)
    names = tuple(sorted(uris.get(str(peer), str(peer)) for peer in dead))
    return Nodes(nodes.versions, nodes.gone, nodes.peers, nodes.wanted, dict(copies), filling, names)


def holders(server: QdrantServer, collection: str) -> dict[int, str]:
    """Shard -> an address of ours whose node has an active copy; StoreError when one has none."""
    found, known = dict[int, str](), set[int]()
    for client, address in zip(server.clients, addresses(server.settings), strict=True):
        try:
            seen = client.collection_cluster_info(collection)
        except WIRE:  # another node may hold the same
            continue
        known |= {shard.shard_id for shard in seen.local_shards}
        known |= {shard.shard_id for shard in seen.remote_shards}
        for shard in seen.local_shards:
            if shard.state == _ACTIVE:
                found.setdefault(shard.shard_id, address)
    if not known:
        raise StoreError(f"The Qdrant server at {server.settings.qdrant_url} does not say where its shards are.")
    if lacking := sorted(known - found.keys()):
        raise StoreError(
            f"Shard {lacking[0]} is on none of the nodes in store.qdrant_url that answer; name all nodes there, "
            "comma-separated, and bring them back first."
        )
    return found
