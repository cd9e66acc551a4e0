"""A day with the whole compose file: who works there, an employee, an admin, a page that is edited in the wiki."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

from tests.compose.engine import START_SECONDS
from tests.compose.place import write_export
from tests.compose.scenes import EDITED, NEWS, REFUND, STATUSES
from tests.compose.world import LASTING, OURS, World
from tests.e2e.browser import SOURCE_CHIP
from tests.e2e.test_chat import open_valves, save_valves
from tests.support.waiting import until

pytestmark = pytest.mark.compose
USER = 10001
# What the browser would send if its menu still had the entry.
SHARE = """async () => (await fetch(`/api/v1/chats/${location.pathname.split('/').pop()}/share`, {
    method: 'POST', body: '{}',
    headers: {'Content-Type': 'application/json', Authorization: `Bearer ${localStorage.token}`}})).status"""


def test_our_containers_are_an_ordinary_user_without_a_right_to_spare(here: World) -> None:
    for service in OURS:
        config = here.project.container(service)["HostConfig"]
        assert (config["ReadonlyRootfs"], config["CapDrop"], config["Privileged"]) == (True, ["ALL"], False)
        lines = here.project.run(service, "cat", "/proc/1/status").splitlines()
        status = dict(line.split(":\t") for line in lines if ":\t" in line)
        assert set(status["Uid"].split()) == {str(USER)}
        assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd")} == {0}
        assert status["NoNewPrivs"] == "1"
        assert "Read-only" in here.project.run(service, "sh", "-c", "touch /app/x 2>&1; true")


def test_everything_is_healthy_and_the_doctor_finds_no_failure(here: World) -> None:
    assert {service: here.project.health(service) for service in LASTING} == dict.fromkeys(LASTING, "healthy")
    here.project.await_indexed()
    assert set(here.project.doctor().values()) == {"ok"}


def test_an_employee_signs_in_asks_sees_progress_answer_and_sources_and_rates(here: World) -> None:
    before = len(ratings(here))
    stranger = here.stranger()
    stranger.page.goto(stranger.url)
    stranger.page.locator("#username").wait_for()
    here.shot(stranger, "login")
    chat = here.sitting("m.sokolov").open()
    expect(chat.page.get_by_label("Выбранная модель: Вики")).to_be_visible()
    chat.ask(STATUSES.question)
    expect(chat.status).to_have_text(re.compile(r"Проверяю"))
    expect(chat.finished()).to_contain_text("дольше 40 минут")
    expect(chat.answer.locator(SOURCE_CHIP).first).to_be_visible()
    assert chat.statuses()[-1] == "Готово, источников: 1"
    chat.to_the_top()
    here.shot(chat, "answer")
    chat.page.get_by_label("Хороший ответ").click()
    until(lambda: len(ratings(here)) == before + 1, "the rating is kept", every=0.5)


def test_a_valve_that_the_admin_turns_changes_the_next_answer_and_outlives_a_restart(here: World) -> None:
    panel = here.panel()
    open_valves(panel)
    panel.page.get_by_role("switch").first.click()
    here.shot(panel, "valve")
    save_valves(panel)
    assert not judges(here)
    here.project.compose("restart", "--timeout", "5", "pipelines")
    here.project.await_health("pipelines")
    assert not judges(here)
    open_valves(panel)
    panel.page.get_by_role("switch").first.click()
    save_valves(panel)
    assert judges(here)


def test_a_page_edited_in_the_wiki_is_answered_from_after_the_next_run_of_the_schedule(here: World) -> None:
    write_export(here.project.folder, NEWS)
    read = re.compile(r"read, 1 indexed")
    until(lambda: read.search(here.project.log("indexer")), "the export is read", seconds=START_SECONDS, every=2.0)
    chat = here.sitting("m.sokolov").open()
    expect(chat.ask_and_wait(EDITED.question)).to_contain_text("живёт сорок пять минут")
    assert chat.statuses()[-1] == "Готово, источников: 1"


def test_a_chat_is_not_shared_by_link(here: World) -> None:
    chat = here.sitting("m.sokolov").open()
    chat.ask_and_wait(REFUND.question)
    assert chat.page.evaluate(SHARE) in (401, 403)


def judges(here: World) -> bool:
    """Whether the language model judges what was found, the switch that was turned."""
    chat = here.sitting("a.belova").open()
    chat.ask_and_wait(REFUND.question)
    judged = any(line.startswith("Проверяю") for line in chat.statuses())
    chat.page.close()
    return judged


def ratings(here: World) -> list[int]:
    export = here.admin().call("GET", "/api/v1/evaluations/feedbacks/all/export").json()
    return [row["data"]["rating"] for row in export]
