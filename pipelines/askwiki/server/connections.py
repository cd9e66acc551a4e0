"""Connections whose request never comes whole: uvicorn waits for its head without end, so here they are closed."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0  # from the first moment of a connection, or the first byte of a further request, to its whole head


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a limit on the time that a request's head may take.

    It also ends what trickles in behind an answer that was given before the body was read.
    """

    head_seconds = HEAD_SECONDS
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._under_way():
            self._stop()
        elif self._timer is None and not self.transport.is_closing():
            self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _under_way(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _start(self) -> None:
        self._timer = self.loop.call_later(self.head_seconds, self._give_up)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if not self._under_way():
            self.transport.close()
