"""The chat's own reader of Markdown (marked, as Open WebUI 0.12.4 sets it up) as a judge beside ours."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from tests.support.hostile_reading import ADDRESSED, code_dangers, foreign

FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "marked-9.1.6"
READER = Path(__file__).parent / "marked" / "reader.mjs"
_BLOCKS = re.compile(r"```[\s\S]*?```")


def missing() -> str:
    """Why the reader cannot be had here; empty when it can."""
    if shutil.which("node") is None:
        return "no node: the chat's own reader of Markdown cannot run"
    return "" if (FOLDER / ".done").exists() else "no marked: run tests/support/marked/install.sh once, with a network"


@lru_cache(maxsize=1)
def _process() -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["node", str(READER), str(FOLDER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )


def opened(answer: str) -> list[str]:
    """Everything that the chat would load, make clickable, draw or run of an answer, but the wiki's own."""
    process = _process()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(answer) + "\n")
    process.stdin.flush()
    drawn: list[list[str]] = json.loads(process.stdout.readline())
    return [danger for parts in drawn for danger in _of(parts)] + list(_pages(answer))


def _of(parts: Sequence[str]) -> Iterator[str]:
    kind, *rest = parts
    if kind in ADDRESSED:
        yield from foreign(kind, rest[0])
    elif kind == "code":
        yield from code_dangers(*rest)
    else:
        yield f"{kind} {rest[0]!r}"


def _pages(answer: str) -> Iterator[str]:
    """Pages that the chat makes of code for the window beside the answer, by a search of its own."""
    for block in _BLOCKS.findall(answer):
        language = block.split("\n")[0].replace("```", "").strip().lower()
        if language in {"html", "css", "js", "javascript"}:
            yield f"page of {block!r}"
