"""The page for grading by hand, in a real browser: keys, memory, and a saved file that is read back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")

from playwright.sync_api import Page, Playwright

from askwiki.evaluate.outcome import Grade, Link
from askwiki.evaluate.reports.review import HumanGrade, read_sheet
from askwiki.evaluate.reports.review_page import review_page
from askwiki.texts import load_texts
from tests.e2e.browser import chromium
from tests.support.outcomes import outcome

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).resolve().parents[2]
TEXTS = load_texts(ROOT / "config" / "texts")

ANSWER = """Перевод за границу идёт **три рабочих дня** [1].

| Способ | Срок |
|---|---|
| на карту | 1 день |
| на счёт | 3 дня |

Если партнёр не подтвердил получение, перевод остаётся в статусе «отправлен партнёру» [2]."""

RUN = [
    outcome(
        "kb-007",
        question="А сколько идёт перевод за границу?",
        dialogue="user: Сколько идёт перевод по стране?\nassistant: Один день.",
        asked="Сколько дней идёт перевод за границу на счёт?",
        reference="Три рабочих дня на счёт, один — на карту.",
        answer=ANSWER,
        links=(
            Link("Переводы › Сроки", "https://wiki.example.com/pages/65631#sroki", True, True),
            Link("Переводы › Список статусов", "https://wiki.example.com/pages/65631#statusy", True, False),
            Link("Злая ссылка", "javascript:alert(1)"),
        ),
        grades=(Grade(2, "Оба срока названы и совпадают с эталоном."),),
    ),
    outcome("kb-008", answer="<b>Не</b> нашёл ответа.", answerable=False, reference="", grades=(Grade(0, "Выдумка."),)),
    outcome("kb-009", grades=()),
]


@pytest.fixture
def page(tools: Playwright, tmp_path: Path) -> Iterator[Page]:
    file = tmp_path / "review.html"
    file.write_text(review_page(RUN, name="run", texts=TEXTS, language="ru"), encoding="utf-8")
    failures: list[str] = []
    with chromium(tools, {}) as browser:
        shown = browser.new_page(viewport={"width": 1280, "height": 860})
        shown.on("pageerror", lambda error: failures.append(str(error)))
        shown.on("request", lambda request: failures.append(request.url) if "file:" not in request.url else None)
        shown.goto(file.as_uri())
        await_paint(shown)
        yield shown
    assert [failure for failure in failures if not failure.startswith("blob:")] == []


def await_paint(page: Page) -> None:
    """Chromium drops keys that are pressed before a page has been drawn for the first time."""
    page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def test_grades_are_given_by_keys_remembered_and_saved(page: Page, tmp_path: Path) -> None:
    assert page.inner_text("#question") == "А сколько идёт перевод за границу?"
    assert page.inner_text("#dialogue") == "user: Сколько идёт перевод по стране?\nassistant: Один день."
    assert page.inner_text("#judge") == TEXTS.say("review_hidden", "ru")
    page.keyboard.press("2")
    assert page.inner_text("#judge") == "2 — Оба срока названы и совпадают с эталоном."
    page.screenshot(path=str(tmp_path / "graded.png"))
    if screens := os.environ.get("E2E_SCREENS"):
        shutil.copy(tmp_path / "graded.png", Path(screens) / "review-page.png")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#answer") == "<b>Не</b> нашёл ответа."
    page.keyboard.press("0")
    page.keyboard.press("1")
    page.keyboard.press("c")
    page.keyboard.type("отказ 2 с догадкой")
    page.keyboard.press("Escape")
    page.reload()
    await_paint(page)
    page.keyboard.press("n")
    assert page.inner_text("#question") == "Вопрос kb-009?"
    with page.expect_download() as saved:
        page.keyboard.press("s")
    saved.value.save_as(tmp_path / "review.json")
    sheet = read_sheet(tmp_path / "review.json")
    assert sheet.faults == ()
    assert sheet.grades == (
        HumanGrade("kb-007", 2, "", "review.json"),
        HumanGrade("kb-008", 1, "отказ 2 с догадкой", "review.json"),
    )


def test_only_web_addresses_become_links(page: Page) -> None:
    anchors = page.locator("#links a")
    assert [anchors.nth(place).get_attribute("href") for place in range(3)] == [
        "https://wiki.example.com/pages/65631#sroki",
        "https://wiki.example.com/pages/65631#statusy",
        None,
    ]
