"""What ``make demo`` and ``make serve`` run: the sample wiki, the real server, one question over HTTP.

python -m tests.demo ["question"] [--serve]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import requests

from tests.running import PERSON, ROOT, Running, complete, environment, free_port, inlet, items, kind_of, serving

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
    options = parser.parse_args(words)
    PLACE.mkdir(parents=True, exist_ok=True)
    environ = demo_environment()
    print("Индексирую пример вики …", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "indexer", "sync", "--source", f"xml:{WIKI}"], env=environ, cwd=ROOT, check=False
    )
    if done.returncode >= NOTHING_INDEXED:
        return done.returncode
    print("Запускаю сервер Pipelines …", flush=True)
    with serving(environ, PLACE / "server.log", port=options.port if options.serve else free_port()) as server:
        if options.serve:
            return stay(server)
        return 0 if converse(server, options.question) else 1


def demo_environment() -> dict[str, str]:
    """The sample's own store and addresses; only the language model may be yours."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    return environment(
        **kept,
        ASKWIKI_STORE_PATH=str(PLACE / "store"),
        ASKWIKI_SYNC__CACHE=str(PLACE / "cache"),
        ASKWIKI_WIKI_URL="https://wiki.example.com",
        PIPELINES_API_KEY=os.environ.get("PIPELINES_API_KEY", ""),
    )


def converse(server: Running, question: str) -> bool:
    """One question through filter and pipe; True when an answer came and nothing broke."""
    print(f"\nВопрос: {question}\n", flush=True)
    body = inlet(server, [{"role": "user", "content": question}])
    links: list[tuple[str, str]] = []
    answered = written = False
    with complete(server, {**body, "user": PERSON}) as answer:
        answer.raise_for_status()
        for item in items(answer):
            kind = kind_of(item)
            if kind == "status" and item["event"]["data"]["description"]:
                print(f"{'' if not written else chr(10)}  … {item['event']['data']['description']}", flush=True)
            elif kind == "source":
                links.append((item["event"]["data"]["source"]["name"], item["event"]["data"]["source"]["url"]))
            elif kind == "text":
                print(item["choices"][0]["delta"]["content"], end="", flush=True)
                written = True
            elif kind == "error":
                print(f"\nОшибка: {item['error']['message']}", file=sys.stderr)
                return False
            answered = answered or kind == "end"
    print("\n\nСтраницы, из которых взят ответ:" if links else "")
    for title, url in links:
        print(f"  {title}\n    {url}")
    return answered and written


def stay(server: Running) -> int:
    print(
        f"\nСервер работает. В Open WebUI: Admin Settings → Connections → OpenAI API → добавить\n"
        f"  URL  {server.url}\n  Key  {server.key}\n"
        f'и в Headers: {{"X-User-Groups": "{{{{USER_GROUPS}}}}", "X-Task": "{{{{TASK}}}}"}}\n'
        f"Журнал: {server.log.relative_to(ROOT)}. Остановить: Ctrl+C.",
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
