"""A wiki that answers with odd JSON and odd codes at random: nothing opens, nothing goes, nothing breaks.

The index may know less than the wiki afterwards, never more; and one honest run puts everything right.
Answers that are odd but that an honest wiki could give as well (an empty list of ancestors, a page that is
open to everybody, the id of another page) are left out: nobody could tell them from the truth.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from askwiki.access.rights import rights_of
from askwiki.data import Identity
from askwiki.errors import AskWikiError
from indexer.sync.rights import compare_rights
from indexer.sync.sync import Rules
from tests.page.test_rest_faults import source
from tests.support.rest_wiki import Wiki, groups, page, restricted, serving, users
from tests.support.sources import Indexer

VALUES: list[Any] = [None, 0, 77, -1, 2.5, "", "x", [], [1], [None], {}, {"results": [1]}, {"results": None}, {"a": {}}]
CODES = [400, 401, 403, 404, 429, 500, 502, 503, 302, 200]
SPACE = {
    "key": "KB",
    "permissions": [
        {
            "operation": {"operation": "read", "targetType": "space"},
            "subjects": {"group": groups("staff"), "user": users("guest")},
        },
        {"operation": {"operation": "create", "targetType": "page"}, "subjects": {"group": groups("outside")}},
    ],
}
PEOPLE = {
    "stranger": Identity(known=False),
    "outside": Identity(known=True, email="outside", groups=("outside",)),
    "guest": Identity(known=True, email="guest"),
    "staff": Identity(known=True, email="anna", groups=("staff",)),
    "legal": Identity(known=True, email="lev", groups=("staff", "legal")),
    "boss": Identity(known=True, email="boss", groups=("staff",)),
}
RESTRICTED = {"2": restricted(("boss",)), "5": restricted((), ("legal",)), "7": restricted(("guest", "boss"))}
ABOVE = {"3": ["2"], "4": ["2", "3"], "6": ["5"], "8": ["1"], "9": ["1", "8"], "10": ["5", "6"]}
MAY = {
    "stranger": set[str](),
    "outside": set[str](),
    "guest": {"1", "7", "8", "9"},
    "staff": {"1", "8", "9"},
    "legal": {"1", "5", "6", "8", "9", "10"},
    "boss": {"1", "2", "3", "4", "7", "8", "9"},
}


def honest() -> list[dict[str, Any]]:
    return [
        page(
            str(number),
            f"Страница {number}",
            ancestors=[{"id": one, "title": f"Страница {one}"} for one in ABOVE.get(str(number), [])],
            restrictions=RESTRICTED.get(str(number), restricted()),
        )
        for number in range(1, 11)
    ]


def readable(indexer: Indexer) -> dict[str, set[str]]:
    """Person -> ids of the pages whose text is found, told by the text: an odd record may bear another id."""
    reader = indexer.store.reader()
    conjunctions = reader.conjunctions()
    reader.close()
    passed = {name: rights_of(who, conjunctions, indexer.settings.access).keys for name, who in PEOPLE.items()}
    chunks = [payload for payload, _ in indexer.store.contents().values() if payload["record"] == "chunk"]
    return {
        name: {chunk["text"].split()[-1] for chunk in chunks if chunk["acl"] in keys and chunk["text"].strip()}
        for name, keys in passed.items()
    }


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value of an answer."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*above, key)
        yield from places(item, (*above, key))


class Oddity:
    """Changes some answers: a value for another, a key or an entry that is missing, a code, a body that breaks off."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._share = dice.choice([0.05, 0.3, 1.0])

    def __call__(self, answer: Any) -> Any:
        if self._dice.random() > self._share:
            return answer
        if self._dice.random() < 0.05:
            return self._dice.choice([b"", b"<html>", b'{"results": [', b"[" * 100_000, *VALUES])
        changed = copy.deepcopy(answer)
        for _ in range(self._dice.randint(1, 4)):
            ways = list(places(changed))
            if ways:
                self._change(changed, self._dice.choice(ways))
        return changed

    def code(self) -> int:
        return self._dice.choice(CODES) if self._dice.random() < 0.1 else 200

    def _change(self, answer: Any, way: tuple[Any, ...]) -> None:
        holder = answer
        for step in way[:-1]:
            holder = holder[step]
        value = self._dice.choice(VALUES)
        if way[-1] == "ancestors" or (len(way) > 1 and way[-2] == "ancestors"):
            value = "x"  # never an empty or a shorter way up: an honest wiki gives that for a page that was moved
        elif self._dice.random() < 0.3:
            del holder[way[-1]]
            return
        holder[way[-1]] = value


def attack(indexer: Indexer, seeds: range) -> dict[str, int]:
    """How the runs ended. Every run is followed by the three promises."""
    ended = dict.fromkeys(("whole", "pages failed", "refused"), 0)
    with serving(Wiki(honest(), space=SPACE, limit=4)) as wiki:
        indexer.run(source(wiki), Rules())
        assert readable(indexer) == MAY
        for seed in seeds:
            odd = Oddity(random.Random(seed))
            wiki.mutate, wiki.moods = odd, odd.code
            try:
                ledger = one_run(indexer, wiki, seed)
            except AskWikiError as error:
                assert str(error).endswith((".", ")")), error
                ended["refused"] += 1
            else:
                ended["pages failed" if ledger.exit_code else "whole"] += 1
            found = readable(indexer)
            assert all(found[name] <= MAY[name] for name in MAY), (seed, found)
            stored = {payload["page_id"] for payload, _ in indexer.store.contents().values() if "page_id" in payload}
            assert stored >= {str(number) for number in range(1, 11)}, seed
            if seed % 10 == 0:
                wiki.mutate, wiki.moods = (lambda answer: answer), (lambda: 200)
                indexer.run(source(wiki), Rules())
                assert readable(indexer) == MAY, seed
    return ended


def one_run(indexer: Indexer, wiki: Wiki, seed: int) -> Any:
    """Two of three compare all pages, the third page rights only."""
    if seed % 3:
        return indexer.run(source(wiki), Rules())
    writer = indexer.store.writer(indexer.fingerprint())
    try:
        ledger = compare_rights(source(wiki), writer=writer, settings=indexer.settings)
        writer.commit()
    finally:
        writer.close()
    return ledger


def test_odd_answers_open_nothing_and_remove_nothing(tmp_path: Path) -> None:
    ended = attack(Indexer(tmp_path), range(1, 61))
    assert min(ended.values()) > 0


@pytest.mark.long
def test_thousands_of_odd_answers_open_nothing_and_remove_nothing(tmp_path: Path) -> None:
    print(attack(Indexer(tmp_path), range(1_000, 4_000)))
