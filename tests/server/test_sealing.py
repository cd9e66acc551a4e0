"""What the filter hands to the pipe is believed only if it is ours, whole, fresh, and meant for this question."""

from __future__ import annotations

from typing import Any

import pytest

from askwiki.openwebui import sealing
from askwiki.openwebui.sealing import STOCK_KEY, Signer

PAYLOAD = {"question": "Как сбросить пароль?", "turns": 3}
SIGNER = Signer("the server's key")


def sealed(signer: Signer = SIGNER) -> dict[str, Any]:
    return signer.seal(PAYLOAD, message="а пароль?", person="u-1")


def opened(seal: object, signer: Signer = SIGNER, message: str = "а пароль?", person: str = "u-1") -> object:
    return signer.open(seal, message=message, person=person)


def test_the_payload_comes_back_for_its_message_of_its_person() -> None:
    assert opened(sealed()) == PAYLOAD


def test_a_seal_for_another_message_or_person_is_ignored() -> None:
    assert opened(sealed(), message="а логин?") is None
    assert opened(sealed(), person="u-2") is None


@pytest.mark.parametrize(
    "change",
    [
        {"payload": {**PAYLOAD, "turns": 4}},
        {"payload": {}},
        {"payload": None},
        {"payload": [PAYLOAD]},
        {"payload": {"question": {1, 2}}},
        {"payload": {"turns": float("nan")}},
        {"version": 2},
        {"at": 4_000_000_000},
        {"at": "now"},
        {"at": None},
        {"signature": "0" * 64},
        {"signature": ""},
        {"signature": None},
        {"signature": b"bytes"},
        {"signature": "я\udcff"},
    ],
    ids=lambda change: "-".join(f"{key}={value}" for key, value in change.items()).encode("ascii", "replace").decode(),
)
def test_a_changed_seal_is_ignored(change: dict[str, Any]) -> None:
    assert opened({**sealed(), **change}) is None


@pytest.mark.parametrize("part", ["payload", "version", "at", "signature"])
def test_a_seal_that_lacks_a_part_is_ignored(part: str) -> None:
    assert opened({key: value for key, value in sealed().items() if key != part}) is None


@pytest.mark.parametrize("seal", [None, "seal", [], {}, 1])
def test_what_is_no_seal_is_ignored(seal: object) -> None:
    assert opened(seal) is None


def test_the_order_of_keys_is_no_part_of_a_seal() -> None:
    seal = sealed()
    turned = {**seal, "payload": dict(reversed(seal["payload"].items()))}
    assert opened(dict(reversed(turned.items()))) == PAYLOAD


def test_what_is_no_json_is_not_sealed() -> None:
    with pytest.raises(ValueError, match="JSON"):
        SIGNER.seal({"share": float("nan")}, message="", person="")


def test_keys_beside_the_seal_do_not_break_it() -> None:
    assert opened({**sealed(), "further": 1}) == PAYLOAD


def test_a_seal_is_good_for_its_time_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.5]
    monkeypatch.setattr(sealing.time, "time", lambda: now[0])
    seal = sealed()
    assert opened(seal) == PAYLOAD
    now[0] = 1_000_899.0  # fifteen minutes after the second it was made in, less one for clocks
    assert opened(seal) == PAYLOAD
    now[0] += 0.5
    assert opened(seal) is None
    now[0] = 999_999.0  # a clock that was set back by a second while the filter worked
    assert opened(seal) == PAYLOAD
    now[0] = 998_999.5
    assert opened(seal) is None


def test_a_seal_of_another_version_is_ignored_though_it_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as older:
        older.setattr(sealing, "VERSION", sealing.VERSION - 1)
        seal = sealed()
    assert opened(seal) is None


def test_servers_with_one_key_open_each_others_seals_and_no_others() -> None:
    assert opened(sealed(), Signer("the server's key")) == PAYLOAD
    assert opened(sealed(), Signer("another key")) is None


@pytest.mark.parametrize("key", ["", STOCK_KEY, "0p3n-w3bu!"])
def test_without_a_secret_key_a_seal_is_good_for_its_own_process_only(key: str) -> None:
    signer = Signer(key)
    assert opened(sealed(signer), signer) == PAYLOAD
    assert opened(sealed(signer), Signer(key)) is None
