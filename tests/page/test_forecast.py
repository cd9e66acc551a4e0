"""How long a run will take: when it is said, and from which pace."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

import pytest

from askwiki.logs import set_up_logging
from indexer.sync.forecast import EVERY, FIRST, forecast, span


def said(moments: Sequence[tuple[float, int]], total: int = 1000) -> list[str]:
    """What is said of a run that had done so many pages at those seconds."""
    sentences: list[str] = []
    now = 0.0
    progress = forecast("wiki", sentences.append, clock=lambda: now)
    for moment, done in moments:
        now = moment
        progress(done, total)
    return sentences


def test_nothing_is_said_of_a_run_that_is_over_at_once() -> None:
    assert said([(FIRST - 1, 999), (FIRST + 1, 1000)]) == []


def test_the_first_word_comes_after_some_pages_and_the_next_after_minutes() -> None:
    found = said([(FIRST - 1, 5), (FIRST, 10), (FIRST + EVERY - 1, 90), (FIRST + EVERY, 100)])
    assert found == [
        "wiki: 10 of 1000 pages, about 33 min left at the pace of the last 20 s.",
        "wiki: 100 of 1000 pages, about 30 min left at the pace of the last 3 min.",
    ]


def test_pages_that_cost_nothing_at_the_beginning_do_not_promise_the_rest_for_nothing() -> None:
    found = said([(FIRST, 500), (FIRST + EVERY, 518)])
    assert found[1] == "wiki: 518 of 1000 pages, about 1 h 20 min left at the pace of the last 3 min."


def test_a_span_is_as_exact_as_it_can_be_known() -> None:
    assert [span(seconds) for seconds in (0.4, 59, 61, 3599, 7260, 200_000)] == [
        "0 s",
        "59 s",
        "1 min",
        "1 h 0 min",
        "2 h 1 min",
        "2 d 7 h",
    ]


def test_in_a_json_log_each_line_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    before = logging.getLogger().handlers[:]
    try:
        set_up_logging("INFO", "json")
        now = 0.0
        progress = forecast("wiki", logging.getLogger("indexer.commands.schedule").info, clock=lambda: now)
        now = FIRST
        progress(1, 2)
        logging.getLogger("indexer.commands.schedule").info("%s", "wiki\npages: expected 2")
    finally:
        logging.basicConfig(handlers=before, force=True)
    lines = [json.loads(line)["message"] for line in capsys.readouterr().err.splitlines()]
    assert lines == ["wiki: 1 of 2 pages, about 20 s left at the pace of the last 20 s.", "wiki\npages: expected 2"]
