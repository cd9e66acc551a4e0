"""BM25 as sparse vectors: which terms a text has, what they weigh, and that collisions are harmless."""

from __future__ import annotations

import mmh3
import pytest

from askwiki.data import Sparse
from askwiki.encoders.bm25 import Bm25
from askwiki.encoders.factory import make_sparse
from askwiki.language.terms import grams, terms
from askwiki.settings import SparseSettings

COLLIDING = ("x41199", "x76339")  # found by trying
ONLY_STEMS = SparseSettings(gram_weight=0.0, average_length=4.0)


def weights(vector: Sparse) -> dict[int, float]:
    return dict(zip(vector.indices, vector.values, strict=True))


def index(term: str) -> int:
    return mmh3.hash(term, signed=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Сбросить пароль", ["сброс", "парол"]),
        ("Ёлки и ёлка", ["елк", "елк"]),
        ("resetting passwords", ["reset", "password"]),
        ("order_status_id", ["order", "status", "id", "order_status_id"]),
        ("КЗ-17", ["кз", "17", "кз-17"]),
        ("v2.3.1.", ["v2", "3", "1", "v2.3.1"]),
        ("веб-сервера", ["веб", "сервер", "веб-сервер"]),
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("C++ и C#", ["c", "c++", "c", "c#"]),
        ("10.0.0.1/24", ["10", "0", "0", "1", "24", "10.0.0.1/24"]),
        ("и в не on the", []),
        ("й", ["й"]),
        ("a" * 65, []),
        ("___ -- !!", []),
    ],
)
def test_terms_are_stems_and_whole_identifiers(text: str, expected: list[str]) -> None:
    assert [term.text for term in terms(text)] == expected


def test_letters_of_two_code_points_are_one() -> None:
    assert [term.text for term in terms("и\u0306од")] == [term.text for term in terms("йод")]


def test_letter_groups_have_one_spelling_for_both_alphabets() -> None:
    assert set(grams("виндовая")) & set(grams("Windows")) == {" _vin", " vind", " indo", " ndov"}
    assert list(grams("и Ёж")) == [" _ezh", " ezh_"]


def test_a_document_term_weighs_by_bm25() -> None:
    """f (k + 1) / (f + k (1 - b + b length / average)) with k 1.2, b 0.75, length 3, average 4."""
    [vector] = Bm25(ONLY_STEMS).documents(["пароль пароль ключ"])
    norm = 1.2 * (1 - 0.75 + 0.75 * 3 / 4)
    expected = {index("парол"): 2 * 2.2 / (2 + norm), index("ключ"): 2.2 / (1 + norm)}
    assert weights(vector) == pytest.approx(expected)


def test_a_whole_identifier_does_not_make_the_document_longer() -> None:
    [vector] = Bm25(ONLY_STEMS).documents(["order_id"])
    norm = 1.2 * (1 - 0.75 + 0.75 * 2 / 4)
    assert weights(vector) == pytest.approx({index(term): 2.2 / (1 + norm) for term in ("order", "id", "order_id")})


def test_a_question_weighs_its_stems_one_and_further_terms_less() -> None:
    vector = Bm25(ONLY_STEMS).query("сброс пароля", ["пароль", "reset"])
    assert weights(vector) == {index("сброс"): 1.0, index("парол"): 1.0, index("reset"): 0.5}


def test_letter_groups_of_a_question_weigh_as_set() -> None:
    vector = Bm25(SparseSettings(gram_weight=0.25)).query("ключ")
    groups = {index(gram): 0.25 for gram in grams("ключ")}
    assert weights(vector) == {index("ключ"): 1.0, **groups}


def test_indices_are_distinct_and_in_order() -> None:
    [vector] = Bm25(SparseSettings()).documents(["один два три четыре пять шесть два три"])
    assert list(vector.indices) == sorted(set(vector.indices))
    assert max(vector.indices) < 2**32


def test_words_that_share_an_index_count_once_and_are_reported() -> None:
    """The larger weight stays."""
    one, other = COLLIDING
    assert index(one) == index(other)
    encoder = Bm25(ONLY_STEMS)
    [both] = encoder.documents([f"{one} {one} {other}"])
    [alone] = Bm25(ONLY_STEMS).documents([f"{one} {one} вместо"])
    assert (len(both.indices), encoder.collisions()) == (1, 1)
    assert weights(both)[index(one)] == weights(alone)[index(one)]


def test_an_empty_text_has_an_empty_vector() -> None:
    encoder = make_sparse(SparseSettings())
    assert encoder.documents([""]) == [Sparse((), ())]
    assert encoder.query("") == Sparse((), ())


def test_what_changes_the_vectors_is_in_the_identity() -> None:
    assert Bm25(SparseSettings()).identity() != Bm25(SparseSettings(average_length=90.0)).identity()
    assert Bm25(SparseSettings()).identity() != Bm25(SparseSettings(gram_weight=0.0)).identity()
    assert Bm25(SparseSettings(gram_weight=0.2)).identity() == Bm25(SparseSettings(gram_weight=0.3)).identity()
