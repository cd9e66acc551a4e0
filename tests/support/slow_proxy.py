"""A TCP proxy that keeps every piece of an answer back for a while, as an overloaded server or a bad line does."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_PIECE = 1 << 16  # bytes passed on at once


@dataclass
class SlowProxy:
    """``delay``: seconds before a piece of an answer is passed on; it may be changed at any time."""

    port: int  # of the server on loopback
    delay: float = 0.0
    listening: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listening.getsockname()[1]}"

    def serve(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                client, _ = self.listening.accept()
                threading.Thread(target=self._one, args=(client,), daemon=True).start()

    def _one(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self.port)) as server:
            asking = threading.Thread(target=_pass, args=(client, server, lambda: 0.0), daemon=True)
            asking.start()
            _pass(server, client, lambda: self.delay)
            asking.join()


def _pass(source: socket.socket, target: socket.socket, delay: Callable[[], float]) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(_PIECE):
            time.sleep(delay())
            target.sendall(piece)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def slow_proxy(port: int) -> Iterator[SlowProxy]:
    proxy = SlowProxy(port)
    threading.Thread(target=proxy.serve, daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.listening.close()
