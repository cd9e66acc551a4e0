"""What ``make demo`` and ``make serve`` run: the sample wiki, the real server, one question over HTTP.

python -m tests.demo ["question"] [--serve]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import requests

from tests.support.running import (
    PERSON,
    ROOT,
    Running,
    collect,
    complete,
    environment,
    inlet,
    items,
    kind_of,
    serving,
)

QUESTION = "Какие статусы бывают у перевода и что значит каждый?"
PLACE = ROOT / ".askwiki" / "demo"
WIKI = ROOT / "tests" / "wiki" / "xml"
PORT = 9099
KEPT = ("ASKWIKI_LLM", "ASKWIKI_LANGUAGE")  # a demo with your own language model is still the demo
NOTHING_INDEXED = 2


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="demo")
    parser.add_argument("question", nargs="?", default=os.environ.get("Q") or QUESTION)
    parser.add_argument("--serve", action="store_true", help="leave the server up")
    parser.add_argument("--port", type=int, default=PORT, help="of --serve")
    parser.add_argument("--source", default=f"xml:{WIKI}", help="another wiki than the sample")
    parser.add_argument("--place", type=Path, default=PLACE, help="folder of the index, kept between runs")
    options = parser.parse_args(words)
    environ = demo_environment(options.place)
    print("Индексирую пример вики …", flush=True)
    code = index(options.source, options.place / "store", environ)
    if code >= NOTHING_INDEXED:
        return code
    print("Запускаю сервер Pipelines …", flush=True)
    port = options.port if options.serve else None
    with serving(environ, options.place / "server.log", port=port) as server:
        if options.serve:
            return stay(server)
        return 0 if converse(server, options.question) else 1


def index(source: str, store: Path, environ: dict[str, str]) -> int:
    """The sync's exit code. An index that an older version left here is no loss: it is made anew."""
    command = [sys.executable, "-m", "indexer", "sync", "--source", source]
    if not store.exists():
        return subprocess.run(command, env=environ, cwd=ROOT, check=False).returncode
    done = subprocess.run(command, env=environ, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode < NOTHING_INDEXED:
        return done.returncode
    print(f"{done.stderr}Индекс здесь от другой версии или не читается, делаю новый …", flush=True)
    shutil.rmtree(store)
    return subprocess.run(command, env=environ, cwd=ROOT, check=False).returncode


def demo_environment(place: Path) -> dict[str, str]:
    """The sample's own store, plugins and addresses; only the language model may be yours."""
    plugins = place / "pipelines"  # a copy: valves turned in a demo are not those of the checkout
    plugins.mkdir(parents=True, exist_ok=True)
    for file in (ROOT / "pipelines").glob("*.py"):
        (plugins / file.name).write_bytes(file.read_bytes())
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    return environment(
        **kept,
        ASKWIKI_STORE_PATH=str(place / "store"),
        ASKWIKI_SYNC__CACHE=str(place / "cache"),
        ASKWIKI_WIKI_URL="https://wiki.example.com",
        PIPELINES_API_KEY=os.environ.get("PIPELINES_API_KEY", ""),
        PIPELINES_DIR=str(plugins),
    )


def converse(server: Running, question: str) -> bool:
    """One question through filter and pipe; True when an answer came and nothing broke."""
    print(f"\nВопрос: {question}\n", flush=True)
    body = inlet(server, [{"role": "user", "content": question}])
    with complete(server, {**body, "user": PERSON}) as answer:
        answer.raise_for_status()
        shown = collect(map(Printer(), items(answer)))
    print("\nСтраницы, из которых взят ответ:" if shown.sources else "")
    for source in shown.sources:
        print(f"  {source['source']['name']}\n    {source['source']['url']}")
    for error in shown.errors:
        print(f"Ошибка: {error}", file=sys.stderr)
    return shown.finished and bool(shown.text) and not shown.errors


class Printer:
    """Prints the items of a stream as they come: progress on lines of its own, text as it flows."""

    def __init__(self) -> None:
        self._in_text = False

    def __call__(self, item: dict[str, Any]) -> dict[str, Any]:
        kind = kind_of(item)
        if kind == "status" and item["event"]["data"]["description"]:
            print("\n\n" if self._in_text else "", end="")
            print(f"  … {item['event']['data']['description']}", flush=True)
            self._in_text = False
        elif kind == "text":
            print("" if self._in_text else "\n", end="")
            print(item["choices"][0]["delta"]["content"], end="", flush=True)
            self._in_text = True
        return item


def stay(server: Running) -> int:
    print(
        f"\nСервер работает. В Open WebUI: Admin Settings → Connections → OpenAI API → добавить\n"
        f"  URL  {server.url}\n  Key  {server.key}\n"
        f'и в Headers: {{"X-User-Groups": "{{{{USER_GROUPS}}}}", '
        f'"X-User-Group-Ids": "{{{{USER_GROUP_IDS}}}}", "X-Task": "{{{{TASK}}}}"}}\n'
        f"Журнал: {server.log}. Остановить: Ctrl+C.",
        flush=True,
    )
    try:
        return server.process.wait()
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (requests.RequestException, RuntimeError) as error:
        sys.exit(f"demo: {error}")
