"""Rights end to end: random wikis exported, indexed, asked; the visible set must be exactly the reference's."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from askwiki.access.directory import Directory
from askwiki.access.identity import GroupMemory, identity_of
from askwiki.access.rights import rights_of
from askwiki.configuration import Configuration
from askwiki.data import Answer, Calibration, Clause, Event, Identity, Rights, Turn
from askwiki.flow.ask import ask
from askwiki.kit import Kit
from askwiki.settings import Settings, WikiSettings
from askwiki.stages.condense import condense
from askwiki.store.port import Leg, Reader
from indexer.opening import open_source
from tests.support.restricted import Person, World, make_world, write_exports
from tests.support.scripted import ScriptedLlm
from tests.support.small_wiki import CONFIG, chunk, kit_of, with_settings
from tests.support.sources import Indexer
from tests.support.stores import SPARSE, Store, embedded

WIKI = WikiSettings(url="https://wiki.example.com")
CODE = re.compile(r"px\d{5}")
LOOKED_UP = 12  # pages whose siblings are fetched, for each pair


@dataclass(frozen=True)
class Wiki:
    """A random wiki in a real store, and a kit that asks it."""

    world: World
    reader: Reader
    kit: Kit
    chunks: int

    def identity(self, person: Person) -> Identity:
        """The person as Open WebUI names it, groups in the header."""
        user = {"id": person.email, "email": person.email.upper(), "name": "", "role": "user"} if person.known else None
        return identity_of(
            user,
            {
                "x-user-groups": ",".join(sorted(person.groups)),
                "x-user-group-ids": ",".join(str(number) for number in range(len(person.groups))),
            },
            settings=self.kit.settings.access,
            directory=Directory(),
            memory=GroupMemory(),
        )

    def rights(self, person: Person) -> Rights:
        return rights_of(self.identity(person), self.reader.conjunctions(), self.kit.settings.access)


def build(folder: Path, world: World, store: Store | None = None) -> Wiki:
    settings = Settings(wiki=WIKI)
    indexer = Indexer(folder, store or embedded(folder / "store"), settings=settings)
    for export in write_exports(world, folder / "exports"):
        ledger = indexer.run(open_source(f"xml:{export}", Configuration(settings, CONFIG, {})))
        assert (ledger.exit_code, ledger.failures) == (0, ())
    reader = indexer.store.reader()
    kit = with_settings(kit_of([], embedder=indexer.embedder, reader=reader), wiki=WIKI)
    return Wiki(world, reader, kit, reader.count())


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wiki]:
    wiki = build(tmp_path_factory.mktemp("rights"), make_world(7, pages=150, people=12, groups=8))
    yield wiki
    wiki.reader.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wiki]:
    wiki = build(tmp_path_factory.mktemp("rights"), make_world(11, pages=3000, people=200, groups=120))
    yield wiki
    wiki.reader.close()


def pairs(wiki: Wiki, count: int) -> Iterator[tuple[Person, str]]:
    """(person, question): about a page that need not be visible, by its topic and its code."""
    dice = random.Random(count)
    people = list(wiki.world.people)
    for number in range(count):
        page = dice.choice(wiki.world.pages)
        yield people[number % len(people)], f"{page.topic} {page.code}: какой порядок?"


# --- what each way into the store shows ------------------------------------------------------------------


def searched(wiki: Wiki, rights: Rights, question: str) -> set[str]:
    """Pages of all hits of every leg, each leg as deep as the index."""
    vector = wiki.kit.embedder.query(question)
    legs = [Leg("text", vector, wiki.chunks), Leg("context", vector, wiki.chunks)]
    legs.append(Leg("sparse", SPARSE.query(question), wiki.chunks))
    hits = {name for found in wiki.reader.search(legs, rights).values() for name in found}
    return {chunk.page_id for chunk in wiki.reader.fetch(sorted(hits), rights).values()}


def check_store(wiki: Wiki, person: Person, question: str, dice: random.Random) -> None:
    visible, rights = wiki.world.visible(person), wiki.rights(person)
    assert searched(wiki, rights, question) == visible
    for page in dice.sample(wiki.world.pages, LOOKED_UP):
        siblings = wiki.reader.chunks_of([page.id], rights)[page.id]
        assert ({chunk.page_id for chunk in siblings} == {page.id}) == (page.id in visible)


def check_urls(wiki: Wiki, person: Person) -> None:
    everything = Rights(frozenset(wiki.reader.conjunctions()) | {"*"})
    stored = wiki.reader.chunks_of([page.id for page in wiki.world.pages], everything)
    urls = {chunk.url: page for page, chunks in stored.items() for chunk in chunks}
    visible = wiki.world.visible(person)
    shown = wiki.reader.visible_urls(urls, wiki.rights(person))
    assert {urls[url] for url in shown} == visible


# --- what the whole way of a question shows --------------------------------------------------------------


def codes(thing: object) -> set[str]:
    return set(CODE.findall(str(thing)))


class Unsure:
    """The index of which nothing that is found is worth an answer."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def calibration(self) -> Calibration:
        return Calibration(1.0, 1.0, 1e9, 1.0, 1e9, 1.0)


def check_flow(wiki: Wiki, person: Person, question: str, *, refuse: bool) -> None:
    """No event, and nothing of the trace, names a page that is hidden; a visible page is found by its code."""
    kit = wiki.kit
    if refuse:
        unsure: Any = Unsure(kit.reader)
        kit = dataclasses.replace(kit, reader=unsure)
    asked = codes(question)
    visible = {page.code for page in wiki.world.pages if wiki.world.may_read(person, page)}
    events: list[Event] = list(ask([Turn("user", question)], wiki.identity(person), kit=kit))
    answer = events[-1]
    assert isinstance(answer, Answer) and answer.trace is not None
    assert codes(events) - asked <= visible
    assert codes(answer.trace.found) <= visible
    assert codes(answer.sources) <= visible
    assert (asked & visible) <= codes(answer.trace.found)
    assert bool(answer.refused) or not refuse


def test_search_and_siblings_show_exactly_what_the_rule_allows(small: Wiki) -> None:
    dice = random.Random(1)
    for person, question in pairs(small, 60):
        check_store(small, person, question, dice)


def test_links_of_history_show_exactly_what_the_rule_allows(small: Wiki) -> None:
    for person in small.world.people:
        check_urls(small, person)


@pytest.mark.parametrize("refuse", [False, True], ids=["answered", "refused"])
def test_nothing_of_a_hidden_page_comes_out_of_a_question(small: Wiki, refuse: bool) -> None:
    for person, question in pairs(small, 30):
        check_flow(small, person, question, refuse=refuse)


def test_the_random_wiki_has_all_kinds_of_restrictions(small: Wiki) -> None:
    """Otherwise the tests above would show little."""
    sizes = {len(small.world.visible(person)) for person in small.world.people}
    assert len(sizes) > 4
    assert 0 < len(small.world.visible(small.world.people[0])) < len(small.world.pages)
    assert len(small.reader.conjunctions()) > 10


@pytest.mark.long
def test_500_pairs_over_3000_pages(large: Wiki) -> None:
    dice = random.Random(2)
    for number, (person, question) in enumerate(pairs(large, 500)):
        check_store(large, person, question, dice)
        if number % 5 == 0:
            check_flow(large, person, question, refuse=number % 2 == 0)
    for person in large.world.people[:10]:
        check_urls(large, person)


# --- with the defence taken out the same checks bite ---------------------------------------------------


class EveryKey:
    """The reader with the filter gone: whoever asks has every key."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Any] = getattr(self._reader, name)
        if name not in {"search", "fetch", "chunks_of", "visible_urls"}:
            return method
        every = Rights(frozenset(self._reader.conjunctions()) | {"*"})
        return lambda *arguments: method(*arguments[:-1], every)


@pytest.mark.parametrize("check", ["store", "urls", "flow", "refused"])
def test_without_the_filter_the_checks_fail(small: Wiki, check: str) -> None:
    reader: Any = EveryKey(small.reader)
    bare = dataclasses.replace(small, reader=reader, kit=dataclasses.replace(small.kit, reader=reader))
    person, page = (
        small.world.people[0],
        next(page for page in small.world.pages if not small.world.may_read(small.world.people[0], page)),
    )
    question = f"{page.topic} {page.code}: какой порядок?"
    with pytest.raises(AssertionError):
        if check == "store":
            check_store(bare, person, question, random.Random(3))
        elif check == "urls":
            check_urls(bare, person)
        else:
            check_flow(bare, person, question, refuse=check == "refused")


# --- what was said before rights were taken ---------------------------------------------------------------

SALARY = "Оклад директора тридцать миллионов рублей."
TOLD = (
    "Оклад тридцать миллионов [1].\n\n**Источники**\n\n"
    "1. [Страница hr](https://wiki.example.com/hr) · обновлено 3 мес. назад\n"
)
DIALOGUE = [Turn("user", "Какой оклад директора?"), Turn("assistant", TOLD), Turn("user", "А в долларах это сколько?")]
READERS = {"hr-key": (Clause(groups=("hr",)),)}


@pytest.mark.parametrize(("groups", "told"), [(("hr",), True), ((), False)], ids=["still a reader", "rights taken"])
def test_an_earlier_answer_reaches_no_prompt_after_rights_were_taken(groups: tuple[str, ...], told: bool) -> None:
    llm = ScriptedLlm().always("relevance", "1").always("answer", "Не знаю.")
    llm.always("condense", {"question": "Какой оклад в долларах?", "need": "search", "intent": "unclear", "terms": []})
    wiki = [chunk("hr", SALARY, acl="hr-key"), chunk("open", "Отпуск дают два раза в год, оклад не уменьшается.")]
    person = Identity(id="1", email="a@example.com", groups=groups, known=True)
    list(ask(DIALOGUE, person, kit=kit_of(wiki, llm=llm, readers=READERS)))
    said = "\n".join(asked.text for asked in llm.history)
    assert llm.asked("condense") and llm.asked("answer")
    assert ("тридцать миллионов" in said) == told


def test_without_the_look_at_history_the_hidden_words_come_back() -> None:
    """The same dialogue past the check: the condensing alone carries the words."""
    llm = ScriptedLlm().always(
        "condense", {"question": "Какой оклад в долларах?", "need": "search", "intent": "unclear", "terms": []}
    )
    condense(DIALOGUE, kit=kit_of([], llm=llm), settings=Settings())
    assert "тридцать миллионов" in llm.history[0].text
