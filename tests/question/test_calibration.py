"""Confidence that means the same under every encoder: measured by the index's own questions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mmh3
import numpy as np
import pytest
from numpy.typing import NDArray
from qdrant_client import QdrantClient

from askwiki.calibration.fit import Observed, fitted
from askwiki.calibration.measure import Asking, is_due, measured
from askwiki.calibration.questions import own_questions
from askwiki.data import Calibration, Question, Rights
from askwiki.language.glossary import Glossary
from askwiki.language.synonyms import Synonyms
from askwiki.settings import SearchSettings, StoreSettings
from askwiki.stages.question_vector import question_vector
from askwiki.stages.refusal import confidence
from askwiki.stages.search import Query, question_sparse, search
from askwiki.store import open_reader, remember_calibration
from askwiki.store.backup import backup, restore
from askwiki.store.calibrated import to_content
from askwiki.store.embedded.store import embedded_reader, embedded_writer
from askwiki.store.qdrant import store as server_store
from askwiki.store.qdrant.server import QdrantServer
from tests.support.fakes import HashEmbedder
from tests.support.small_wiki import MemoryReader, chunk
from tests.support.stores import FINGERPRINT, SPARSE, OneAtATime, make_chunk, write_page

MADE = Calibration(6.0, 1.0, 3.5, 0.3, 0.6, 0.2, chunks=40)
SYLLABLES = ["ба", "во", "ги", "де", "жу", "зы", "ка", "ло", "ми", "ну", "пе", "ры", "со", "ту", "фа", "хо", "це", "ша"]
THRESHOLD, WRONG, FOREIGN = 0.3, 0.03, 0.2


class Narrow(HashEmbedder):
    """Vectors in a narrow cone, as those of a trained encoder: every similarity is near to one."""

    def query(self, text: str) -> NDArray[np.float32]:
        return _narrowed(super().query(text))

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return _narrowed(super().documents(texts))


class Blind(HashEmbedder):
    """Vectors that say nothing of the text."""

    def query(self, text: str) -> NDArray[np.float32]:
        return _noise(text, self.size)

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([_noise(text, self.size) for text in texts])


def _narrowed(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    moved = rows + 3.0 / np.sqrt(rows.shape[-1])
    return np.asarray(moved / np.linalg.norm(moved, axis=-1, keepdims=True), dtype=np.float32)


def _noise(text: str, size: int) -> NDArray[np.float32]:
    row = np.random.default_rng(mmh3.hash(text, signed=False)).standard_normal(size)
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


def wiki(embedder: HashEmbedder) -> Asking:
    """Sixty pages of six sentences, each page with words of its own beside those of all."""
    dice = random.Random(1)

    def word() -> str:
        return "".join(dice.choices(SYLLABLES, k=3))

    common = [word() for _ in range(80)]
    chunks = []
    for number in range(60):
        own = [word() for _ in range(25)]
        lines = [" ".join(dice.choices(own, k=5) + dice.choices(common, k=3)) + "." for _ in range(6)]
        chunks.append(chunk(str(number), "\n".join(lines), title=" ".join(own[:2])))
    reader: Any = MemoryReader(chunks, embedder=embedder, sparse=SPARSE)
    return Asking(reader, embedder, SPARSE, Glossary(()), Synonyms(), SearchSettings())


def sure_of(texts: Sequence[str], asking: Asking, made: Calibration) -> list[float]:
    found = []
    for text in texts:
        question = Question(text)
        dense = question_vector(question, asking.embedder)
        query = Query(dense, question_sparse(question, (), asking.sparse), text)
        candidates = search(query, Rights(), reader=asking.reader, settings=asking.settings)
        sure = confidence(candidates, question, made)
        assert sure is not None
        found.append(sure)
    return found


@pytest.mark.parametrize("embedder", [HashEmbedder(), Narrow(), Blind()], ids=["wide", "narrow", "blind"])
def test_under_any_encoder_few_right_questions_are_refused_and_foreign_ones_are(embedder: HashEmbedder) -> None:
    asking = wiki(embedder)
    made = measured(asking)
    assert made is not None
    dice = random.Random(2)
    asked = []
    for each in asking.reader.sample(60, Rights()):  # six words of a line in another order, one of them mistyped
        words = dice.choice(each.text.splitlines()).rstrip(".").split()
        kept = dice.sample(words, 6)
        asked.append(" ".join([*kept[:5], kept[5][::-1]]))
    foreign = [" ".join("".join(dice.choices("qwrtpsdfghklzxcvbnm", k=7)) for _ in range(4)) for _ in range(30)]
    wrong = sum(sure < THRESHOLD for sure in sure_of(asked, asking, made)) / len(asked)
    passed = sum(sure >= THRESHOLD for sure in sure_of(foreign, asking, made)) / len(foreign)
    assert (wrong <= WRONG, passed <= FOREIGN) == (True, True), (wrong, passed)


def test_a_similarity_that_says_nothing_weighs_nothing() -> None:
    dice = np.random.default_rng(0)
    own = [(float(-each), 0.8) for each in dice.random(50)]
    others = [(float(each), 0.2) for each in dice.random(50)]
    made = fitted(Observed(own, others, others), 50)
    assert (made.similarity, made.words, made.middle) == (0.0, 1.0, 0.8)


def test_confidence_follows_the_deviations_and_is_unknown_without_a_calibration() -> None:
    assert confidence((), Question("отпуск"), None) is None
    assert confidence((), Question("отпуск"), MADE) == 0.0
    words = SPARSE.query("отпуск")
    reader: Any = MemoryReader([chunk("1", "Отпуск оформляет отдел.")], embedder=HashEmbedder(), sparse=SPARSE)
    found = search(Query(None, words), Rights(), reader=reader, settings=SearchSettings())
    at_middle, below = (
        confidence(found, Question("отпуск"), Calibration(1.0, 1.0, 0.0, 1.0, middle, 0.5)) for middle in (1.0, 2.165)
    )
    assert (at_middle, below) == (pytest.approx(0.858, abs=1e-3), pytest.approx(0.3, abs=1e-3))


def test_own_questions_are_the_same_each_time_and_none_of_a_page_without_words() -> None:
    chunks = [chunk("1", "Отпуск оформляет руководитель отдела.", title=""), chunk("2", "— 1 —", title="")]
    made = own_questions(chunks)
    assert made == own_questions(chunks)
    assert [each.page_id for each in made] == ["1"]
    assert set(made[0].text.split()) <= {"Отпуск", "оформляет", "руководитель", "отдела"}


def test_an_index_of_a_few_pages_is_too_small() -> None:
    reader: Any = MemoryReader([chunk("1", "Отпуск оформляет отдел.")], embedder=HashEmbedder(), sparse=SPARSE)
    assert measured(Asking(reader, HashEmbedder(), SPARSE, Glossary(()), Synonyms(), SearchSettings())) is None
    assert not is_due(reader)


def test_an_index_is_measured_again_when_it_has_grown_or_shrunk_by_a_fifth() -> None:
    asking = wiki(HashEmbedder())
    reader = asking.reader
    assert isinstance(reader, MemoryReader)
    due = {}
    for chunks in (45, 55, 60, 70, 80):
        reader.measured = Calibration(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, chunks)
        due[chunks] = is_due(reader)
    assert due == {45: True, 55: False, 60: False, 70: False, 80: True}


# --- where it is kept -----------------------------------------------------------------------------


def filled(folder: Path) -> StoreSettings:
    writer = embedded_writer(folder, FINGERPRINT)
    write_page(writer, make_chunk("1", 0, "пароль"))
    writer.commit()
    writer.close()
    return StoreSettings(path=str(folder))


def test_it_lies_beside_the_embedded_index_and_is_that_of_one_fingerprint_only(tmp_path: Path) -> None:
    settings = filled(tmp_path / "store")
    reader = open_reader(settings)
    assert reader.calibration() is None
    remember_calibration(settings, MADE, FINGERPRINT)
    assert reader.calibration() == MADE
    remember_calibration(settings, MADE, {**FINGERPRINT, "schema": 2})
    assert reader.calibration() is None
    (tmp_path / "store" / "calibration.json").write_text("{")
    assert reader.calibration() is None
    reader.close()


def test_it_goes_into_the_backup_and_comes_back(tmp_path: Path) -> None:
    settings = filled(tmp_path / "store")
    remember_calibration(settings, MADE, FINGERPRINT)
    elsewhere = StoreSettings(path=str(tmp_path / "restored"))
    restore(elsewhere, backup(settings, tmp_path))
    reader = embedded_reader(tmp_path / "restored")
    assert reader.calibration() == MADE
    reader.close()


def test_on_a_server_it_is_a_record_of_the_collection_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    double: Any = OneAtATime(QdrantClient(":memory:"))
    server = QdrantServer([double], StoreSettings(collection="wiki", qdrant_url="memory", retries=0, grace=0.0))
    reader = server_store.server_reader(server)
    assert reader.calibration() is None
    monkeypatch.setattr(server_store, "KNOWN_SECONDS", 0.0)
    writer = server_store.server_writer(server, FINGERPRINT)
    write_page(writer, make_chunk("1", 0, "пароль"))
    writer.commit()
    server_store.remember_calibration(server, {"fingerprint": "another", "chunks": 1})
    assert reader.calibration() is None
    server_store.remember_calibration(server, to_content(MADE, FINGERPRINT))
    assert (reader.calibration(), reader.count()) == (MADE, 1)
