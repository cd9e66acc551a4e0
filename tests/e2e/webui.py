"""A real Open WebUI on loopback, provisioned by the very environment that docker-compose.yml gives it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from askwiki.openwebui.provision import provision, sign_in
from tests.e2e.directory import ADMIN, ADMIN_PASSWORD, BASE
from tests.support.processes import await_url, process
from tests.support.running import reserved_port
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 420.0  # of a first start: migrations, and 30 to 60 s of imports on two idle cores
ADMIN_EMAIL = "admin@example.com"
_VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class RunningWebUi:
    """Where it listens and how its admin signs in."""

    url: str
    email: str
    password: str


def compose_environment(service: str, values: Mapping[str, str]) -> dict[str, str]:
    """What compose would set for ``service`` with ``values`` as its ``.env``; an unset required one raises."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]

    def fill(match: re.Match[str]) -> str:
        name, operator, rest = match.groups()
        if values.get(name):
            return values[name]
        if operator == "?":
            raise KeyError(rest)
        return rest or ""

    return {name: _VARIABLE.sub(fill, str(value)) for name, value in services[service]["environment"].items()}


@contextlib.contextmanager
def webui(
    folder: Path,
    *,
    pipelines_url: str,
    key: str,
    ldap_port: int | None,
    program: Path,
    wiki_url: str,
    port: int | None = None,
) -> Iterator[RunningWebUi]:
    """Start it against our server (and the directory), wait, give the wiki model to every user."""
    password = secrets.token_urlsafe(16)
    values = {
        "PIPELINES_API_KEY": key,
        "WEBUI_SECRET_KEY": secrets.token_hex(32),
        "WIKI_URL": wiki_url,
        "WEBUI_ADMIN_EMAIL": ADMIN_EMAIL,
        "WEBUI_ADMIN_PASSWORD": password,
        "ENABLE_LDAP": "true" if ldap_port else "false",
        "LDAP_HOST": "127.0.0.1",
        "LDAP_PORT": str(ldap_port or 389),
        "LDAP_TLS": "false",
        "LDAP_BIND_DN": ADMIN,
        "LDAP_BIND_PASSWORD": ADMIN_PASSWORD,
        "LDAP_BASE": BASE,
        "LDAP_USER_ATTRIBUTE": "uid",
    }
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("ASKWIKI_", "PIPELINES_"))}
    environ |= compose_environment("open-webui", values)
    environ |= {
        "OPENAI_API_BASE_URLS": pipelines_url,
        "NO_PROXY": "127.0.0.1,localhost",
        "DATA_DIR": str(folder / "webui"),
        "HF_HUB_OFFLINE": "1",
    }
    json.loads(environ["OPENAI_API_CONFIGS"])  # a comma lost in the compose file shows here
    (folder / "webui").mkdir(parents=True, exist_ok=True)
    log = folder / "webui.log"
    with reserved_port() if port is None else contextlib.nullcontext(port) as port:
        url = f"http://127.0.0.1:{port}"
        with process([str(program), "serve", "--host", "127.0.0.1", "--port", str(port)], log, environ) as running:
            await_url(f"{url}/health", running, log, START_SECONDS)
            admin = sign_in(url, ADMIN_EMAIL, password, wait=PATIENCE)
            provision(admin, "wiki_answer", "Вики", "Отвечает по корпоративной вики со ссылками на страницы.")
            yield RunningWebUi(url, ADMIN_EMAIL, password)
