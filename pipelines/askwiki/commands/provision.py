"""``askwiki provision``: set the wiki model up in Open WebUI."""

from __future__ import annotations

import argparse
import os

from askwiki.errors import SettingsError
from askwiki.openwebui.process import say
from askwiki.openwebui.provision import install_function, provision, sign_in
from askwiki.server.stock import server_key


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", default=os.environ.get("WEBUI_URL", "http://localhost:8080"))
    parser.add_argument(
        "--as",
        dest="form",
        choices=["connection", "function"],
        default="connection",
        help="how the chat reaches the server: a connection of the admin panel, or a function that this installs",
    )
    parser.add_argument("--model", default="", help="id of the pipe (wiki_answer; of the function wiki_function)")
    parser.add_argument(
        "--server", default=os.environ.get("ASKWIKI_SERVER_URL", "http://pipelines:9099"), help="for the function"
    )
    parser.add_argument("--name", default=os.environ.get("ASKWIKI_MODEL_NAME"), help="of the model in the chat")
    parser.add_argument("--wait", type=float, default=300.0, help="seconds to wait for Open WebUI")


def run(options: argparse.Namespace) -> int:
    email, password = os.environ.get("WEBUI_ADMIN_EMAIL"), os.environ.get("WEBUI_ADMIN_PASSWORD")
    if not email or not password:
        raise SettingsError("Set WEBUI_ADMIN_EMAIL and WEBUI_ADMIN_PASSWORD to the admin of Open WebUI.")
    webui = sign_in(options.url, email, password, wait=options.wait)
    name, about = options.name or say("model_name"), say("model_about")
    model = options.model or ("wiki_function" if options.form == "function" else "wiki_answer")
    if options.form == "function":
        install_function(webui, model, name, about, url=options.server, key=server_key(os.environ))
    print(provision(webui, model, name, about))
    return 0
