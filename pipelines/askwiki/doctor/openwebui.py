"""The chat beside us: which Open WebUI works, and whether the one that is there does."""

from __future__ import annotations

import re

import requests

from askwiki.doctor.llm import Line

# Of its change log: custom headers carry groups since 0.11.0; since 0.11.4 names beyond ASCII arrive in them whole,
# and a citation amid bold or italic text keeps its chip.
OLDEST, TESTED = (0, 11, 4), "0.12.4"
WITH_GROUPS = (0, 11, 0)
SECONDS = 5.0
_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})")


def probe_chat(url: str) -> Line:
    """``GET /api/version`` of the Open WebUI at ``url``; without an address the versions that work."""
    needed = f"Open WebUI {_written(OLDEST)} or newer works, {TESTED} was tested"
    if not url:
        return "chat", "ok", f"{needed}; doctor --webui ADDRESS looks at yours.", ""
    try:
        answer = requests.get(f"{url.rstrip('/')}/api/version", timeout=SECONDS)
        answer.raise_for_status()
        said = _VERSION.match(str(answer.json()["version"]))
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        return (
            "chat",
            "warning",
            f"Open WebUI at {url} does not tell its version: {type(error).__name__}.",
            f"{needed}.",
        )
    if said is None:
        return "chat", "warning", f"Open WebUI at {url} tells no version of three numbers.", f"{needed}."
    version = tuple(int(part) for part in said.groups())
    if version >= OLDEST:
        return "chat", "ok", f"Open WebUI {_written(version)}; {TESTED} was tested.", ""
    lost = "groups with Cyrillic names do not arrive, and numbers of sources in bold text vanish"
    if version < WITH_GROUPS:
        lost = "it sends no groups at all, so that people see public pages only"
    return (
        "chat",
        "warning",
        f"Open WebUI {_written(version)} is too old: {lost}.",
        f"Take {_written(OLDEST)} or newer.",
    )


def _written(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
