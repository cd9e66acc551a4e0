"""The language model of the compose tests, in a container of its own: it says what the scenes of the chat say."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from typing import Any

from askwiki.doctor.llm import ASKED
from tests.compose.scenes import SCENES
from tests.e2e.script import ROLES, Script
from tests.support.scripted import Asking, Saying, ScriptedServer

PORT = 8000
PROBED = ASKED[-1].content
SCRIPT = Script(SCENES)
INDEXING = ("context", "cut")  # what the indexer asks for
MODELS = (*ROLES, *INDEXING)


def main() -> None:
    """Until the container is stopped. A caller with another key than ``LLM_KEY`` is refused, as everywhere."""
    key = os.environ["LLM_KEY"]

    def behind_key(asking: Asking) -> Saying | str:
        if asking.headers.get("authorization") != f"Bearer {key}":
            return Saying(status=401, error="Incorrect API key provided.")
        return reply(asking)

    with ScriptedServer(behind_key, models=MODELS, address=("0.0.0.0", PORT)):
        threading.Event().wait()


def reply(asking: Asking) -> Saying | str:
    """The scenes of the chat; to the indexer and the doctor what any working model says."""
    if asking.body["model"] in ROLES and PROBED not in asking.text:
        return SCRIPT(asking)
    if asking.schema is None:
        return "Страница вики компании."
    return json.dumps({name: plain(one) for name, one in asking.schema["properties"].items()})


def plain(wanted: Mapping[str, Any]) -> object:
    """The least that a schema takes: the first of several words, a list of the number 1."""
    return wanted["enum"][0] if "enum" in wanted else [1]


if __name__ == "__main__":
    main()
