"""What ``make chat`` runs: the real Open WebUI on this machine, for a person to try.

With the sample wiki, or with ``SOURCE`` (KIND:PATH) of your own. ASKWIKI_LLM_URL (and the other ASKWIKI_LLM
variables) are respected; without them answers are quoted. With a source of your own all ASKWIKI variables are.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import NoReturn

from askwiki.errors import AskWikiError
from tests.demo import KEPT
from tests.e2e.directory import EMPLOYEES, is_installed
from tests.e2e.stack import NOTHING_INDEXED, PLACE, Stack, index_sample, settings_of, stack
from tests.e2e.wiki_site import wiki_site
from tests.support.running import ROOT

CHAT_PORT, WIKI_PORT = 3000, 3001  # the same every time: links in kept chats stay good
LOOK_SECONDS = 1.0


def main(environ: Mapping[str, str]) -> int:
    source = environ.get("SOURCE", "")
    place = PLACE.parent / ("chat-own" if source else "chat")
    place.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in environ.items() if name.startswith("ASKWIKI_" if source else KEPT)}
    with wiki_site(WIKI_PORT) as wiki:
        address = "" if source else f"http://127.0.0.1:{wiki.port}"  # of your own wiki: ASKWIKI_WIKI_URL
        settings = {**settings_of(place, address, {}), **kept}
        print(f"Индексирую {source or 'пример вики'} …", flush=True)
        index_own(source, settings) if source else index_sample(settings)
        print("Запускаю Open WebUI (в первый раз около минуты) …", flush=True)
        # A new database each time: its passwords are as new as the key of the server.
        shutil.rmtree(place / "run", ignore_errors=True)
        with stack(place / "run", settings, port=CHAT_PORT, people=is_installed()) as running:
            print(greeting(running, bool(environ.get("ASKWIKI_LLM_URL")), sample=not source), flush=True)
            while running.server.process.poll() is None:
                time.sleep(LOOK_SECONDS)
            return 1


def index_own(source: str, settings: Mapping[str, str]) -> None:
    """Bring the store to what the source holds; progress and ledger are seen."""
    words = [sys.executable, "-m", "indexer", "sync", "--source", source]
    if subprocess.run(words, env=dict(settings), cwd=ROOT, check=False).returncode >= NOTHING_INDEXED:
        raise RuntimeError(f"{source} could not be indexed, see above.")


def greeting(running: Stack, with_model: bool, *, sample: bool) -> str:
    """Where to go, who to be, what to ask."""
    chat = running.webui
    lines = [f"\nЧат работает: {chat.url}", "", "Войти можно так:"]
    if running.people:
        lines += [f"  {person.user:<18} {person.password:<24} {', '.join(person.groups)}" for person in EMPLOYEES]
    else:
        lines.append("  (учётные записи LDAP появятся, если установить slapd и ldap-utils)")
    lines += [
        f"  {chat.email:<18} {chat.password:<24} администратор: «Продолжить с Email»",
    ]
    if sample:
        lines += [
            "",
            "Спросите: «Какие статусы бывают у перевода?»",
            "Права видны на вопросе «Какой оклад у аналитика?»",
        ]
    if not with_model:
        lines.append("Языковой модели нет, поэтому вместо ответа — выдержки. С моделью: ASKWIKI_LLM_URL=… make chat")
    lines.append(f"Журналы: {running.folder}. Остановить: Ctrl+C.")
    return "\n".join(lines)


def _end(*_: object) -> NoReturn:
    """A closed terminal ends what was started, as Ctrl+C does."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    for ending in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(ending, _end)
    try:
        sys.exit(main(os.environ))
    except KeyboardInterrupt:
        sys.exit(0)
    except (AskWikiError, RuntimeError, OSError) as error:
        sys.exit(f"chat: {error}")
