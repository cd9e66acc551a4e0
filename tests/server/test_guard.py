"""A crowd at one part: how many are let in at once, and whose time counts."""

from __future__ import annotations

import threading

import pytest

from askwiki.calls.parts import PLACES, PartGuard
from askwiki.calls.pool import FairPool
from askwiki.errors import Cancelled, ModelError
from tests.support.waiting import PATIENCE


class Watched(threading.Event):
    """A chat's ``cancel`` that tells when it is looked at: whoever waits for a place does."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_at = threading.Event()

    def is_set(self) -> bool:
        self.looked_at.set()
        return super().is_set()


def crowd(guard: PartGuard, leave: threading.Event) -> FairPool:
    """The guard's part ``store`` with all of its places held until the event is set."""
    pool, inside = FairPool(PLACES), threading.Semaphore(0)

    def hold() -> None:
        inside.release()
        leave.wait(PATIENCE)

    for number in range(PLACES):
        pool.submit(number, lambda: guard.call("store", hold, seconds=PATIENCE))
        assert inside.acquire(timeout=PATIENCE)
    return pool


def test_waiting_for_a_place_is_not_the_parts_time() -> None:
    now = [0.0]
    guard, leave, cancel = PartGuard(clock=lambda: now[0]), threading.Event(), Watched()
    crowd(guard, leave)
    late = FairPool(1).submit("late", lambda: guard.call("store", lambda: "found", seconds=PATIENCE, cancel=cancel))
    assert cancel.looked_at.wait(PATIENCE)
    now[0] = 2 * PATIENCE  # twice the time of the part itself
    leave.set()
    assert late.result(PATIENCE) == "found"


def test_another_part_has_places_of_its_own() -> None:
    guard, leave = PartGuard(), threading.Event()
    crowd(guard, leave)
    assert guard.call("embedder", lambda: "vector", seconds=PATIENCE) == "vector"
    leave.set()


def test_a_part_that_computes_here_is_called_by_one_at_a_time() -> None:
    guard, leave, inside = PartGuard(here=["store"]), threading.Event(), threading.Semaphore(0)

    def hold() -> None:
        inside.release()
        leave.wait(10.0)

    pool = FairPool(2)
    calls = [pool.submit(number, lambda: guard.call("store", hold, seconds=20.0)) for number in range(2)]
    assert inside.acquire(timeout=5.0)
    assert not inside.acquire(timeout=0.2)
    leave.set()
    for each in calls:
        each.result(5.0)


def test_who_leaves_while_waiting_gives_up_his_turn() -> None:
    guard, leave, cancel = PartGuard(), threading.Event(), threading.Event()
    crowd(guard, leave)
    cancel.set()
    with pytest.raises(Cancelled):
        guard.call("store", lambda: "found", seconds=PATIENCE, cancel=cancel)
    leave.set()


def test_a_part_that_hangs_gives_its_place_back() -> None:
    guard, never = PartGuard(), threading.Event()
    for _ in range(2):
        with pytest.raises(ModelError, match="did not answer within"):
            guard.call("store", lambda: never.wait(PATIENCE), seconds=0.01)
    assert guard.call("store", lambda: "found", seconds=PATIENCE) == "found"
    never.set()
