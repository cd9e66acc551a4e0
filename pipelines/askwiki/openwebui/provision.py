"""Gives the wiki model its name, readers and capabilities in Open WebUI, through its admin API.

Open WebUI shows a model without a record of its own to admins only, and has no variable for it.
Running this again changes nothing; it is what the one-shot container of the compose file runs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from askwiki.errors import AskWikiError
from askwiki.masking import echoed, remember

# What the chat must not do to a wiki model: each of these adds text, tools or files to the request.
CAPABILITIES = {
    "builtin_tools": False,
    "file_context": False,
    "file_upload": False,
    "vision": False,
    "web_search": False,
    "image_generation": False,
    "code_interpreter": False,
    "terminal": False,
    "citations": True,
    "status_updates": True,
}
EVERYBODY = [{"principal_type": "user", "principal_id": "*", "permission": "read"}]
CALL_SECONDS = 20.0
FUNCTION = Path(__file__).with_name("function_file.py")


@dataclass(frozen=True, slots=True)
class WebUi:
    """An Open WebUI as its admin sees it. ``url`` without a trailing slash."""

    url: str
    token: str

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> requests.Response:
        """One request; a server that does not answer is a sentence, an answer of 4xx is returned."""
        try:
            return requests.request(
                method,
                self.url + path,
                json=body,
                timeout=CALL_SECONDS,
                headers={"Authorization": f"Bearer {self.token}"},
            )
        except requests.RequestException as error:
            raise AskWikiError(f"Open WebUI at {self.url} does not answer: {type(error).__name__}.") from error


def sign_in(url: str, email: str, password: str, *, wait: float) -> WebUi:
    """Sign in as admin; a server that is still starting is waited for, ``wait`` seconds at most."""
    url = url.rstrip("/")
    remember(password)
    deadline = time.monotonic() + wait
    while True:
        try:
            answer = requests.post(
                f"{url}/api/v1/auths/signin", json={"email": email, "password": password}, timeout=CALL_SECONDS
            )
            if answer.status_code < 500:
                break
        except requests.RequestException as error:
            if time.monotonic() > deadline:
                raise AskWikiError(f"Open WebUI at {url} does not answer: {type(error).__name__}.") from error
        if time.monotonic() > deadline:
            raise AskWikiError(f"Open WebUI at {url} is not ready after {wait:.0f} seconds.")
        time.sleep(1.0)
    if answer.status_code != 200:
        raise AskWikiError(
            f"Open WebUI refused the admin {email}: check WEBUI_ADMIN_EMAIL and WEBUI_ADMIN_PASSWORD "
            "(they act only on an empty database)."
        )
    token = str(answer.json()["token"])
    remember(token)
    return WebUi(url, token)


def provision(webui: WebUi, model_id: str, name: str, description: str, *, wait: float = 60.0) -> str:
    """Create or update the model's record: what was done, as a sentence."""
    _await_model(webui, model_id, wait)
    record = {
        "id": model_id,
        "base_model_id": None,
        "name": name,
        "meta": {"description": description, "capabilities": CAPABILITIES},
        "params": {},
        "access_grants": EVERYBODY,
        "is_active": True,
    }
    present = webui.call("GET", f"/api/v1/models/model?id={model_id}").status_code == 200
    path = "/api/v1/models/model/update" if present else "/api/v1/models/create"
    _expect(webui.call("POST", path, record), f"the model {model_id}")
    done = f"{name} ({model_id}) is {'up to date' if present else 'set up'} for every user."
    return " ".join(filter(None, [done, _groups_told_apart(webui)]))


def install_function(webui: WebUi, function_id: str, name: str, description: str, *, url: str, key: str) -> None:
    """Give Open WebUI the pipe function that asks the server at ``url``, switched on; renewed where it is there."""
    remember(key)
    form = {
        "id": function_id,
        "name": name,
        "content": FUNCTION.read_text(encoding="utf-8"),
        "meta": {"description": description},
    }
    place = f"/api/v1/functions/id/{function_id}"
    present = webui.call("GET", place).status_code == 200
    steps = [("POST", f"{place}/update" if present else "/api/v1/functions/create", form)]
    steps.append(("POST", f"{place}/valves/update", {"url": url, "key": key}))
    for method, path, body in steps:
        _expect(webui.call(method, path, body), f"the function {function_id}")
    record = webui.call("GET", place)
    _expect(record, f"the function {function_id}")
    if not record.json().get("is_active"):
        _expect(webui.call("POST", f"{place}/toggle"), f"the function {function_id}")


def _expect(answer: requests.Response, what: str) -> None:
    if answer.status_code != 200:
        raise AskWikiError(f"Open WebUI did not take {what}: {answer.status_code} {echoed(answer.text, 200)}")


def _groups_told_apart(webui: WebUi) -> str:
    """What to add to a connection that sends the names of groups without their ids; empty when nothing is."""
    answer = webui.call("GET", "/openai/config")
    configs = answer.json().get("OPENAI_API_CONFIGS", {}) if answer.status_code == 200 else {}
    for config in configs.values() if isinstance(configs, dict) else ():
        headers = config.get("headers") if isinstance(config, dict) else None
        sent = [str(value) for value in headers.values()] if isinstance(headers, dict) else []
        if "{{USER_GROUPS}}" in sent and "{{USER_GROUP_IDS}}" not in sent:
            return (
                'Its connection sends the groups without their ids: add the header "X-User-Group-Ids": '
                '"{{USER_GROUP_IDS}}", or people in more than one group count as in none.'
            )
    return ""


def _await_model(webui: WebUi, model_id: str, wait: float) -> None:
    """The pipelines server may start later than Open WebUI, and the list of models is cached there."""
    deadline = time.monotonic() + wait
    while True:
        answer = webui.call("GET", "/api/models?refresh=true")
        models = [model["id"] for model in answer.json().get("data", [])] if answer.status_code == 200 else []
        if model_id in models:
            return
        if time.monotonic() > deadline:
            seen = ", ".join(models) or "none"
            raise AskWikiError(
                f"Open WebUI does not list the model {model_id} (it lists: {seen}). "
                "Check OPENAI_API_BASE_URLS and that OPENAI_API_KEYS equals PIPELINES_API_KEY."
            )
        time.sleep(1.0)
