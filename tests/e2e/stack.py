"""Everything the chat needs, for real, on loopback: sample index, our server, directory, Open WebUI."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.demo import PLACE as DEMO
from tests.demo import WIKI
from tests.e2e.directory import directory
from tests.e2e.webui import RunningWebUi, webui
from tests.support.running import ROOT, Running, environment, serving

PLACE = ROOT / ".askwiki" / "e2e"
WEBUI = ROOT / ".venv-webui"  # made by install.sh
PROGRAM = WEBUI / "bin" / "open-webui"
NOTHING_INDEXED = 2


@dataclass(frozen=True, slots=True)
class Stack:
    """The running parts; ``folder`` holds their logs, ``people`` = with a directory of employees."""

    webui: RunningWebUi
    server: Running
    folder: Path
    people: bool = True


def settings_of(place: Path, wiki_url: str, more: Mapping[str, str]) -> dict[str, str]:
    """The environment of indexer and server. Vectors are shared with the demo: the sample is the same."""
    return environment(
        ASKWIKI_STORE_PATH=str(place / "store"),
        ASKWIKI_SYNC__CACHE=str(DEMO / "cache"),
        ASKWIKI_WIKI_URL=wiki_url,
        **more,
    )


def index_sample(environ: Mapping[str, str]) -> None:
    """Bring the store to what the sample wiki holds; a second time costs a second.

    A store of an older version of this code is made anew, its vectors come out of the cache.
    """
    index(f"xml:{WIKI}", environ)


def index(source: str, environ: Mapping[str, str]) -> None:
    """Bring the store to what the source holds."""
    done = _sync(source, environ)
    if done.returncode == NOTHING_INDEXED and Path(environ["ASKWIKI_STORE_PATH"]).exists():
        shutil.rmtree(environ["ASKWIKI_STORE_PATH"])
        done = _sync(source, environ)
    if done.returncode >= NOTHING_INDEXED:
        raise RuntimeError(f"{source} could not be indexed:\n{done.stderr[-2000:]}")


def _sync(source: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "indexer", "sync", "--source", source]
    return subprocess.run(words, env=dict(environ), cwd=ROOT, check=False, capture_output=True, text=True)


@contextlib.contextmanager
def stack(folder: Path, environ: Mapping[str, str], *, port: int | None = None, people: bool = True) -> Iterator[Stack]:
    """Start all, the model provisioned; ``folder`` is the state of this run, ``port`` where the chat listens."""
    if not PROGRAM.exists():
        raise RuntimeError("Open WebUI is not installed: run bash tests/e2e/install.sh")
    plugins = folder / "pipelines"  # the admin panel writes valves beside the plugins: not into the checkout
    plugins.mkdir(parents=True, exist_ok=True)
    for file in (ROOT / "pipelines").glob("wiki_*.py"):
        shutil.copy(file, plugins)
    with (
        directory(folder) if people else contextlib.nullcontext() as ldap_port,
        serving({**environ, "PIPELINES_DIR": str(plugins)}, folder / "server.log") as server,
        webui(
            folder,
            pipelines_url=server.url,
            key=server.key,
            ldap_port=ldap_port,
            program=PROGRAM,
            wiki_url=environ.get("ASKWIKI_WIKI_URL") or "http://127.0.0.1",
            port=port,
        ) as chat,
    ):
        yield Stack(chat, server, folder, people)
