"""The pictures of the pages: ``make e2e`` takes them anew into docs/pictures; with E2E_SCREENS empty, only takes.

What they show is asserted in ``test_chat.py``; here, that they can be taken in every form and stay small.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

from tests.e2e.browser import PHONE, SOURCE_CHIP, WIDE, Chat
from tests.e2e.scenes import CANCEL, REFUND, STATUSES
from tests.e2e.world import ADMIN, World
from tests.support.running import ROOT

pytestmark = pytest.mark.e2e
LONG, LONGER = (WIDE[0], 1100), (WIDE[0], 1480)  # a whole form, a whole answer with its diagram
MOST_BYTES = 150_000  # of a kept picture


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return ROOT / os.environ["E2E_SCREENS"] if os.environ.get("E2E_SCREENS") else tmp_path


def take(chat: Chat, file: Path) -> None:
    """One picture; the pointer is out of the way, and what was announced is gone."""
    chat.page.mouse.move(2, 2)
    expect(chat.page.locator("[data-sonner-toast]")).to_have_count(0)
    chat.shot(file)
    assert file.stat().st_size < MOST_BYTES


def test_light(here: World, folder: Path) -> None:
    with here.sitting("a.belova", size=LONGER) as chat:
        chat.open()
        expect(chat.page.get_by_role("button", name="Как оформить отпуск?")).to_be_visible()
        chat.ask_and_wait(STATUSES.question)
        expect(chat.answer.locator("svg[id^=mermaid]")).to_be_visible()
        chat.to_the_top()
        take(chat, folder / "chat-light.png")


def test_dark_with_a_follow_up(here: World, folder: Path) -> None:
    with here.sitting("m.sokolov", dark=True) as chat:
        chat.open().ask_and_wait(REFUND.question)
        chat.ask_and_wait(CANCEL.question)
        chat.statuses()
        take(chat, folder / "chat-dark.png")


def test_progress_on_a_phone(here: World, folder: Path) -> None:
    with here.sitting("m.sokolov", size=PHONE) as chat:
        chat.open().ask(STATUSES.question)
        expect(chat.status).to_have_text(re.compile(r"Проверяю \d+ из 16…"))
        take(chat, folder / "chat-phone-progress.png")
        chat.finished()
        expect(chat.answer.locator("svg[id^=mermaid]")).to_be_visible()
        chat.to_the_top()
        take(chat, folder / "chat-phone.png")


def test_a_source(here: World, folder: Path) -> None:
    with here.sitting("m.sokolov") as chat:
        chat.open().ask_and_wait(REFUND.question)
        chat.answer.locator(SOURCE_CHIP).first.click()
        expect(chat.page.get_by_role("dialog").get_by_text("Содержание")).to_be_visible()
        take(chat, folder / "source.png")


def test_the_valves(here: World, folder: Path) -> None:
    with here.sitting(ADMIN, size=LONG) as chat:
        chat.page.goto(f"{chat.url}/admin/settings/pipelines")
        expect(chat.page.get_by_role("switch").first).to_be_visible()
        take(chat, folder / "valves.png")
