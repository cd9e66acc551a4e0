"""The addresses of the settings and one client for each: the key, REST or gRPC, and whom to trust over TLS."""

from __future__ import annotations

import math
import ssl
import warnings
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient

from askwiki.errors import StoreError
from askwiki.masking import remember, remember_address
from askwiki.settings import StoreSettings

RECONNECT = {"grpc.max_reconnect_backoff_ms": 2_000}  # gRPC's own two minutes would outlast a node that is back


def addresses(settings: StoreSettings) -> list[str]:
    """One, or the nodes of a cluster in the order in which they are asked."""
    return [url.strip() for url in settings.qdrant_url.split(",") if url.strip()]


def connect(settings: StoreSettings, address: str = "") -> QdrantClient:
    """The client of this address, else of the first. No call is made yet; without a port it is 6333."""
    address = address or next(iter(addresses(settings)), "")
    remember(settings.qdrant_key)
    remember_address(address)
    try:
        with warnings.catch_warnings():  # a key over plain HTTP is usual between containers
            warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
            return QdrantClient(
                url=address,
                api_key=settings.qdrant_key or None,
                prefer_grpc=settings.grpc,
                grpc_port=settings.grpc_port,
                timeout=math.ceil(settings.timeout),
                check_compatibility=False,  # would print from a thread of its own
                **(trust(settings) if address.startswith("https:") else {"grpc_options": dict(RECONNECT)}),
            )
    except ValueError as error:
        raise StoreError(f"store.qdrant_url has {address}, which is no address: {error}.") from error


def trust(settings: StoreSettings) -> dict[str, Any]:
    """Both ways trust the same: ``store.qdrant_ca``, else what ``SSL_CERT_FILE`` names, else each its own list.

    gRPC reads a variable of its own when it is imported, long before settings are: its roots go through the client.
    """
    if not settings.verify_tls:
        if settings.grpc:
            raise StoreError(
                "store.verify_tls: false holds over REST only, gRPC always checks the certificate. Name the "
                "certificate or its CA in store.qdrant_ca and leave store.verify_tls true, or set store.grpc: false."
            )
        return {"verify": False, "grpc_options": dict(RECONNECT)}
    named = settings.qdrant_ca or ssl.get_default_verify_paths().cafile  # SSL_CERT_FILE, else the system's
    if not named:
        return {"grpc_options": dict(RECONNECT)}
    trusted, roots = _read(named)
    return {"grpc_options": {**RECONNECT, "root_certificates": roots}} | (
        {"verify": trusted} if settings.qdrant_ca else {}
    )


def _read(path: str) -> tuple[ssl.SSLContext, bytes]:
    """The certificates of a file for REST and for gRPC; StoreError unless there are some."""
    named = "It is named by store.qdrant_ca or SSL_CERT_FILE."
    try:
        return ssl.create_default_context(cafile=path), Path(path).read_bytes()
    except ssl.SSLError as error:
        raise StoreError(
            f"The file {path} holds no certificates in PEM form (-----BEGIN CERTIFICATE-----). {named}"
        ) from error
    except OSError as error:
        raise StoreError(f"The file of certificates {path} cannot be read: {error.strerror}. {named}") from error
