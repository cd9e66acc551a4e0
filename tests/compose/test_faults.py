"""What breaks in the compose file, part after part: what the employee sees, and what is still there afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

from tests.compose.engine import START_SECONDS
from tests.compose.place import fill
from tests.compose.scenes import REFUND
from tests.compose.test_use import ratings
from tests.compose.world import LASTING, World
from tests.e2e.browser import Chat
from tests.e2e.test_chat import open_valves, save_valves
from tests.support.waiting import until

pytestmark = pytest.mark.compose
ANSWER = "в течение 3 рабочих дней"
NO_SEARCH = "Поиск по вики сейчас недоступен, поэтому ответить не могу. Попробуйте через несколько минут."
NO_MODEL = "Языковая модель сейчас недоступна, поэтому вместо ответа приведены выдержки из вики."


@pytest.fixture
def chat(here: World) -> Iterator[Chat]:
    window = here.sitting("m.sokolov").open()
    yield window
    window.page.close()


@pytest.fixture(scope="module", autouse=True)
def kept(here: World) -> Iterator[None]:
    """Whatever the tests of this file break: accounts, ratings, valves and index are as they were before."""
    here.project.await_health(*LASTING)
    use(here, "Плохой ответ")
    before = state(here)
    yield
    assert state(here) == before


def use(here: World, rating: str) -> Chat:
    """What is to be kept comes to be: an employee asks and rates, the admin turns a valve. The employee's window."""
    here.project.await_indexed()
    window = here.sitting("m.sokolov").open()
    window.ask_and_wait(REFUND.question)
    window.page.get_by_label(rating).click()
    until(lambda: ratings(here), "the rating is kept", every=0.5)
    panel = here.panel()
    open_valves(panel)
    panel.page.get_by_role("switch").nth(1).click()
    save_valves(panel)
    return window


def state(here: World) -> dict[str, object]:
    people = here.admin().call("GET", "/api/v1/users/all").json()["users"]
    return {
        "accounts": sorted(one["email"] for one in people),
        "ratings": sorted(ratings(here)),
        "valves": here.project.run("pipelines", "cat", "/app/pipelines/wiki_answer/valves.json"),
        "chunks": [line for line in here.project.run("indexer", "python", "-c", COUNT).splitlines() if line.isdigit()],
    }


COUNT = (
    "import os; from askwiki.configuration import load_configuration; from askwiki.store import open_reader; "
    "print(open_reader(load_configuration(os.environ).settings.store).count())"
)


@contextmanager
def stopped(here: World, service: str) -> Iterator[None]:
    here.project.compose("stop", "--timeout", "2", service)
    try:
        yield
    finally:
        here.project.compose("start", service)
        if service in LASTING:
            here.project.await_health(service)


def answers(chat: Chat, wanted: str, what: str) -> None:
    """A part that has failed is left alone for a moment: it is asked again until it is back."""

    def once() -> bool:
        said = chat.open().ask_and_wait(REFUND.question).inner_text()
        return wanted in said or wanted in chat.statuses()

    until(once, what, seconds=START_SECONDS, every=1.0)


def test_without_the_language_model_the_wiki_is_quoted(here: World, chat: Chat) -> None:
    with stopped(here, "model"):
        answers(chat, NO_MODEL, "the missing model is told")
        assert here.project.doctor()["llm"] == "failure"
    answers(chat, ANSWER, "the model is back")


def test_without_the_store_that_is_said(here: World, chat: Chat) -> None:
    with stopped(here, "qdrant"):
        answers(chat, NO_SEARCH, "the missing store is told")
        assert here.project.doctor()["store"] == "failure"
    answers(chat, ANSWER, "the store is back")


@pytest.mark.parametrize("service", ["qdrant", "indexer", "pipelines"])
def test_a_container_whose_process_dies_comes_back_by_itself(here: World, chat: Chat, service: str) -> None:
    begun = here.project.container(service)["State"]["StartedAt"]
    here.project.kill(service)
    until(lambda: here.project.container(service)["State"]["StartedAt"] > begun, f"{service} starts", every=0.5)
    here.project.await_health(service)
    answers(chat, ANSWER, f"{service} is back")


def test_open_webui_started_without_our_server_has_the_model_once_it_comes_and_nobody_saves_anything(
    here: World, chat: Chat
) -> None:
    with stopped(here, "pipelines"):
        here.project.compose("restart", "--timeout", "5", "open-webui")
        here.project.await_health("open-webui")
        chat.page.goto(chat.url)
        expect(chat.page.locator("#chat-input")).to_be_visible()
    answers(chat, ANSWER, "the model is back")


def test_a_wrong_password_and_a_directory_that_is_gone_are_told_at_the_login(here: World) -> None:
    stranger = here.stranger()
    assert refusal(stranger, "a.belova", "wrong")
    with stopped(here, "directory"):
        assert refusal(stranger, "a.belova", "belova-secret")


def refusal(chat: Chat, user: str, password: str) -> str:
    chat.page.goto(chat.url)
    chat.page.locator("#username").fill(user)
    chat.page.locator("input[type=password]").fill(password)
    with chat.page.expect_response(lambda answer: "/auths/ldap" in answer.url) as told:
        chat.page.keyboard.press("Enter")
    assert told.value.status >= 400
    return str(told.value.json()["detail"])


def test_a_wrong_key_of_the_model_is_named_by_the_doctor_and_the_wiki_is_quoted(here: World, chat: Chat) -> None:
    right = here.env["LLM_KEY"]
    try:
        changed(here, {"LLM_KEY": "wrong"})
        answers(chat, NO_MODEL, "the refused key is told")
        assert here.project.doctor()["llm"] == "failure"
        assert "ASKWIKI_LLM_KEY" in here.project.run("pipelines", "python", "-m", "askwiki", "doctor", check=False)
    finally:
        changed(here, {"LLM_KEY": right})
    answers(chat, ANSWER, "the right key is back")


def changed(here: World, values: dict[str, str]) -> None:
    """What an admin does after a change of ``.env``, but for the model itself, which keeps the key it has."""
    fill(here.project.folder, values)
    here.project.compose("up", "--detach", "--no-deps", "pipelines")
    here.project.await_health("pipelines")


def test_a_host_that_was_rebooted_is_as_before(here: World, chat: Chat) -> None:
    here.project.compose("down", "--timeout", "5")
    here.project.compose("up", "--detach")
    here.project.await_health(*LASTING)
    answers(chat, ANSWER, "everything is back")
