"""``python -m askwiki encoder [--host] [--port]``: serve this machine's models to other processes."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import os

import uvicorn

from askwiki.configuration import load_configuration
from askwiki.encoders.factory import make_embedder, make_sparse
from askwiki.errors import SettingsError
from askwiki.logs import set_up_logging
from askwiki.server.connections import ImpatientProtocol
from askwiki.server.encoder import encoder_app

logger = logging.getLogger(__name__)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; default: this machine only")
    parser.add_argument("--port", type=int, default=8090)


def run(options: argparse.Namespace) -> int:
    configuration = load_configuration(os.environ)
    settings = configuration.settings
    if settings.embedding.kind == "openai" or settings.sparse.kind == "remote":
        raise SettingsError(
            "The encoder service needs models of its own, not embedding.kind openai or sparse.kind remote."
        )
    if not settings.embedding.key and not _is_loopback(options.host):
        raise SettingsError(
            f"Listening on {options.host} without a key would serve everybody: set ASKWIKI_EMBEDDING__KEY."
        )
    set_up_logging(settings.log_level, settings.log_format)
    app = encoder_app(make_embedder(settings.embedding), make_sparse(settings.sparse), key=settings.embedding.key)
    logger.info("askwiki encoder: http://%s:%d/v1", options.host, options.port)
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        log_config=None,
        http=ImpatientProtocol,
        ws="none",
    )
    return 0


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
