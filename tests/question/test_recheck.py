"""The live wiki is asked once more for the pages found: it closes what it refuses, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from askwiki.access.recheck import refused_pages
from askwiki.data import Answer, Identity, Source, Status, Turn
from askwiki.doctor.rights import longest
from askwiki.doors.tools import TOOLS, Caller, WrongArguments
from askwiki.errors import StoreError
from askwiki.flow.ask import ask
from askwiki.request import Request
from askwiki.settings import AccessSettings, AnswerSettings, ConfluenceSettings, Settings, WikiSettings
from askwiki.store.port import Freshness
from tests.support.rest_wiki import Wiki, groups, page, restricted, serving, users
from tests.support.small_wiki import chunk, kit_of, with_settings

ANNA = Identity(email="anna@example.org", groups=("finance",), known=True)
NOBODY_KNOWN = Identity()


@pytest.fixture
def wiki() -> Iterator[Wiki]:
    pages = [
        page("1", "Открытая"),
        page("2", "Кадры", restrictions=restricted(("boss",), ("hr",))),
        page("3", "Финансы", restrictions=restricted((), ("Finance",))),
        page("4", "Анны", restrictions={"read": {"restrictions": {
            "user": {"results": [{"username": "a", "email": "Anna@example.org"}], "size": 1}, "group": groups()}}}),
    ]  # fmt: skip
    with serving(Wiki(pages, limit=50)) as served:
        yield served


def settings_for(wiki: Wiki, **access: Any) -> Settings:
    return Settings(
        wiki=WikiSettings(url=wiki.base),
        confluence=ConfluenceSettings(token=wiki.token),
        access=AccessSettings(recheck=True, recheck_timeout=access.pop("recheck_timeout", 30.0), **access),
        answer=AnswerSettings(refusal_threshold=0.0, low_confidence=0.0),
    )


def test_one_call_says_who_may_not_read_which_page(wiki: Wiki) -> None:
    settings = settings_for(wiki)
    assert refused_pages(["1", "2", "3", "4"], ANNA, settings) == {"2"}
    assert len(wiki.asked) == 1
    assert refused_pages(["1", "2", "3", "4"], NOBODY_KNOWN, settings) == {"2", "3", "4"}


def test_files_and_comments_are_asked_for_with_their_page(wiki: Wiki) -> None:
    assert refused_pages(["1!/акт.pdf", "2!/comments"], ANNA, settings_for(wiki)) == {"2!/comments"}


def test_only_numbers_are_asked_for(wiki: Wiki) -> None:
    assert refused_pages(["notes/a.md", "1) or (id > 0", "٢"], ANNA, settings_for(wiki)) == frozenset()
    assert wiki.asked == []


def test_a_restriction_above_the_page_counts_where_the_wiki_gives_it(wiki: Wiki) -> None:
    wiki.pages[0]["ancestors"] = [{"id": "9", "restrictions": restricted((), ("hr",))}, {"id": "8"}, None]
    assert refused_pages(["1"], ANNA, settings_for(wiki)) == {"1"}


@pytest.mark.parametrize(
    "part",
    [
        {**users("boss"), "size": 2},
        {**users("boss"), "_links": {"next": "/more"}},
        {"results": ["boss"]},
        {"results": None},
        None,
    ],
)
def test_what_is_not_a_whole_no_closes_nothing(wiki: Wiki, part: Any) -> None:
    wiki.pages[0]["restrictions"] = {"read": {"restrictions": {"user": part, "group": groups()}}}
    assert refused_pages(["1", "77"], ANNA, settings_for(wiki)) == frozenset()


@pytest.mark.parametrize("answer", [[], {"results": None}, {"results": [1, None]}, "text", None])
def test_an_odd_answer_is_an_error_or_says_nothing(wiki: Wiki, answer: Any) -> None:
    wiki.mutate = lambda _: answer
    try:
        assert refused_pages(["2"], ANNA, settings_for(wiki)) == frozenset()
    except StoreError as error:
        assert "could not be asked" in str(error) and wiki.token not in str(error)


WORDS = "Порядок отпуска: заявку подают за 14 дней."


def asked(settings: Settings) -> tuple[list[str], list[str], Answer]:
    kit = with_settings(kit_of([chunk("1", WORDS), chunk("2", f"{WORDS} Кадры.")], settings=settings))
    events = list(ask([Turn("user", "Как подают заявку на отпуск?")], ANNA, kit=kit))
    (answer,) = [event for event in events if isinstance(event, Answer)]
    statuses = [event.text for event in events if isinstance(event, Status)]
    return [event.url for event in events if isinstance(event, Source)], statuses, answer


def test_a_page_that_was_taken_since_the_last_sync_reaches_no_answer(wiki: Wiki) -> None:
    sources, statuses, answer = asked(settings_for(wiki))
    assert set(sources) == {"https://wiki.example.com/1"}
    assert "https://wiki.example.com/2" not in answer.text
    assert len(wiki.asked) == 1
    assert not any("права" in status for status in statuses)


def test_a_wiki_that_is_slow_costs_its_limit_and_the_index_decides(wiki: Wiki) -> None:
    def late() -> int:
        time.sleep(3.0)
        return 200

    wiki.moods = late
    began = time.monotonic()
    sources, statuses, answer = asked(settings_for(wiki, recheck_timeout=0.1))
    assert time.monotonic() - began < 3.0
    assert answer.trace and {passage.page_id for passage in answer.trace.passages} == {"1", "2"}
    assert "Перепроверить права в вики не удалось, действуют права из индекса." in statuses
    assert sources


def test_the_doctor_says_that_it_is_asked(wiki: Wiki) -> None:
    assert "once more (access.recheck)" in longest(settings_for(wiki))
    assert "once more" not in longest(Settings())


def test_pages_that_are_closed_for_the_age_of_their_rights_are_told_of() -> None:
    kit = kit_of([chunk("1", WORDS)])
    kit.reader.freshness = lambda: [Freshness("rest:a", "2020-01-01T00:00:00+00:00", 1, 1)]  # type: ignore[method-assign]
    events = list(ask([Turn("user", "Как подают заявку на отпуск?")], ANNA, kit=kit))
    assert any("прочитаны слишком давно" in event.text for event in events if isinstance(event, Status))


def test_switched_off_nothing_is_asked(wiki: Wiki) -> None:
    settings = settings_for(wiki)
    sources, _, _ = asked(Settings(wiki=settings.wiki, confluence=settings.confluence, answer=settings.answer))
    assert sources and wiki.asked == []


def read(settings: Settings, page: str) -> dict[str, Any]:
    kit = with_settings(kit_of([chunk("1", WORDS), chunk("2", WORDS)], settings=settings))
    return TOOLS["read"].work({"page": page}, Caller(kit, kit.settings, ANNA, Request(headers={})))


def test_the_tool_that_reads_a_page_asks_as_the_chat_does(wiki: Wiki) -> None:
    assert read(settings_for(wiki), "1")["text"] == WORDS
    with pytest.raises(WrongArguments, match="no page 2 that you may read"):
        read(settings_for(wiki), "2")


def test_a_wiki_that_does_not_answer_leaves_the_tool_the_rights_of_the_index_and_that_is_said(wiki: Wiki) -> None:
    wiki.mutate = lambda _: "text"
    found = read(settings_for(wiki), "2")
    assert (found["text"], found["note"]) == (
        WORDS,
        "Перепроверить права в вики не удалось, действуют права из индекса.",
    )
