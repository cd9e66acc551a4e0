"""Pauses before a call is tried again."""

from __future__ import annotations

import pytest

from askwiki.calls.retry import Backoff, retry_after
from askwiki.llm.client import Refused
from askwiki.llm.failure import read_failure


def test_pauses_double_up_to_the_longest() -> None:
    backoff = Backoff(first=0.5, longest=8.0)
    assert [backoff.pause(tries) for tries in (1, 2, 3, 4, 5, 6, 5000)] == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


def test_what_the_server_asks_for_wins_within_its_own_limit() -> None:
    assert Backoff(first=0.2, longest=5.0).pause(3, 60.0) == 60.0
    assert Backoff(first=0.2, longest=5.0, longest_asked=10.0).pause(3, 60.0) == 10.0
    assert Backoff(first=0.2, longest=5.0).pause(3, 0.0) == 0.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("-3", 0.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 60.0),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 0.0),
        ("soon", None),
        ("Thu, 01 Jan 99999999999999999999 00:01:40 GMT", None),
        ("", None),
        (None, None),
    ],
)
def test_the_header_holds_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, now=lambda: 40.0) == seconds


def test_a_model_server_that_names_no_real_date_is_tried_again_after_our_own_pause() -> None:
    header = {"retry-after": "Thu, 01 Jan 99999999999999999999 00:01:40 GMT"}
    failure = read_failure(Refused(503, "busy", header), "model", frozenset())
    assert (failure.passing, failure.pause(1)) == (True, 0.5)
