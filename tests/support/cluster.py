"""A cluster of real Qdrant servers, each on a loopback address of its own; any of them can be killed and come back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.support.qdrant import Qdrant
from tests.support.running import reserved_port

NODES = 3


@contextlib.contextmanager
def cluster(folder: Path, *, joined: bool = True) -> Iterator[list[Qdrant]]:
    """Three; the first one begins, the others join it, unless the test starts them itself. Ended by their pids."""
    with reserved_port() as port, reserved_port() as grpc_port, reserved_port() as among:
        members = [_member(folder, number, (port, grpc_port, among)) for number in range(NODES)]
        try:
            for member in members if joined else []:
                member.start()
            yield members
        finally:
            for member in members:
                member.end()


def _member(folder: Path, number: int, ports: tuple[int, int, int]) -> Qdrant:
    port, grpc_port, among = ports
    own = {"QDRANT__CLUSTER__ENABLED": "true", "QDRANT__CLUSTER__P2P__PORT": str(among)}
    words = ["--uri", f"http://127.0.0.{number + 2}:{among}"]
    if number:
        words += ["--bootstrap", f"http://127.0.0.2:{among}"]
    return Qdrant(folder / str(number), port, grpc_port, own, host=f"127.0.0.{number + 2}", words=words)
