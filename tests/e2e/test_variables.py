"""Every variable that the compose file gives Open WebUI is one that the installed release reads."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.e2e.stack import WEBUI
from tests.support.running import ROOT

pytestmark = pytest.mark.e2e
READ_BY_PYTHON = {"NO_PROXY", "no_proxy"}  # by its HTTP libraries


def test_every_variable_of_the_chat_is_read_by_the_installed_release() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    (package,) = WEBUI.glob("lib/python*/site-packages/open_webui")
    read = {
        name
        for file in package.rglob("*.py")
        for name in re.findall(r"['\"]([A-Z][A-Z0-9_]{3,})['\"]", file.read_text(encoding="utf-8"))
    }
    assert set(services["open-webui"]["environment"]) - read - READ_BY_PYTHON == set()


def test_the_installed_release_is_the_one_of_the_compose_file() -> None:
    compose = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    installed = [folder.name for folder in WEBUI.glob("lib/python*/site-packages/open_webui-*.dist-info")]
    assert re.findall(r"open-webui:v([\d.]+)", compose) == [
        name.removeprefix("open_webui-").removesuffix(".dist-info") for name in installed
    ]
