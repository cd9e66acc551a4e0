"""A copy of the project with its ``.env`` filled as README says, an export, and the directory's files."""

from __future__ import annotations

import re
import secrets
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.compose.model import MODELS, PORT
from tests.e2e.directory import ADMIN, ADMIN_PASSWORD, BASE, configuration, entries
from tests.e2e.scenes import WIKI_URL

ROOT = Path(__file__).resolve().parents[2]
WIKI = ROOT / "tests" / "wiki" / "xml"
LEFT_OUT = shutil.ignore_patterns(".venv*", ".git", ".askwiki", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis")
ADMIN_EMAIL = "admin@example.com"
SECRETS = ("PIPELINES_API_KEY", "QDRANT_KEY", "QDRANT_READ_KEY", "WEBUI_SECRET_KEY", "LLM_KEY", "WEBUI_ADMIN_PASSWORD")


def lay(folder: Path, port: int) -> dict[str, str]:
    """Make the project's folder ready for ``up``; what was filled into ``.env``."""
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT, symlinks=True)
    values = {
        **{name: secrets.token_hex(16) for name in SECRETS},
        "WEBUI_ADMIN_EMAIL": ADMIN_EMAIL,
        "WIKI_URL": WIKI_URL,
        "SOURCE": "xml:/export/wiki.zip",
        "SYNC_INTERVAL": "20",
        "CHAT_PORT": f"127.0.0.1:{port}",
        "LLM_URL": f"http://model:{PORT}/v1",
        **{f"LLM_MODEL_{role.upper()}": role for role in MODELS},
        "ENABLE_LDAP": "true",
        "LDAP_HOST": "directory",
        "LDAP_PORT": "389",
        "LDAP_TLS": "false",
        "LDAP_BIND_DN": ADMIN,
        "LDAP_BIND_PASSWORD": ADMIN_PASSWORD,
        "LDAP_BASE": BASE,
        "LDAP_USER_ATTRIBUTE": "uid",
    }
    fill(folder, values)
    write_export(folder)
    people = folder / "directory"
    people.mkdir()
    (people / "slapd.conf").write_text(configuration("/tmp/database"), encoding="utf-8")
    (people / "people.ldif").write_text(entries(), encoding="utf-8")
    return values


def fill(folder: Path, values: Mapping[str, str]) -> None:
    """``.env`` from the example, as an admin fills it in; a second time: from what is there."""
    there = folder / ".env"
    text = (there if there.exists() else folder / ".env.example").read_text(encoding="utf-8")
    for name, value in values.items():
        text, found = re.subn(rf"^{name}=.*$", lambda _, line=f"{name}='{value}'": line, text, flags=re.MULTILINE)
        if not found:
            raise KeyError(f"{name} is not in .env.example")
    there.write_text(text, encoding="utf-8")


def write_export(folder: Path, sentence: str = "") -> None:
    """The sample wiki as a zip in ``export/``, put there in one step; ``sentence`` = what somebody added to a page."""
    export = folder / "export"
    export.mkdir(exist_ok=True)
    half = export / "wiki.half"
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(WIKI.rglob("*")):
            if file.is_file():
                content = file.read_bytes()
                if file.name == "entities.xml" and sentence:
                    content = _edited(content.decode(), sentence).encode()
                packed.writestr(str(file.relative_to(WIKI)), content)
    half.chmod(0o644)
    half.replace(export / "wiki.zip")


def _edited(entities: str, sentence: str) -> str:
    """The page of the statuses with a sentence more before its table."""
    table = entities.index("<p>DRAFT</p>")
    start = entities.rindex("<table", 0, table)
    return f"{entities[:start]}<p>{sentence}</p>{entities[start:]}"
