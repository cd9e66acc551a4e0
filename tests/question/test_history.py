"""Earlier answers come back only while all their pages are visible."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import pytest

from askwiki.data import PUBLIC, Clause, Identity, Rights, Turn
from askwiki.errors import StoreError
from askwiki.settings import AccessSettings
from askwiki.stages.history import links, readable, still_readable
from askwiki.store.port import Freshness, Reader

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
        return {PUBLIC: (), "hr": (Clause(groups=("hr",)),), "board": (Clause(groups=("board",)),)}


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


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ("1. [А](https://w/1)\n2. [Б](https://w/2)\n", {"https://w/1", "https://w/2"}),
        ("- [А](https://w/1)\n", {"https://w/1"}),
        ("12. [А](<https://w/1>) · обновлено\n", {"https://w/1"}),
        ("1. А\n", set()),
        ("1. [А](https://w/1)\n2. Б\n", set()),
    ],
    ids=["numbers", "dashes", "pointed brackets", "no address", "one without"],
)
def test_the_list_of_an_answer_gives_its_addresses(listed: str, found: set[str]) -> None:
    assert links(f"Ответ, см. [В](https://w/3).\n\n**Источники**\n\n{listed}") == found


def test_an_address_that_the_index_writes_without_escapes_is_the_same_page() -> None:
    store = Addresses({"https://w/a b": PUBLIC})
    turns = (Turn("assistant", LIST.format(url="https://w/a%20b")),)
    assert readable(turns, Rights(), reader=cast(Reader, store)) == turns


def test_an_escape_that_is_no_letter_stays_beside_letters_that_are() -> None:
    store = Addresses({"https://w/Б%20b": PUBLIC})
    turns = (Turn("assistant", LIST.format(url="https://w/%D0%91%20b")),)
    assert readable(turns, Rights(), reader=cast(Reader, store)) == turns


def test_who_may_not_read_an_old_source_does_not_see_all() -> None:
    rights = Rights(frozenset({PUBLIC, "hr", "board"}), sources=frozenset({"xml:a"}))
    assert readable((Turn("assistant", "Премия 10 %."),), rights, reader=cast(Reader, STORE)) == ()


class Wiki(Addresses):
    """A whole reader of a store that was read a moment ago; ``down``: it does not answer."""

    down = False

    def conjunctions(self) -> dict[str, tuple[Clause, ...]]:
        if self.down:
            raise StoreError("The store does not answer.")
        return super().conjunctions()

    def freshness(self) -> list[Freshness]:
        return []


DIALOGUE = (Turn("user", "Какая премия?"), Turn("assistant", LIST.format(url=HR)), Turn("user", "А у аналитика?"))
QUESTIONS = (DIALOGUE[0], DIALOGUE[2])


def still(turns: tuple[Turn, ...], store: Wiki, *groups: str) -> tuple[Turn, ...]:
    person = Identity(email="anna@example.com", groups=groups, known=True)
    return still_readable(turns, person, reader=cast(Reader, store), settings=AccessSettings())


def test_an_earlier_answer_is_looked_at_with_the_rights_of_who_asks_now() -> None:
    store = Wiki({HR: "hr"})
    assert still(DIALOGUE, store, "hr") == DIALOGUE
    assert still(DIALOGUE, store, "it") == QUESTIONS


def test_while_the_store_cannot_say_no_earlier_answer_counts() -> None:
    store = Wiki({HR: "hr"})
    store.down = True
    assert still(DIALOGUE, store, "hr") == QUESTIONS
    assert still(QUESTIONS, store, "hr") == QUESTIONS
