"""``askwiki provision``: set the wiki model up in Open WebUI."""

from __future__ import annotations

import argparse
import os

from askwiki.errors import SettingsError
from askwiki.openwebui.process import say
from askwiki.openwebui.provision import provision, sign_in


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", default=os.environ.get("WEBUI_URL", "http://localhost:8080"))
    parser.add_argument("--model", default="wiki_answer", help="id of the pipe")
    parser.add_argument("--name", default=os.environ.get("ASKWIKI_MODEL_NAME"), help="of the model in the chat")
    parser.add_argument("--wait", type=float, default=300.0, help="seconds to wait for Open WebUI")


def run(options: argparse.Namespace) -> int:
    email, password = os.environ.get("WEBUI_ADMIN_EMAIL"), os.environ.get("WEBUI_ADMIN_PASSWORD")
    if not email or not password:
        raise SettingsError("Set WEBUI_ADMIN_EMAIL and WEBUI_ADMIN_PASSWORD to the admin of Open WebUI.")
    webui = sign_in(options.url, email, password, wait=options.wait)
    print(provision(webui, options.model, options.name or say("model_name"), say("model_about")))
    return 0
