"""The way to a page is part of what is searched: equal pages under different parents are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from askwiki.data import PUBLIC, Rights
from askwiki.encoders.factory import make_embedder
from askwiki.encoders.port import Embedder
from askwiki.settings import EmbeddingSettings
from askwiki.store.port import Leg
from indexer.chunking.breadcrumb import near_way
from tests.support.sources import Indexer, make_page
from tests.support.stores import SPARSE

TEXT = "План на первый месяц: знакомство с командой, доступы, первая задача.\n"
ANALYST, ENGINEER = "Дата-аналитик", "Инженер-разработчик"
PLANS = [
    make_page(number, TEXT, title="План", path=("Компания", "Адаптация", role))
    for number, role in (("1", ANALYST), ("2", ENGINEER))
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return make_embedder(EmbeddingSettings())


@pytest.mark.parametrize(
    ("question", "wanted", "other"),
    [
        ("Какой план у дата-аналитика?", "1", "2"),
        ("План адаптации аналитика", "1", "2"),
        ("Какой план у инженера-разработчика?", "2", "1"),
        ("План адаптации разработчика", "2", "1"),
    ],
)
def test_two_pages_of_one_name_and_text_are_parted_by_their_parents_in_both_legs(
    tmp_path: Path, embedder: Embedder, question: str, wanted: str, other: str
) -> None:
    indexer = Indexer(tmp_path, embedder=embedder)
    indexer.sync(*PLANS)
    reader = indexer.store.reader()
    legs = [Leg("text", embedder.query(question), 10), Leg("sparse", SPARSE.query(question), 10)]
    found = reader.search(legs, Rights(frozenset({PUBLIC})))
    reader.close()
    for name in ("text", "sparse"):
        scores = {chunk_id.partition("#")[0]: hit.score for chunk_id, hit in found[name].items()}
        assert scores[wanted] > scores.get(other, 0.0), name


def test_a_vector_knows_the_two_nearest_ancestors() -> None:
    path = ("Компания", "Отделы", "Аналитика", ANALYST)
    assert near_way(path, "План", ("Сроки",)) == f"Аналитика / {ANALYST} / План / Сроки"
    assert near_way((), "План", ()) == "План"
