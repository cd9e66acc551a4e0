"""Ratings out of Open WebUI: over real HTTP, in the form its API was seen to give them."""

from __future__ import annotations

import argparse
import csv
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest

from askwiki.commands import feedback as feedback_command
from askwiki.data import Turn
from askwiki.errors import AskWikiError, SettingsError
from askwiki.evaluate.questions import read_questions
from askwiki.openwebui.feedback import drafts, to_mend, to_write, trend, trend_rows
from askwiki.openwebui.ratings import RatedSource, mask, read_ratings
from askwiki.openwebui.topics import topics

TOKEN, ADMIN, PASSWORD = "jwt-of-the-admin", "admin@example.com", "secret"
MONDAY = 1_764_547_200  # 2025-12-01 00:00 UTC


def source(title: str, url: str) -> dict[str, Any]:
    return {
        "source": {"id": "wiki-1-65631", "name": title, "url": url},
        "document": ["…"],
        "metadata": [{"source": "wiki-1-65631", "name": title}],
    }


STATUSES = source("Перевод › Статусы", "https://wiki.example.com/display/PAY/Statuses#list")


def entry(
    number: int,
    rating: int,
    question: str,
    *,
    sources: tuple[dict[str, Any], ...] = (STATUSES,),
    refused: str = "",
    days: int = 0,
    model: str = "wiki_answer",
    before: tuple[tuple[str, str], ...] = (),
    **data: Any,
) -> dict[str, Any]:
    """One element of the export; the snapshot holds the whole chat, other branches included."""
    messages: dict[str, Any] = {"other": {"id": "other", "parentId": None, "role": "user", "content": "личное"}}
    parent = None
    for place, (role, content) in enumerate(before):
        name = f"b{place}"
        messages[name] = {"id": name, "parentId": parent, "role": role, "content": content}
        parent = name
    messages["u"] = {"id": "u", "parentId": parent, "role": "user", "content": question}
    usage = {"total_tokens": 9, "askwiki": {"request": f"r{number}", "refused": refused, "settings": "5e77"}}
    messages["a"] = {
        "id": "a", "parentId": "u", "role": "assistant", "content": f"Ответ {number} [1].",
        "sources": list(sources), "usage": usage, "statusHistory": [],
    }  # fmt: skip
    return {
        "id": f"f{number}",
        "user_id": "3f1c9a52-0d3b-4c58-a7b8-1f3f6f0d8b11",
        "version": 0,
        "type": "rating",
        "data": {"rating": rating, "model_id": model, "sibling_model_ids": None, **data},
        "meta": {"model_id": model, "message_id": "a", "message_index": 1, "chat_id": "c", "base_models": {}},
        "snapshot": {"chat": {"id": "c", "chat": {"history": {"messages": messages, "currentId": "a"}}}},
        "created_at": MONDAY + days * 86_400,
        "updated_at": MONDAY + days * 86_400,
    }


EXPORT = [
    entry(
        2, -1, "Какие статусы у перевода?", days=8, reason="not_factually_correct",
        comment="неверно, пишите i.frolov@example.com", details={"rating": 3}, tags=["переводы"],
    ),
    entry(1, 1, "Сколько идёт перевод?", details={"rating": 9}),
    entry(3, -1, "Где график отпусков на 2027 год?", sources=(), refused="nothing_found", days=8),
    entry(4, 1, "Когда график отпусков на следующий год?", sources=(), refused="insufficient", days=9),
    entry(5, -1, "А за границу?", before=(("user", "Сколько идёт перевод?"), ("assistant", "Один день.")), days=9),
    entry(6, -1, "О чём другой помощник?", model="gpt", days=9),
    {"id": "f7", "type": "rating", "data": {"rating": 1}, "meta": {"message_id": "a"}, "snapshot": None,
     "user_id": "u", "created_at": MONDAY},
    {"id": "f8", "type": "arena"},
]  # fmt: skip


class OpenWebUi(BaseHTTPRequestHandler):
    """Signs an admin in and exports ratings, as Open WebUI 0.12 does."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        right = self.path == "/api/v1/auths/signin" and body == {"email": ADMIN, "password": PASSWORD}
        self._send(200 if right else 400, {"token": TOKEN} if right else {"detail": "wrong"})

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path != "/api/v1/evaluations/feedbacks/all/export":
            self._send(404, {})
        elif self.headers["Authorization"] not in (f"Bearer {TOKEN}", "Bearer sk-admin"):
            self._send(401, {"detail": "401 Unauthorized"})
        else:
            wanted = parse_qs(parts.query).get("model_id", [""])[0]
            self._send(200, [each for each in EXPORT if not wanted or each.get("data", {}).get("model_id") == wanted])

    def _send(self, code: int, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """A test prints nothing."""


@pytest.fixture
def webui() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), OpenWebUi)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def as_admin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBUI_API_KEY", raising=False)
    monkeypatch.setenv("WEBUI_ADMIN_EMAIL", ADMIN)
    monkeypatch.setenv("WEBUI_ADMIN_PASSWORD", PASSWORD)


def pull(*words: str) -> int:
    parser = argparse.ArgumentParser()
    feedback_command.arguments(parser)
    return feedback_command.run(parser.parse_args(["pull", *words]))


def test_a_rating_is_joined_with_question_answer_sources_and_log() -> None:
    ratings, faults = read_ratings(EXPORT, people=False)
    assert [rating.id for rating in ratings] == ["f1", "f2", "f3", "f4", "f5", "f6"]
    bad = ratings[1]
    assert (bad.question, bad.answer, bad.good, bad.score) == ("Какие статусы у перевода?", "Ответ 2 [1].", False, 3)
    assert bad.sources == (RatedSource("Перевод › Статусы", "https://wiki.example.com/display/PAY/Statuses#list"),)
    assert (bad.time, bad.week, bad.space) == ("2025-12-09T00:00:00+00:00", "2025-W50", "PAY")
    assert (bad.request, bad.settings) == ("r2", "5e77")
    assert (bad.reason, bad.tags) == ("not_factually_correct", ("переводы",))
    assert len(faults) == 1
    assert faults[0].startswith("Rating f7 could not be joined with its chat: ")


def test_personal_data_stays_out_unless_asked_for() -> None:
    ratings, _ = read_ratings(EXPORT, people=False)
    assert ratings[1].user == "0c11b448ba5f"
    assert ratings[1].comment == "неверно, пишите [e-mail]"
    open_ones, _ = read_ratings(EXPORT, people=True)
    assert open_ones[1].user == "3f1c9a52-0d3b-4c58-a7b8-1f3f6f0d8b11"
    assert open_ones[1].comment == "неверно, пишите i.frolov@example.com"
    assert mask("звоните +7 (912) 345-67-89 или 8 912 345 67 89, счёт 40817810") == (
        "звоните [телефон] или [телефон], счёт 40817810"
    )


def test_only_a_follow_up_keeps_what_was_said_before() -> None:
    ratings, _ = read_ratings(EXPORT, people=False)
    assert {rating.id: rating.history for rating in ratings if rating.history} == {
        "f5": (Turn("user", "Сколько идёт перевод?"), Turn("assistant", "Один день."))
    }


def test_bad_ratings_become_drafts_that_no_run_counts(tmp_path: Path) -> None:
    ratings, _ = read_ratings(EXPORT, people=False)
    lines = list(drafts(ratings))
    assert [(line["id"], line["kind"]) for line in lines] == [
        ("rated-f2", "rated"), ("rated-f3", "rated"), ("rated-f5", "followup"), ("rated-f6", "rated"),
    ]  # fmt: skip
    assert lines[0]["note"] == "not_factually_correct · неверно, пишите [e-mail]"
    file = tmp_path / "drafts.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    questions, faults = read_questions(file)
    assert questions == []
    assert faults[0] == "Line 1: is a draft; correct it and take out the mark draft."


def test_refusals_are_grouped_by_topic_and_bad_answers_by_page() -> None:
    ratings = [rating for rating in read_ratings(EXPORT, people=False)[0] if rating.model == "wiki_answer"]
    (topic,) = to_write(ratings)
    assert [rating.id for rating in topic.items] == ["f3", "f4"]
    (mend,) = to_mend(ratings)
    assert (mend.title, mend.url) == ("Перевод › Статусы", "https://wiki.example.com/display/PAY/Statuses")
    assert [rating.id for rating in mend.ratings] == ["f2", "f5"]


def test_questions_of_one_topic_meet_and_others_stay_apart() -> None:
    asked = [
        "Как заказать пропуск для гостя?",
        "Где посмотреть расчётный лист?",
        "Заказать пропуск гостю на выходной",
        "Пропуск на гостя: кто заказывает",
        "расчётный лист за май",
    ]
    grouped = topics(asked, str)
    assert [topic.items for topic in grouped] == [(asked[0], asked[2], asked[3]), (asked[1], asked[4])]
    assert grouped[0].name in grouped[0].items


def test_the_trend_counts_weeks_and_spaces() -> None:
    ratings = [rating for rating in read_ratings(EXPORT, people=False)[0] if rating.model == "wiki_answer"]
    assert trend(ratings) == {
        "2025-W49": {"": (1, 1), "PAY": (1, 1)},
        "2025-W50": {"": (1, 4), "PAY": (0, 2), "–": (1, 2)},
    }
    assert trend_rows(ratings) == [
        ["week", "all", "PAY", "–"],
        ["2025-W49", "100% of 1", "100% of 1", ""],
        ["2025-W50", "25% of 4", "0% of 2", "50% of 2"],
    ]


@pytest.mark.usefixtures("as_admin")
def test_pull_fetches_over_http_and_writes_every_file(
    webui: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pull("--url", webui + "/", "--model", "wiki_answer", "--out", str(tmp_path)) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("5 ratings, 2 of them good.\n")
    assert printed.endswith(f"1 topics to write about, 1 pages to mend: {tmp_path}/pages.md\n")
    lines = [json.loads(line) for line in (tmp_path / "ratings.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["question"] for line in lines][:2] == ["Сколько идёт перевод?", "Какие статусы у перевода?"]
    assert lines[1]["sources"] == [
        {"title": "Перевод › Статусы", "url": "https://wiki.example.com/display/PAY/Statuses#list"}
    ]
    with (tmp_path / "ratings.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    assert [row["rating"] for row in rows] == ["1", "-1", "-1", "1", "-1"]
    assert (rows[1]["space"], rows[1]["score"], rows[2]["space"]) == ("PAY", "3", "")
    pages = (tmp_path / "pages.md").read_text(encoding="utf-8")
    assert "### [Перевод › Статусы](https://wiki.example.com/display/PAY/Statuses) (2)\n- Какие статусы" in pages
    assert "личное" not in pages + (tmp_path / "ratings.jsonl").read_text(encoding="utf-8")
    ElementTree.parse(tmp_path / "trend.svg")
    assert len((tmp_path / "drafts.jsonl").read_text(encoding="utf-8").splitlines()) == 3


def test_an_api_key_serves_as_well_and_since_cuts_off(
    webui: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEBUI_API_KEY", "sk-admin")
    assert pull("--url", webui, "--since", "2025-12-10", "--out", str(tmp_path)) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith("3 ratings, 1 of them good.\n")
    assert printed.err.startswith("Rating f7 could not be joined")


def test_what_is_missing_is_one_sentence(webui: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WEBUI_API_KEY", "WEBUI_ADMIN_EMAIL", "WEBUI_ADMIN_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SettingsError, match="Set WEBUI_API_KEY"):
        pull("--url", webui, "--out", str(tmp_path))
    monkeypatch.setenv("WEBUI_API_KEY", "sk-of-a-user")
    with pytest.raises(AskWikiError, match="no admin's"):
        pull("--url", webui, "--out", str(tmp_path))
    with pytest.raises(AskWikiError, match="does not answer"):
        pull("--url", "http://127.0.0.1:9", "--out", str(tmp_path))
    assert list(tmp_path.iterdir()) == []
