"""The measure of recovered diagrams: its figures are those that a person counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from askwiki.glossary import Glossary
from askwiki.prompts import load_prompts
from indexer.asking import Desk
from indexer.cache import Cache
from indexer.tally import Tally
from tests.bench.diagrams import Score, make_diagrams, measure, read_graph, recover, score
from tests.scripted import ScriptedLlm
from tests.test_vision import CHECK, png

PROMPTS = load_prompts(Path(__file__).resolve().parents[1] / "config" / "prompts")
TRUTH = """@startuml
state "Новая заявка" as new
state Проверка
[*] --> new
new --> Проверка : создать
Проверка --> Архив
Проверка -down-> Отказ
@enduml"""
# Misses Проверка -> Отказ with its box, invents Архив -> Новая заявка and the box Склад.
FAULTY = """@startuml
[Новая заявка] --> [Проверка]
[Проверка] --> [Архив]
[Архив] --> [Новая заявка]
[Склад]
[*] --> [Новая заявка]
@enduml"""


@pytest.fixture
def cache() -> Iterator[Cache]:
    kept = Cache(None)
    yield kept
    kept.close()


def test_boxes_and_arrows_are_read_under_their_labels() -> None:
    graph = read_graph(TRUTH)
    assert graph.nodes == {"новая заявка", "проверка", "архив", "отказ"}
    assert graph.edges == {
        ("[*]", "новая заявка"),
        ("новая заявка", "проверка"),
        ("проверка", "архив"),
        ("проверка", "отказ"),
    }


@pytest.mark.parametrize(
    "line",
    ["A -> B : x", "A ..> B", "A -[#red]-> B", "A -left-> B", "B <- A", "B <-- A", "[A] --> [B]", '"A" ->> "B"'],
)
def test_every_way_to_write_an_arrow(line: str) -> None:
    assert read_graph(line).edges == {("a", "b")}


def test_a_line_without_a_head_is_no_arrow() -> None:
    assert read_graph("A -- B").edges == frozenset()


def test_missed_and_invented_parts_are_counted_as_by_hand() -> None:
    # Boxes: 4 true, 4 named, 3 right. Arrows: 4 true, 4 named, 3 right.
    assert score(read_graph(TRUTH), read_graph(FAULTY)) == Score(3 / 4, 3 / 4, 3 / 4, 3 / 4)
    # Half of the arrows missed, nothing invented.
    half = "@startuml\n[*] --> (Новая заявка)\n(Новая заявка) --> Проверка\n@enduml"
    assert score(read_graph(TRUTH), read_graph(half)) == Score(1.0, 2 / 4, 1.0, 2 / 4)
    assert score(read_graph(TRUTH), read_graph("")) == Score(1.0, 0.0, 1.0, 0.0)


def test_what_a_model_says_of_pictures_is_measured_through_the_indexer(tmp_path: Path, cache: Cache) -> None:
    pictures = []
    for number, width in enumerate((400, 500, 600)):  # three different pictures
        pictures.append(tmp_path / f"diagram-{number}.png")
        pictures[-1].write_bytes(png(width, 300))
    llm = ScriptedLlm(parallel=1).enqueue("vision", f"```plantuml\n{TRUTH}\n```", FAULTY, "NO DIAGRAM")
    recovered = recover(pictures, Desk(llm, PROMPTS, Glossary(), cache, Tally()), CHECK)
    figures = measure([("a", TRUTH), ("b", TRUTH), ("c", TRUTH)], recovered)
    assert figures == pytest.approx(
        {"node_precision": 2.75 / 3, "node_recall": 1.75 / 3, "edge_precision": 2.75 / 3, "edge_recall": 1.75 / 3}
    )


def test_the_known_diagrams_are_of_three_kinds_and_the_same_every_time() -> None:
    diagrams = make_diagrams(6, seed=1)
    assert diagrams == make_diagrams(6, seed=1)
    assert [name for name, _ in diagrams] == [
        *("state-0", "sequence-1", "component-2"),
        *("state-3", "sequence-4", "component-5"),
    ]
    for _, source in diagrams:
        graph = read_graph(source)
        assert 3 <= len(graph.nodes) <= 6
        assert len(graph.edges) >= len(graph.nodes) - 1
