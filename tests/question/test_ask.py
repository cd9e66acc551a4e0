"""``python -m askwiki ask``: one question from the command line, over a real embedded store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from askwiki.commands.ask import answer_json, identity_of, read_history, trace_json
from askwiki.data import Answer, Candidate, Identity, LegHit, Question, Trace, Turn
from askwiki.errors import AskWikiError
from tests.support.small_wiki import chunk

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("user", "groups", "identity"),
    [
        ("", "", Identity()),
        ("a@b.c", "", Identity(id="a@b.c", email="a@b.c", name="a@b.c", known=True)),
        ("", "hr, it ,", Identity(groups=("hr", "it"), known=True)),
    ],
)
def test_who_asks(user: str, groups: str, identity: Identity) -> None:
    assert identity_of(user, groups) == identity


@pytest.mark.parametrize(
    "text",
    [
        '[{"role": "user", "content": "А?"}, {"role": "assistant", "content": "Б."}]',
        '{"role": "user", "content": "А?"}\n\n{"role": "assistant", "content": "Б."}\n',
    ],
)
def test_a_history_is_a_list_or_lines(tmp_path: Path, text: str) -> None:
    file = tmp_path / "history.json"
    file.write_text(text, encoding="utf-8")
    assert read_history(file) == (Turn("user", "А?"), Turn("assistant", "Б."))
    assert read_history(None) == ()


@pytest.mark.parametrize("text", ["no json", '[{"role": "user"}]', '["a"]', "5"])
def test_a_history_of_another_form_is_one_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "history.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(AskWikiError, match="must be a JSON list of objects with role and content"):
        read_history(file)


def test_a_history_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(AskWikiError, match="cannot be read: No such file"):
        read_history(tmp_path / "none.json")


def test_the_json_tells_every_stage() -> None:
    found = Candidate(chunk("a", "текст"), 1.23456, {"sparse": LegHit(2, 7.65432)}, rerank=0.5, verdict="yes")
    trace = Trace(Question("Что?"), (found,), (found,), (found,))
    told = answer_json(Answer("Да.", degraded=("x",), timings={"search": 0.123456}, trace=trace))
    assert told["candidates"] == {
        "found": [
            {
                "id": "a",
                "page": "a",
                "title": "Страница a",
                "path": ["База знаний"],
                "headings": [],
                "url": "https://wiki.example.com/a",
                "score": 1.2346,
                "legs": {"sparse": {"rank": 2, "score": 7.6543}},
            }
        ],
        "gated": [{"id": "a", "rerank": 0.5}],
        "judged": [{"id": "a", "verdict": "yes"}],
    }
    assert (told["question"]["text"], told["answer"], told["degraded"], told["timings"]) == (
        "Что?",
        "Да.",
        ["x"],
        {"search": 0.1235},
    )
    assert json.loads(json.dumps(told))["passages"] == trace_json(trace)["passages"] == []


# --- the command itself ---------------------------------------------------------------------------


def command(store: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ASKWIKI_")}
    environment |= {
        "ASKWIKI_STORE_PATH": str(store),
        "ASKWIKI_CONFIG": str(ROOT / "config"),
        "ASKWIKI_SEARCH__TIMEOUT": "60",  # a busy machine must not take a part out of the question
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'pipelines'}",
        **variables,
    }
    return subprocess.run(
        [sys.executable, "-m", "askwiki", *words], capture_output=True, text=True, env=environment, cwd=store.parent
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three pages of Markdown, indexed by the real command."""
    folder = tmp_path_factory.mktemp("ask")
    pages = {
        "limits": "# Лимиты переводов\n\nРазовый лимит перевода в Турцию 100 000 рублей.\n",
        "refund": "# Возврат перевода\n\nДеньги возвращают отправителю за 3 рабочих дня.\n",
        "leave": "# Отпуск\n\nЗаявку подают не позже чем за 14 календарных дней.\n",
    }
    (folder / "pages").mkdir()
    for name, text in pages.items():
        (folder / "pages" / f"{name}.md").write_text(text, encoding="utf-8")
    environment = {**os.environ, "ASKWIKI_STORE_PATH": str(folder / "store"), "ASKWIKI_CONFIG": str(ROOT / "config")}
    environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{ROOT / 'pipelines'}"
    subprocess.run(
        [sys.executable, "-m", "indexer", "sync", "--source", f"markdown:{folder / 'pages'}"],
        check=True,
        capture_output=True,
        env=environment,
        cwd=folder,
    )
    return folder / "store"


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_an_answer_with_its_page_and_progress_apart(store: Path) -> None:
    done = command(store, "ask", "Какой лимит перевода в Турцию?")
    assert done.returncode == 0, done.stderr
    assert "Разовый лимит перевода в Турцию 100 000 рублей." in done.stdout
    assert "1. Лимиты переводов" in done.stdout or "1. [Лимиты переводов]" in done.stdout
    assert done.stderr.splitlines()[0] == "… Читаю вопрос…"


def test_json_has_the_right_page_first_in_every_stage(store: Path) -> None:
    answer = told(command(store, "ask", "Какой лимит перевода в Турцию?", "--json"))
    best = answer["candidates"]["found"][0]
    assert (best["page"], best["legs"]["text"]["rank"], best["legs"]["sparse"]["rank"]) == ("limits.md", 1, 1)
    assert answer["passages"][0]["title"] == answer["sources"][0]["title"] == "Лимиты переводов"
    assert set(answer["timings"]) >= {"condense", "embed", "search", "passages", "answer", "total"}


def test_retrieval_alone_lists_pages_and_a_history_is_read(store: Path, tmp_path: Path) -> None:
    history = tmp_path / "history.json"
    said = [{"role": "user", "content": "Какой лимит перевода в Турцию?"}, {"role": "assistant", "content": "100 000."}]
    history.write_text(json.dumps(said), encoding="utf-8")
    words = ("ask", "А за сколько дней?", "--history", str(history), "--retrieval", "--json")
    answer = told(command(store, *words))
    assert answer["question"]["text"] == "Какой лимит перевода в Турцию? А за сколько дней?"
    assert "answer" not in answer
    listed = command(store, "ask", "отпуск", "--retrieval")
    assert listed.stdout.splitlines()[0].startswith("  1. Отпуск")


def test_an_index_that_is_empty_is_one_sentence(tmp_path: Path) -> None:
    answer = told(command(tmp_path / "none", "ask", "Какой лимит?", "--json"))
    assert answer["answer"].startswith("Индекс вики пока пуст.")


def test_an_address_where_nothing_listens_gives_excerpts_and_says_so(store: Path) -> None:
    answer = told(command(store, "ask", "Какой лимит перевода?", "--json", ASKWIKI_LLM_URL="http://127.0.0.1:9"))
    assert "Языковая модель сейчас недоступна, поэтому вместо ответа приведены выдержки из вики." in answer["degraded"]
    assert "100 000 рублей" in answer["answer"]


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"ASKWIKI_LLM_URL": "nonsense"}, "llm.url holds 'nonsense'"),
        ({"ASKWIKI_SEARCH__CANDIDATES": "many"}, "search.candidates"),
    ],
)
def test_a_wrong_setting_is_one_sentence_and_exit_code_2(
    tmp_path: Path, variables: dict[str, str], sentence: str
) -> None:
    done = command(tmp_path / "none", "ask", "Что?", **variables)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr and "Traceback" not in done.stderr
