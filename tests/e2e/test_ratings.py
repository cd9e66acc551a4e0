"""Ratings given through a real Open WebUI arrive in the export with question, answer and sources."""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from askwiki.commands import feedback
from askwiki.data import Answer, Source
from askwiki.openwebui import events as openwebui
from askwiki.openwebui.provision import WebUi, sign_in
from tests.e2e.webui import RunningWebUi

if TYPE_CHECKING:  # playwright is there for the marked tests only
    from tests.e2e.world import World

pytestmark = pytest.mark.e2e

MODEL = "wiki_answer"
STATUSES = Source(
    1, "wiki-1-65631", "Статусы перевода", "http://wiki.example.com/display/PAY/Statusy", "Статус показывает…"
)


@pytest.fixture
def chat(here: World) -> RunningWebUi:
    return here.stack.webui


def rate(admin: WebUi, question: str, answer: Answer, rating: int, **data: Any) -> None:
    """What the browser does at a thumb: the chat is saved, then rated with a copy of itself."""
    sources = [openwebui.source(source)["event"]["data"] for source in answer.sources]
    usage = openwebui.usage(answer, "r-1")["usage"]
    asked = {"id": "u", "parentId": None, "childrenIds": ["a"], "role": "user", "content": question}
    said = {
        "id": "a", "parentId": "u", "childrenIds": [], "role": "assistant", "model": MODEL, "done": True,
        "content": answer.text, "sources": sources, "usage": usage,
    }  # fmt: skip
    history = {"messages": {"u": asked, "a": said}, "currentId": "a"}
    made = admin.call("POST", "/api/v1/chats/new", {"chat": {"title": "t", "models": [MODEL], "history": history}})
    assert made.status_code == 200, made.text
    meta = {"model_id": MODEL, "message_id": "a", "message_index": 1, "chat_id": made.json()["id"], "base_models": {}}
    body = {"type": "rating", "data": {"rating": rating, "model_id": MODEL, **data}, "meta": meta}
    given = admin.call("POST", "/api/v1/evaluations/feedback", {**body, "snapshot": {"chat": made.json()}})
    assert given.status_code == 200, given.text


def test_ratings_arrive_with_question_answer_and_sources(
    chat: RunningWebUi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = sign_in(chat.url, chat.email, chat.password, wait=30)
    good = Answer("Девять статусов [1].", (STATUSES,), timings={"search": 0.02}, settings="5e77")
    bad = Answer("В вики об этом ничего нет.", refused="nothing_found")
    rate(admin, "Какие статусы у перевода?", good, 1, details={"rating": 9})
    rate(admin, "Где столовая?", bad, -1, reason="refused_when_it_shouldnt_have", comment="Есть же!")
    monkeypatch.delenv("WEBUI_API_KEY", raising=False)
    monkeypatch.setenv("WEBUI_ADMIN_EMAIL", chat.email)
    monkeypatch.setenv("WEBUI_ADMIN_PASSWORD", chat.password)
    parser = argparse.ArgumentParser()
    feedback.arguments(parser)
    words = ["pull", "--url", chat.url, "--model", MODEL, "--out", str(tmp_path)]
    assert feedback.run(parser.parse_args(words)) == 0
    lines = (tmp_path / "ratings.jsonl").read_text(encoding="utf-8").splitlines()
    ratings = {line["question"]: line for line in map(json.loads, lines)}
    liked, disliked = ratings["Какие статусы у перевода?"], ratings["Где столовая?"]
    assert (liked["answer"], liked["good"], liked["score"]) == ("Девять статусов [1].", True, 9)
    assert liked["sources"] == [{"title": "Статусы перевода", "url": STATUSES.url}]
    assert (liked["request"], liked["refused"], liked["settings"]) == ("r-1", "", "5e77")
    assert (disliked["refused"], disliked["comment"], disliked["sources"]) == ("nothing_found", "Есть же!", [])
    with (tmp_path / "ratings.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert {row["space"] for row in csv.DictReader(stream, delimiter=";")} == {"PAY", ""}
    assert "### Где столовая? (1)" in (tmp_path / "pages.md").read_text(encoding="utf-8")
