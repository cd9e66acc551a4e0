"""A real Qdrant server for the tests marked ``server``: the one ``ASKWIKI_QDRANT_URL`` names, else the one on PATH."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import requests

from askwiki.settings import StoreSettings
from askwiki.store.qdrant.versions import TESTED
from tests.support.running import reserved_port
from tests.support.waiting import PATIENCE

HOW = (
    "no Qdrant server: put `qdrant` on PATH, or run `docker run -p 6333:6333 -p 6334:6334 "
    f"qdrant/qdrant:v{TESTED}` and set ASKWIKI_QDRANT_URL=http://127.0.0.1:6333"
)
START_SECONDS = 60.0


def binary() -> str:
    return shutil.which("qdrant") or ""


@dataclass
class Qdrant:
    """One server of our own: a folder, two ports on loopback, settings as variables. It can be killed and come back."""

    folder: Path
    port: int
    grpc_port: int
    variables: dict[str, str] = field(default_factory=dict)
    scheme: str = "http"
    host: str = "127.0.0.1"
    words: Sequence[str] = ()  # of the command line
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    def settings(self, **fields: object) -> StoreSettings:
        values = {"collection": "wiki", "grace": 0.0, "batch": 2, "retries": 1, "grpc_port": self.grpc_port, **fields}
        return StoreSettings(qdrant_url=self.url, **values)  # type: ignore[arg-type]

    def is_idle(self) -> bool:
        """Whether no collection is being optimized: until then it frees and takes room of its own accord."""
        found = requests.get(f"{self.url}/collections", timeout=PATIENCE).json()["result"]["collections"]
        states = (requests.get(f"{self.url}/collections/{each['name']}", timeout=PATIENCE).json() for each in found)
        return all(state["result"]["status"] == "green" for state in states)

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        own = {
            "QDRANT__STORAGE__STORAGE_PATH": str(self.folder / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(self.folder / "snapshots"),
            "QDRANT__SERVICE__HOST": self.host,
            "QDRANT__SERVICE__HTTP_PORT": str(self.port),
            "QDRANT__SERVICE__GRPC_PORT": str(self.grpc_port),
            "QDRANT__TELEMETRY_DISABLED": "true",
            "QDRANT__LOG_LEVEL": "WARN",
        }
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [binary(), *self.words], cwd=self.folder, env={**os.environ, **own, **self.variables},
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self._await()

    def _await(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while self.process and self.process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(urllib.error.URLError, OSError):
                if self.scheme == "https":
                    with socket.create_connection((self.host, self.port), 1):
                        return
                with urllib.request.urlopen(f"{self.url}/readyz", timeout=2):
                    return
            time.sleep(0.1)
        raise RuntimeError(f"qdrant did not start:\n{(self.folder / 'log').read_text(errors='replace')[-2000:]}")

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(30)
        self.process = None


@contextlib.contextmanager
def running(folder: Path, *, scheme: str = "http", **variables: str) -> Iterator[Qdrant]:
    """A server of its own for the length of the block, ended by its pid."""
    with reserved_port() as port, reserved_port() as grpc_port:
        server = Qdrant(folder, port, grpc_port, variables, scheme)
        server.start()
        try:
            yield server
        finally:
            server.end()
