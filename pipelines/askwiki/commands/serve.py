"""``python -m askwiki serve``: the guarded Pipelines server that Open WebUI connects to."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import socket
import threading
import time
from types import FrameType

import uvicorn

from askwiki.access.rights import unbelieved
from askwiki.configuration import CHECKOUT, load_configuration
from askwiki.doors.app import make_doors
from askwiki.errors import AskWikiError
from askwiki.logs import set_up_logging
from askwiki.openwebui.process import measure_index, told
from askwiki.server.connections import ImpatientProtocol
from askwiki.server.guarded import ServerGuard
from askwiki.server.routes import Routes
from askwiki.server.stock import load_stock_app, plugins_folder, server_key

logger = logging.getLogger(__name__)
ANSWERS = "wiki_answer"  # the plugin whose valves hold for every door
# Told to stop, answers under way get this long for their last sentence; with the second below half of the ten seconds
# after which Docker kills.
STOP_SECONDS = 4.0
LINGER_SECONDS = 1.0  # a chat whose filter was just at work comes a moment later, and hears a sentence
GRACE_SECONDS = 1  # for connections that are still open then


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, default=9099, help="port to listen on (default: 9099)")


def run(options: argparse.Namespace) -> int:
    key = server_key(os.environ)
    configuration = load_configuration(os.environ)
    settings = configuration.settings
    set_up_logging(settings.log_level, settings.log_format)
    if told_admin := unbelieved(settings.access):
        logger.warning("%s", told_admin)
    chat = importlib.import_module(
        "askwiki.openwebui.plugins"
    )  # a fault shows here; the stock server would move the plugins away
    stock = load_stock_app(os.environ, plugins_folder(os.environ, CHECKOUT / "pipelines"))
    routes = Routes(stock.routes, stock.pipelines, loading=settings.server.pipelines_api)
    listening = _listen(options.host, options.port)
    guard = ServerGuard(
        stock.app,
        routes=routes,
        key=key,
        settings=settings.server,
        measure=measure_index,
        told=told,
        away=chat.turn_away,
        doors=make_doors(lambda: stock.pipelines()[ANSWERS].valves) if settings.server.tools else None,
    )
    server = _Server(
        uvicorn.Config(
            guard,
            http=ImpatientProtocol,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        ),
        guard,
    )
    server.run(sockets=[listening])
    return 0 if server.started else 1


class _Server(uvicorn.Server):
    """Told to stop, it refuses new chats and lets those under way say their last sentence; then it ends with code 0.

    uvicorn alone closes the door first, so that a chat hears nothing, and raises the signal again at its end.
    """

    def __init__(self, config: uvicorn.Config, guard: ServerGuard) -> None:
        super().__init__(config)
        self._guard = guard
        self._told = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._told:  # a second time: at once
            self.should_exit = self.force_exit = True
            return
        self._told = True
        # Not here: a signal comes amid any line, perhaps while the lock is held that is needed to stop a chat.
        threading.Thread(target=self._stop, name="stop", daemon=True).start()

    def _stop(self) -> None:
        end = time.monotonic() + STOP_SECONDS
        self._guard.stop()
        time.sleep(LINGER_SECONDS)
        while self._guard.under_way and time.monotonic() < end:
            time.sleep(0.05)
        self.should_exit = True


def _listen(host: str, port: int) -> socket.socket:
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        raise AskWikiError(
            f"Cannot listen on {host}, port {port}: {error}. Choose others with --host, --port."
        ) from error
    # Its connections inherit it; without, every small piece waits 40 ms for the caller's word that the last one came.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
