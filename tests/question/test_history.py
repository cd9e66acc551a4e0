"""Earlier answers come back only while all their pages are visible."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import pytest

from askwiki.data import PUBLIC, Clause, Rights, Turn
from askwiki.stages.history import links, readable
from askwiki.store.port import Reader

HR = "https://wiki.example.com/pages/viewpage.action?pageId=65654#Премии"
OPEN = "https://wiki.example.com/pages/viewpage.action?pageId=65610"
LIST = "Премия 10 % [1].\n\n**Источники**\n\n1. [Премии › Размер]({url}) · обновлено 3 мес. назад\n"


class Addresses:
    """Of a store, which addresses each access key opens."""

    def __init__(self, addresses: dict[str, str]) -> None:
        self.addresses = addresses
        self.asked = 0

    def visible_urls(self, urls: Collection[str], rights: Rights) -> frozenset[str]:
        self.asked += 1
        return frozenset(url for url in urls if self.addresses.get(url) in rights.keys)

    def conjunctions(self) -> dict[str, tuple[Clause, ...]]:
        return {"hr": (Clause(groups=("hr",)),), "board": (Clause(groups=("board",)),)}


STORE = Addresses({HR: "hr", OPEN: PUBLIC})


def kept(answer: str, *keys: str) -> bool:
    turns = (Turn("user", "Какая премия?"), Turn("assistant", answer), Turn("user", "А у аналитика?"))
    left = readable(turns, Rights(frozenset({PUBLIC, *keys})), reader=cast(Reader, STORE))
    assert [turn for turn in left if turn.role == "user"] == [turns[0], turns[2]]
    return turns[1] in left


def test_an_answer_stays_while_its_page_is_visible_and_goes_when_it_is_not() -> None:
    answer = LIST.format(url=HR)
    assert kept(answer, "hr")
    assert not kept(answer)


def test_one_hidden_page_of_several_is_enough() -> None:
    both = LIST.format(url=OPEN) + f"2. [Премии]({HR})\n"
    assert kept(both, "hr")
    assert not kept(both)


def test_an_escaped_link_is_the_same_page() -> None:
    assert kept(LIST.format(url=HR.replace("Премии", "%D0%9F%D1%80%D0%B5%D0%BC%D0%B8%D0%B8")), "hr")


@pytest.mark.parametrize(
    "answer",
    [
        "Премия 10 %.",
        f"Премия 10 %, см. [Премии]({OPEN}).",
        "Премия.\n\n**Источники**\n\n1. Премии (без адреса)\n",
        LIST.format(url="https://wiki.example.com/unknown"),
        LIST.format(url=OPEN) + "\nи ещё слова после списка",
        LIST.format(url=OPEN) + "2. Премии (без адреса)\n",
    ],
    ids=["no list", "a link but no list", "no address", "unknown page", "list not at the end", "one without address"],
)
def test_what_cannot_be_checked_is_left_out(answer: str) -> None:
    assert not kept(answer, "hr")


def test_who_may_read_everything_keeps_what_has_no_list() -> None:
    assert kept("Премия 10 %.", "hr", "board")
    assert not kept(LIST.format(url="https://wiki.example.com/unknown"), "hr", "board")


def test_a_dialogue_without_answers_asks_the_store_nothing() -> None:
    store = Addresses({})
    turns = (Turn("user", "a"), Turn("user", "b"))
    assert readable(turns, Rights(), reader=cast(Reader, store)) == turns
    assert store.asked == 0


def test_brackets_in_an_address_belong_to_it() -> None:
    listed = LIST.format(url="https://wiki.example.com/a_(b)")
    assert links(listed) == {"https://wiki.example.com/a_(b)"}
