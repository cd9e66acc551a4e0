"""``python -m askwiki``: ask, serve, measure."""

from __future__ import annotations

import sys

from askwiki.commands.command_line import start

COMMANDS = {
    "ask": "ask one question without a server",
    "serve": "start the guarded Pipelines server that Open WebUI connects to",
    "eval": "measure search and answers on a file of questions",
    "feedback": "fetch the ratings given in Open WebUI",
    "encoder": "start the stateless encoder service",
    "provision": "set the wiki model up in Open WebUI",
    "doctor": "check settings, store, models, LLM and rights",
    "settings": "print every setting with its default and meaning",
}

if __name__ == "__main__":
    sys.exit(start("askwiki", "askwiki.commands", COMMANDS, sys.argv[1:]))
