"""A crowd at one part: how many are let in at once, and whose time counts."""

from __future__ import annotations

import threading

import pytest

from askwiki.errors import Cancelled, ModelError
from askwiki.guard import PLACES, Guard
from askwiki.llm_pool import FairPool


def crowd(guard: Guard, leave: threading.Event) -> FairPool:
    """The guard's part ``store`` with all of its places held until the event is set."""
    pool, inside = FairPool(PLACES), threading.Semaphore(0)

    def hold() -> None:
        inside.release()
        leave.wait(10.0)

    for number in range(PLACES):
        pool.submit(number, lambda: guard.call("store", hold, seconds=10.0))
        assert inside.acquire(timeout=5.0)
    return pool


def test_waiting_for_a_place_is_not_the_parts_time() -> None:
    guard, leave = Guard(), threading.Event()
    crowd(guard, leave)
    answer = FairPool(1).submit("late", lambda: guard.call("store", lambda: "found", seconds=0.2))
    with pytest.raises(TimeoutError):
        answer.result(0.4)  # twice the time of the part itself
    leave.set()
    assert answer.result(5.0) == "found"


def test_another_part_has_places_of_its_own() -> None:
    guard, leave = Guard(), threading.Event()
    crowd(guard, leave)
    assert guard.call("embedder", lambda: "vector", seconds=5.0) == "vector"
    leave.set()


def test_who_leaves_while_waiting_gives_up_his_turn() -> None:
    guard, leave, cancel = Guard(), threading.Event(), threading.Event()
    crowd(guard, leave)
    cancel.set()
    with pytest.raises(Cancelled):
        guard.call("store", lambda: "found", seconds=5.0, cancel=cancel)
    leave.set()


def test_a_part_that_hangs_gives_its_place_back() -> None:
    guard, never = Guard(), threading.Event()
    for _ in range(2):
        with pytest.raises(ModelError, match="did not answer within"):
            guard.call("store", lambda: never.wait(5.0), seconds=0.01)
    assert guard.call("store", lambda: "found", seconds=5.0) == "found"
    never.set()
