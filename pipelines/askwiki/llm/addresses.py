"""Where a language model is asked: ``llm.url`` in all the forms that people paste, Azure's among them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from askwiki.errors import SettingsError

_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
_AZURE_VERSION = "2024-10-21"  # the newest of the classic interface that is no preview
_DEPLOYMENTS = "/openai/deployments/"
# What is pasted from an example call instead of the base address: it is cut off.
_CALLS = re.compile(r"(?:/chat/completions|/completions|(?<=/v1)/models)\Z")
# Interfaces of other kinds, by the end of the path; most servers with one of them have ours as well.
_OTHERS = ("/api/chat", "/api/generate", "/api/tags", "/api", "/generate", "/embeddings", "/responses", "/rerank")


@dataclass(frozen=True, slots=True)
class Address:
    """One server: ``url`` is what ``/chat/completions`` is added to."""

    url: str
    query: tuple[tuple[str, str], ...] = ()
    azure: bool = False  # the key goes into ``api-key``
    classic: bool = False  # of Azure: the model is a deployment and stands in the path
    model: str = field(default="")  # the deployment that the address names

    def path(self, model: str) -> str:
        """Where ``model`` is asked, below ``url``."""
        return f"/deployments/{model}/chat/completions" if self.classic else "/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        bearer = {"Authorization": f"Bearer {key}"} if key else {}
        if not self.azure or not key:
            return bearer
        return {"api-key": key} if self.classic else {"api-key": key, **bearer}


def addresses(setting: str) -> list[Address]:
    """The servers of ``llm.url``; what cannot be one raises SettingsError with the right address."""
    return [_address(url) for url in filter(None, (part.strip() for part in setting.split(",")))]


def _address(url: str) -> Address:
    try:
        parts = urlsplit(url)
    except ValueError:  # half a bracket
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise SettingsError(f"llm.url holds {url!r}; it must be like http://host:8080/v1.")
    query = tuple(parse_qsl(parts.query))
    path = parts.path.rstrip("/")
    before, classic, behind = path.partition(_DEPLOYMENTS)
    deployment = behind.partition("/")[0]
    if classic and deployment:
        if not any(name == "api-version" for name, _ in query):
            right = f"{_with(parts, path)}?{urlencode({'api-version': _AZURE_VERSION})}"
            raise SettingsError(f"llm.url holds {url!r}, an address of Azure without its version; write {right}.")
        return Address(_with(parts, f"{before}/openai"), query, azure=True, classic=True, model=deployment)
    path = _CALLS.sub("", path)
    if other := next((end for end in _OTHERS if path.endswith(end)), ""):
        right = _with(parts, f"{path.removesuffix(other).removesuffix('/v1')}/v1")
        raise SettingsError(f"llm.url holds {url!r}, which is not where chats are asked; write {right}.")
    azure = (parts.hostname or "").endswith(_AZURE_HOSTS)
    if azure and path in ("", "/openai", "/v1"):
        path = "/openai/v1"
    elif azure and path.endswith("/deployments"):
        right = f"{_with(parts, path)}/NAME?{urlencode({'api-version': _AZURE_VERSION})}"
        raise SettingsError(f"llm.url holds {url!r}, an address of Azure without a deployment; write {right}.")
    return Address(_with(parts, path or "/v1"), query, azure=azure or any(name == "api-version" for name, _ in query))


def _with(parts: SplitResult, path: str) -> str:
    return f"{parts.scheme}://{parts.netloc}{path}"
