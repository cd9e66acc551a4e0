"""Headless Chromium and what a person does in the chat: sign in, ask, look at the answer."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright, expect

from tests.e2e.directory import EMPLOYEES

# As root Chromium needs no-sandbox; the others keep the browser itself from looking for the internet.
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
PATIENCE = 60.0  # seconds for anything on the screen, on a busy machine
WIDE, PHONE = (1280, 860), (390, 844)
SOURCE_CHIP = 'button[aria-label^="Просмотреть источник"]'
SOURCES_BUTTON = 'button[aria-label^="Показать/скрыть"][aria-label*="источник"]'


@contextlib.contextmanager
def chromium(tools: Playwright, hosts: dict[str, int]) -> Iterator[Browser]:
    """A browser for which each of ``hosts`` is a port of this machine, and no other name exists."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if program is None:
        raise RuntimeError("Chromium is missing: apt-get install chromium")
    rules = [f"MAP {host}:80 127.0.0.1:{port}" for host, port in hosts.items()]
    rules.append("MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")
    browser = tools.chromium.launch(executable_path=program, args=[*FLAGS, f"--host-resolver-rules={', '.join(rules)}"])
    try:
        yield browser
    finally:
        browser.close()


@dataclass(frozen=True, slots=True)
class Chat:
    """One window of one person."""

    url: str
    page: Page

    def open(self) -> Chat:
        """An empty chat, ready for a question."""
        self.page.goto(self.url)
        self.page.locator("#chat-input").wait_for()
        return self

    def ask(self, question: str) -> None:
        self.page.locator("#chat-input").click()
        self.page.keyboard.type(question)
        self.page.keyboard.press("Enter")

    def ask_and_wait(self, question: str) -> Locator:
        """The finished answer."""
        answers = self.page.locator(".chat-assistant").count()
        self.ask(question)
        return self.finished(answers + 1)

    @property
    def answer(self) -> Locator:
        return self.page.locator(".chat-assistant").last

    @property
    def stop(self) -> Locator:
        return self.page.get_by_role("button", name="Остановить")

    @property
    def status(self) -> Locator:
        return self.page.locator(".status-description").last

    def finished(self, answers: int = 1) -> Locator:
        """The last of so many answers, once it can be rated: then it has come to its end."""
        expect(self.page.get_by_label("Плохой ответ")).to_have_count(answers)
        return self.answer

    def statuses(self) -> list[str]:
        """Every line of progress that the last answer showed, first to last."""
        self.status.click()
        lines = self.answer.locator(".status-description")
        expect(lines.nth(1)).to_be_visible()
        return [line.strip() for line in lines.all_inner_texts()][1:]

    def to_the_top(self) -> None:
        """The question and the beginning of its answer."""
        self.page.locator("#messages-container").evaluate("box => box.scrollTo(0, 0)")

    def shot(self, file: Path) -> None:
        """A screenshot of what is seen, small enough to be kept."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(file), animations="disabled")


def person(browser: Browser, hosts: set[str]) -> BrowserContext:
    """A browser of somebody's own; every host that a page of it asks for anything is added to ``hosts``."""
    context = browser.new_context(locale="ru-RU")
    context.set_default_timeout(1000 * PATIENCE)
    context.on("request", lambda request: hosts.add(urlsplit(request.url).hostname or ""))
    return context


def window(context: BrowserContext, url: str, *, size: tuple[int, int] = WIDE, dark: bool = False) -> Chat:
    page = context.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme="dark" if dark else "light")
    return Chat(url, page)


def sign_in_by_directory(chat: Chat, user: str) -> None:
    """The form that a fresh browser shows: domain account and password."""
    employee = next(employee for employee in EMPLOYEES if employee.user == user)
    chat.page.goto(chat.url)
    chat.page.locator("#username").fill(employee.user)
    chat.page.locator("input[type=password]").fill(employee.password)
    chat.page.keyboard.press("Enter")
    chat.page.locator("#chat-input").wait_for()


def sign_in_by_email(chat: Chat, email: str, password: str) -> None:
    """The admin's way in; the first time Open WebUI shows an admin what is new in it."""
    chat.page.goto(chat.url)
    chat.page.get_by_text("Продолжить с Email").click()
    chat.page.locator("#email").fill(email)
    chat.page.locator("input[type=password]").fill(password)
    chat.page.keyboard.press("Enter")
    chat.page.get_by_role("button", name="Давайте начнём!").click()
    chat.page.locator("#chat-input").wait_for()
