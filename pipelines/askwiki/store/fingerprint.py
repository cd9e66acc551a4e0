"""What an index was built with, and the sentence when it is not what is in force."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from askwiki.encoders.port import Embedder, SparseEncoder
from askwiki.errors import StoreMismatch
from askwiki.settings import ChunkingSettings
from askwiki.store.payload import DENSE, SCHEMA

REMEMBERED_AS = {"sub_chunks": "pieces"}  # a setting -> its name in the indexes that are there already
CHUNKER = 6  # raise it when the same page gives other chunks or other embedded texts than before


def fingerprint_of(
    embedder: Embedder, sparse: SparseEncoder, chunking: ChunkingSettings, *, contexts: bool
) -> dict[str, Any]:
    """Everything that must agree between who wrote the index and who asks it; JSON types only.

    ``contexts``: whether a model writes them; without one a chunk has no second dense vector.
    """
    content = {
        "schema": SCHEMA,
        "embedder": dict(embedder.identity()),
        "sizes": dict.fromkeys(DENSE if contexts else DENSE[:1], embedder.size),
        "sparse": dict(sparse.identity()),
        "idf": sparse.idf,
        "chunker": {
            "version": CHUNKER,
            **{REMEMBERED_AS.get(name, name): value for name, value in asdict(chunking).items()},
        },
    }
    plain: dict[str, Any] = json.loads(json.dumps(content))
    return plain


def check_readable(
    found: Mapping[str, Any], embedder: Embedder, sparse: SparseEncoder, chunking: ChunkingSettings
) -> None:
    """StoreMismatch when an index exists that these encoders cannot be put to. Contexts it may have or lack."""
    contexts = "context" in found.get("sizes", {})
    check_fingerprint(found, fingerprint_of(embedder, sparse, chunking, contexts=contexts))


def check_fingerprint(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """StoreMismatch when an index exists and was built with something else."""
    if not found or found == wanted:
        return
    there, here = _leaves(found), _leaves(wanted)
    details = "; ".join(
        f"{name} {there.get(name, 'none')} in the index, {here.get(name, 'none')} in the settings"
        for name in sorted({*there, *here})
        if there.get(name) != here.get(name)
    )
    raise StoreMismatch(
        f"The index was built with other models or settings than the ones in force ({details}). "
        "Run: python -m indexer rebuild"
    )


def dense_sizes(fingerprint: Mapping[str, Any]) -> dict[str, int]:
    """Dense vector -> numbers in it, of those that the index has."""
    return dict(fingerprint.get("sizes", {}))


def uses_idf(fingerprint: Mapping[str, Any]) -> bool:
    return bool(fingerprint["idf"])


def _leaves(tree: Mapping[str, Any], above: str = "") -> dict[str, object]:
    leaves: dict[str, object] = {}
    for name, value in tree.items():
        leaves.update(_leaves(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value})
    return leaves
