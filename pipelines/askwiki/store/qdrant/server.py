"""A Qdrant server: its collections and aliases, calls tried again, errors as sentences."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

import grpc
import httpx
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from askwiki.calls.retry import Backoff
from askwiki.errors import StoreError
from askwiki.masking import echoed
from askwiki.settings import StoreSettings
from askwiki.store.payload import INDEXES, MANY, SPARSE
from askwiki.store.qdrant.client import addresses, connect

_BACKOFF = Backoff(first=0.2, longest=10.0, longest_asked=10.0)
FILLING_KB = 1_000_000  # vectors of a segment without graphs while a collection is filled: 130,000 chunks of e5
# HTTP: slow down; not there; cannot serve just now; from here on the server's fault
_TOO_MANY, _MISSING, _AWAY, _BUSY = 429, 404, 503, 500
WIRE = (ResponseHandlingException, UnexpectedResponse, ResourceExhaustedResponse, grpc.RpcError)

logger = logging.getLogger(__name__)


class CollectionGone(StoreError):
    """The collection was replaced and dropped since its name was looked up."""


def open_server(settings: StoreSettings) -> QdrantServer:
    """No call is made yet."""
    return QdrantServer([connect(settings, address) for address in addresses(settings)], settings)


class QdrantServer:
    """The calls of its clients, one an address, tried again when the server is busy or away, errors as StoreError."""

    def __init__(self, clients: Sequence[QdrantClient], settings: StoreSettings) -> None:
        self.clients = clients
        self.settings = settings
        self._place = 0  # of the client that answered last

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        for attempt in range(self.settings.retries + 1):
            try:
                return self._at_any_address(method, *arguments, **named)
            except WIRE as error:
                pause = _pause(error, attempt + 1)
                if pause is None or attempt == self.settings.retries:
                    raise self._sentence(error) from error
                time.sleep(pause)
            except (ValueError, RuntimeError, KeyError) as error:  # the client in memory knows no others
                raise self._sentence(error) from error
        raise AssertionError("the last attempt returns or raises")

    def _at_any_address(self, method: str, *arguments: Any, **named: Any) -> Any:
        """At the address that answered last; where nobody is there, at once at the others in their order."""
        first, count = self._place, len(self.clients)
        for step in range(count):
            place = (first + step) % count
            try:
                found = getattr(self.clients[place], method)(*arguments, **named)
            except WIRE as error:
                if _silent(error):
                    self._place = (place + 1) % count  # is asked when the call is tried again
                if not _away(error) or step == count - 1:
                    raise
                continue
            if place != self._place:
                logger.warning("Qdrant is asked at %s from now on", addresses(self.settings)[place])
                self._place = place
            return found
        raise AssertionError("the last address returns or raises")

    def close(self) -> None:
        for client in self.clients:
            client.close()

    def version(self) -> str:
        return str(self.call("info").version)

    def aliases(self) -> dict[str, str]:
        """Alias -> collection."""
        return {one.alias_name: one.collection_name for one in self.call("get_aliases").aliases}

    def aliased(self, name: str) -> str:
        """The collection behind the alias, empty when there is none."""
        return self.aliases().get(name, "")

    def collections(self) -> list[str]:
        return [item.name for item in self.call("get_collections").collections]

    def metadata(self, collection: str) -> Mapping[str, Any]:
        return self.call("get_collection", collection).config.metadata or {}

    def create(self, collection: str, sizes: Mapping[str, int], *, idf: bool, metadata: Mapping[str, Any]) -> None:
        """A collection to be filled, with its payload indexes; they come before the data so that graphs use them."""
        settings = self.settings
        # Servers before 1.19 know ``on_disk`` alone and pass over ``memory`` without a word; later ones prefer it.
        memory = models.Memory.COLD if settings.on_disk else None
        disk = settings.on_disk or None
        best = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
        dense = {
            name: models.VectorParams(
                size=size,
                distance=models.Distance.COSINE,
                on_disk=disk,
                memory=memory,
                multivector_config=best if name in MANY else None,
            )
            for name, size in sizes.items()
        }
        sparse = models.SparseVectorParams(
            modifier=models.Modifier.IDF if idf else None,
            index=models.SparseIndexParams(on_disk=disk, memory=memory) if memory else None,
        )
        self.call(
            "create_collection",
            collection,
            vectors_config=dense,
            sparse_vectors_config={SPARSE: sparse},
            shard_number=settings.shards,
            replication_factor=settings.replicas,
            quantization_config=_quantization(settings),
            optimizers_config=models.OptimizersConfigDiff(indexing_threshold=FILLING_KB),
            metadata=dict(metadata),
        )
        for name, kind in INDEXES.items():
            self.call("create_payload_index", collection, name, models.PayloadSchemaType(kind))

    def switch(self, collection: str, *, given: Sequence[str], gone: Sequence[str] = ()) -> None:
        """Give ``collection`` these aliases and take others away, from whatever has them, in one step."""
        steps: list[Any] = [
            models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=name)) for name in gone
        ]
        for name in given:
            create = models.CreateAlias(alias_name=name, collection_name=collection)
            steps.append(models.CreateAliasOperation(create_alias=create))
        self.call("update_collection_aliases", change_aliases_operations=steps)

    def drop(self, collection: str) -> None:
        self.call("delete_collection", collection)

    def _sentence(self, error: Exception) -> StoreError:
        where = f"The Qdrant server at {self.settings.qdrant_url}"
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return StoreError(
                f"{where} shows a certificate that is not trusted; name the company's CA in store.qdrant_ca "
                "(ASKWIKI_STORE__QDRANT_CA), a PEM file."
            )
        if isinstance(error, UnexpectedResponse):
            if error.status_code in (401, 403):
                return _refused(where)
            kind = CollectionGone if error.status_code == _MISSING else StoreError
            return kind(
                f"{where} answered {error.status_code}: {echoed(error.content.decode('utf-8', 'replace'), 300)}"
            )
        if isinstance(error, grpc.Call):
            if error.code() in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
                return _refused(where)
            if error.code() == grpc.StatusCode.NOT_FOUND:
                return CollectionGone(f"{where} does not have the collection any more.")
            said = echoed(error.details() or "", 300)
            return StoreError(f"{where} could not do it ({error.code().name}: {said}).")
        if isinstance(error, ValueError) and "not found" in str(error):
            return CollectionGone(str(error))
        return StoreError(
            f"{where} could not do it ({str(error).splitlines()[0] if str(error) else type(error).__name__})."
        )


def _away(error: Exception) -> bool:
    """Nobody is there, or the node says itself that it cannot serve just now: another one may."""
    if isinstance(error, UnexpectedResponse):
        return error.status_code == _AWAY
    if isinstance(error, grpc.Call):
        return bool(error.code() == grpc.StatusCode.UNAVAILABLE)
    return isinstance(error, ResponseHandlingException) and not isinstance(error.source, httpx.ReadTimeout)


def _silent(error: Exception) -> bool:
    """No answer in time; the node may be frozen, or only slow."""
    if isinstance(error, grpc.Call):
        return bool(error.code() == grpc.StatusCode.DEADLINE_EXCEEDED)
    return isinstance(error, ResponseHandlingException) and isinstance(error.source, httpx.ReadTimeout)


def _refused(where: str) -> StoreError:
    return StoreError(f"{where} refused the key; check ASKWIKI_QDRANT_KEY.")


def _pause(error: Any, tries: int) -> float | None:
    """Seconds until the call may be tried again, None when that would not help."""
    if isinstance(error, ResourceExhaustedResponse):
        return _BACKOFF.pause(tries, float(error.retry_after_s))
    pause = _BACKOFF.pause(tries)
    if isinstance(error, UnexpectedResponse):
        status = int(error.status_code or _BUSY)
        return pause if status >= _BUSY or status == _TOO_MANY else None
    if isinstance(error, grpc.Call):
        again = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED)
        return pause if error.code() in again else None
    return pause


def _quantization(settings: StoreSettings) -> models.ScalarQuantization | None:
    if settings.quantization == "none":
        return None
    scalar = models.ScalarQuantizationConfig(
        type=models.ScalarType.INT8, quantile=0.99, always_ram=True, memory=models.Memory.PINNED
    )
    return models.ScalarQuantization(scalar=scalar)
