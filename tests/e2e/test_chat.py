"""The real chat in a real browser: Open WebUI, LDAP, our server, the sample wiki; only the model is scripted."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

from tests.e2e.browser import SOURCE_CHIP, SOURCES_BUTTON, Chat, sign_in_by_directory
from tests.e2e.scenes import (
    CANCEL,
    ENDLESS,
    FORMS,
    LAST_CITED,
    LAST_WORDS,
    PICTURE,
    REFUND,
    SALARY,
    SLOW,
    STATUSES,
    WIKI_URL,
)
from tests.e2e.world import ADMIN, HOME, World
from tests.support.running import ROOT, environment
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.e2e
STATUS_PAGE = f"{WIKI_URL}/pages/viewpage.action?pageId=65631"
REFUSAL = "Нашлись близкие страницы, но ответа на этот вопрос в них нет."


@pytest.fixture(scope="module")
def answered(here: World) -> Iterator[Chat]:
    """A chat with one whole answer; the tests that share it only look."""
    with here.sitting("a.belova") as chat:
        chat.open().ask_and_wait(STATUSES.question)
        yield chat


def test_an_employee_signs_in_with_the_domain_account_and_the_wiki_is_chosen(here: World) -> None:
    chat = here.stranger()
    sign_in_by_directory(chat, "a.belova")
    expect(chat.page.get_by_label("Выбранная модель: Вики")).to_be_visible()
    expect(chat.page.get_by_role("button", name="Как оформить отпуск?")).to_be_visible()
    chat.page.context.close()


def test_progress_is_seen_while_working_and_the_answer_arrives_bit_by_bit(sokolov: Chat) -> None:
    sokolov.ask(STATUSES.question)
    expect(sokolov.status).to_have_text(re.compile(r"Проверяю найденное: 0 из 16…|Проверяю \d+ из 16…"))
    expect(sokolov.answer).to_contain_text("Статус показывает, где сейчас деньги")
    assert "дольше 40 минут" not in sokolov.answer.inner_text()
    expect(sokolov.finished()).to_contain_text("дольше 40 минут")
    steps = [re.sub(r"Проверяю \d+ из", "Проверяю N из", line) for line in sokolov.statuses()]
    assert list(dict.fromkeys(steps)) == [
        "Читаю вопрос…",
        "Ищу в вики…",
        "Проверяю найденное: 0 из 16…",
        "Проверяю N из 16…",
        "Собираю источники…",
        "Пишу ответ…",
        "Готово, источников: 1",
    ]


def test_a_picture_of_the_page_is_drawn(answered: Chat) -> None:
    picture = answered.answer.locator("img[alt='Цвета статусов в АРМ']")
    expect(picture).to_have_attribute("src", PICTURE)
    answered.page.wait_for_function("img => img.complete && img.naturalWidth > 0", arg=picture.element_handle())


def test_a_diagram_is_drawn(answered: Chat) -> None:
    diagram = answered.answer.locator("svg[id^=mermaid]")
    expect(diagram).to_be_visible()
    expect(diagram).to_contain_text("Отправлен партнёру")


def test_a_numbered_source_opens_the_page_of_the_wiki(here: World, answered: Chat) -> None:
    answered.answer.locator(SOURCE_CHIP).first.click()
    title = answered.page.get_by_role("dialog").get_by_role("link", name="Статусы перевода", exact=True)
    with answered.page.context.expect_page() as opened:
        title.click()
    opened.value.wait_for_load_state()
    assert opened.value.url == STATUS_PAGE
    expect(opened.value.locator("#title-text")).to_contain_text("Статусы перевода")
    assert STATUS_PAGE.removeprefix(WIKI_URL) in here.wiki.opened
    opened.value.close()
    answered.page.keyboard.press("Escape")


def test_the_list_of_sources_has_one_line_a_page_with_each_section_that_is_cited(answered: Chat) -> None:
    expect(answered.answer.locator("ol > li")).to_have_count(1)
    links = answered.answer.locator("ol a")
    assert links.all_inner_texts() == ["Статусы перевода", "Список статусов", "Переходы"]
    first, *others = [link.get_attribute("href") or "" for link in links.all()]
    assert first == STATUS_PAGE and all(other.startswith(f"{STATUS_PAGE}#") for other in others)


def test_our_last_line_and_the_chip_of_the_chat_count_the_same_sources(answered: Chat) -> None:
    told = re.fullmatch(r"Готово, источников: (\d+)", answered.statuses()[-1])
    chip = re.search(r"\d+", answered.answer.locator(SOURCES_BUTTON).get_attribute("aria-label") or "")
    assert told and chip and told[1] == chip[0]


def test_a_chip_stands_in_every_form_of_text_beside_one_list_and_opens_what_is_cited(sokolov: Chat) -> None:
    answer = sokolov.ask_and_wait(FORMS.question)
    for form in ("strong", "em", "li", "td", "p"):
        expect(answer.locator(f"{form} {SOURCE_CHIP}").first).to_be_visible()
    assert "[1]" not in answer.inner_text()
    expect(answer.get_by_text("Источники", exact=True)).to_have_count(1)  # the model's own list has gone
    expect(answer.locator("ol > li")).to_have_count(1)
    answer.locator(f"p {SOURCE_CHIP}").last.click()
    expect(sokolov.page.get_by_role("dialog")).to_contain_text(LAST_CITED)


def test_a_follow_up_is_understood_from_the_conversation(here: World, sokolov: Chat) -> None:
    sokolov.ask_and_wait(REFUND.question)
    answer = sokolov.ask_and_wait(CANCEL.question)
    expect(answer).to_contain_text("Перевод в статусе SENT «Отправлен партнёру» отменить нельзя")
    assert sokolov.statuses()[1] == f"Понял так: {CANCEL.standalone}"


def test_a_rating_with_its_comment_reaches_the_reports(here: World, sokolov: Chat, tmp_path: Path) -> None:
    sokolov.ask_and_wait(REFUND.question)
    sokolov.page.get_by_label("Плохой ответ").click()
    sokolov.page.get_by_role("button", name="Оценка: 2 из 10").click()
    sokolov.page.get_by_role("button", name="Не соответствует действительности").click()
    sokolov.page.get_by_label("Дополнительные комментарии").fill("На деле пять дней")
    with sokolov.page.expect_response(re.compile("/evaluations/feedback/")) as saved:
        sokolov.page.get_by_role("main").get_by_role("button", name="Сохранить").click()
    assert saved.value.ok

    export = here.admin().call("GET", "/api/v1/evaluations/feedbacks/all/export").json()
    assert [row["data"]["rating"] for row in export if row["data"].get("comment") == "На деле пять дней"] == [-1]
    webui = here.stack.webui
    subprocess.run(
        [sys.executable, "-m", "askwiki", "feedback", "pull", "--url", webui.url, "--out", str(tmp_path)],
        env=environment(WEBUI_ADMIN_EMAIL=webui.email, WEBUI_ADMIN_PASSWORD=webui.password),
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    lines = (tmp_path / "ratings.jsonl").read_text(encoding="utf-8").splitlines()
    (rating,) = [line for line in map(json.loads, lines) if line["question"] == REFUND.question]
    assert (rating["comment"], rating["score"], rating["good"]) == ("На деле пять дней", 2, False)
    assert rating["sources"][0]["url"].startswith(f"{WIKI_URL}/pages/viewpage.action?pageId=65636")


def test_an_answer_goes_on_while_the_page_is_reloaded(sokolov: Chat) -> None:
    sokolov.ask(SLOW.question)
    expect(sokolov.answer).to_contain_text("Отпуск продлевается на дни больничного")
    assert LAST_WORDS not in sokolov.answer.inner_text()
    sokolov.page.reload()
    expect(sokolov.answer).to_contain_text(LAST_WORDS)
    expect(
        sokolov.finished().locator("ol a").get_by_text("Отпуск и больничный › Больничный", exact=True)
    ).to_be_visible()


def test_the_stop_button_ends_the_work_on_our_side(here: World, sokolov: Chat) -> None:
    sokolov.ask(ENDLESS.question)
    expect(sokolov.answer).to_contain_text("Согласуйте даты с руководителем")
    here.llm.gone.clear()
    stopped = here.counter("askwiki_cancelled_total")
    sokolov.stop.click()
    clicked = time.monotonic()
    assert here.llm.gone.wait(PATIENCE)  # the answer alone would take minutes
    print(f"the model's stream was closed {time.monotonic() - clicked:.1f} s after the click")
    until(lambda: here.counter("askwiki_cancelled_total") == stopped + 1, "one chat more was stopped")
    expect(sokolov.page.locator("#chat-input")).to_be_visible()
    expect(sokolov.answer.locator(".shimmer")).to_have_count(0)


def test_a_chat_that_is_stopped_while_it_searches_does_not_shimmer_for_ever(here: World, sokolov: Chat) -> None:
    sokolov.ask(STATUSES.question)
    expect(sokolov.status).to_have_text(re.compile(r"Проверяю \d+ из 16…"))
    sokolov.stop.click()
    expect(sokolov.stop).to_have_count(0)
    expect(sokolov.answer.locator(".shimmer")).to_have_count(0)
    sokolov.page.reload()
    expect(sokolov.status).to_be_visible()
    expect(sokolov.page.locator(".shimmer")).to_have_count(0)


def test_titles_are_written_without_a_search(here: World, sokolov: Chat) -> None:
    admin = here.admin()
    before = admin.call("GET", "/api/v1/tasks/config").json()
    questions, services = here.counter("askwiki_questions_total"), here.counter("askwiki_service_requests_total")
    switched_on = {"ENABLE_TITLE_GENERATION": True, "ENABLE_TAGS_GENERATION": True, "ENABLE_FOLLOW_UP_GENERATION": True}
    assert admin.call("POST", "/api/v1/tasks/config/update", {**before, **switched_on}).status_code == 200
    try:
        sokolov.ask_and_wait(REFUND.question)
        expect(sokolov.page.get_by_role("heading", name="Название от модели")).to_be_visible()
    finally:
        admin.call("POST", "/api/v1/tasks/config/update", before)
    assert here.counter("askwiki_questions_total") == questions + 1
    assert here.counter("askwiki_service_requests_total") >= services + 1


def test_a_restricted_page_is_seen_by_one_and_not_by_the_other(belova: Chat, sokolov: Chat) -> None:
    seen = belova.ask_and_wait(SALARY.question)
    expect(seen).to_contain_text("от 180 000 до 240 000 ₽")
    expect(seen.locator("ol a")).to_have_text("Вилки окладов")
    hidden = sokolov.ask_and_wait(SALARY.question)
    expect(hidden).to_contain_text(REFUSAL)
    assert "Вилки окладов" not in hidden.inner_text()
    assert "180" not in hidden.inner_text()


def test_a_valve_turned_in_the_panel_changes_the_next_answer(here: World, sokolov: Chat) -> None:
    judged = here.asked("relevance")
    with here.sitting(ADMIN) as panel:
        open_valves(panel)
        panel.page.get_by_role("switch").first.click()
        save_valves(panel)
    try:
        sokolov.ask_and_wait(REFUND.question)
        assert here.asked("relevance") == judged
        assert not any(line.startswith("Проверяю") for line in sokolov.statuses())
    finally:
        reset_valves(here)


def test_a_wrong_value_in_the_panel_is_told_to_the_admin_alone_and_costs_nothing(here: World, sokolov: Chat) -> None:
    with here.sitting(ADMIN) as panel:
        open_valves(panel)
        panel.page.get_by_role("button", name="Кандидаты").click()
        panel.page.locator("input[placeholder='Кандидаты']").fill("много")
        save_valves(panel)
    try:
        answer = sokolov.ask_and_wait(REFUND.question)
        expect(answer).to_contain_text("в течение 3 рабочих дней")
        told = "Неверное значение настройки в панели администратора не применено: Кандидаты: много"
        assert told not in sokolov.statuses()
        with here.sitting(ADMIN) as admin:
            admin.open().ask_and_wait(REFUND.question)
            assert admin.statuses()[0] == told
    finally:
        reset_valves(here)


@pytest.mark.usefixtures("answered")  # whose picture the wiki sends
def test_no_page_asks_a_foreign_host_for_anything(here: World) -> None:
    assert here.hosts == HOME


def open_valves(panel: Chat) -> None:
    panel.page.goto(f"{panel.url}/admin/settings/pipelines")
    expect(panel.page.get_by_role("switch").first).to_be_visible()


def save_valves(panel: Chat) -> None:
    with panel.page.expect_response(re.compile("/valves/update")) as saved:
        panel.page.get_by_role("dialog").get_by_role("button", name="Сохранить").click()
    assert saved.value.ok


def reset_valves(here: World) -> None:
    """All valves of the pipe as the settings have them."""
    server = here.stack.server
    requests.post(
        f"{server.url}/wiki_answer/valves/update", json={}, headers=server.headers, timeout=30
    ).raise_for_status()
