"""``python -m tests.bench.doors QUESTIONS``: every question of a file through each door; do all cite the same sources?

Asks the index that the settings name (``ASKWIKI_STORE__PATH`` …) with a server of its own: the chat's filter and pipe,
the function file, the tool over HTTP, the tool over MCP. Follow-ups go only through the doors that take a dialogue.
Prints how many questions gave the same text and sources through every door, and the ones that did not.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.demo import demo_environment
from tests.server.test_doors import forwarded, over_mcp, post
from tests.server.test_function_file import asked, through_the_function
from tests.support.edge_wiki import PERSON
from tests.support.running import Running, chat, serving

Told = tuple[str, list[tuple[str, str]]]  # text, sources: (title, address)


def main(questions: Path) -> int:
    entries = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        named = {name: value for name, value in os.environ.items() if name.startswith("ASKWIKI_")}
        with serving({**demo_environment(place), **named}, place / "log") as served:
            told = [(entry, through_all(served, entry)) for entry in entries]
    different = [(entry, doors) for entry, doors in told if len({repr(each) for each in doors.values()}) > 1]
    for entry, doors in different:
        print(entry["id"], {door: sources for door, (_, sources) in doors.items()})
    calls = sum(len(doors) for _, doors in told)
    cited = sum(bool(next(iter(doors.values()))[1]) for _, doors in told)
    print(f"{len(told)} questions, {calls} answers, {cited} with sources: {len(different)} differ between doors")
    return 1 if different else 0


def through_all(served: Running, entry: dict[str, Any]) -> dict[str, Told]:
    """Door -> what it told."""
    messages = [*entry.get("history", ()), {"role": "user", "content": entry["question"]}]
    shown = chat(served, messages)
    doors = {"chat": (shown.text, _listed(shown.sources))}
    items = through_the_function(served, asked(entry["question"]) | {"messages": messages})
    events = [item["event"]["data"] for item in items if isinstance(item, dict) and "event" in item]
    text = "".join(item for item in items if isinstance(item, str))
    doors["function"] = (text, _listed([event for event in events if "source" in event]))
    if "history" not in entry:
        arguments = {"question": entry["question"]}
        by_http = post(served, "/tools/ask", arguments, forwarded(PERSON)).json()
        by_mcp = over_mcp(served, "ask", arguments, forwarded(PERSON)).structured_content
        doors["tools"] = (by_http["answer"], _cited(by_http["sources"]))
        doors["mcp"] = (by_mcp["answer"], _cited(by_mcp["sources"]))
    return doors


def _listed(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((event["source"]["name"], event["source"]["url"]) for event in events))


def _cited(sources: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((source["title"], source["url"]) for source in sources))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
