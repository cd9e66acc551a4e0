"""The heavy adapters, through their real libraries, on tiny models (``make test-models``)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from askwiki.data import Sparse
from askwiki.encoders.factory import make_embedder, make_sparse
from askwiki.encoders.port import Embedder, SparseEncoder
from askwiki.encoders.rerankers import CrossEncoderReranker, FlagModelReranker
from askwiki.errors import ModelError
from askwiki.settings import EmbeddingSettings, RerankSettings, SparseSettings
from tests.support import tiny_models

# Third-party code under test warns of its own future; our own code must not warn.
pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("ignore")]

TEXTS = ["сброс пароль портал", "how to reset the ключ", "a", "диск машина диск машина ключ пароль"]
FRIDA = EmbeddingSettings(
    kind="sentence-transformers", limit=64, query_prefix="search_query: ", document_prefix="search_document: "
)
BGE = EmbeddingSettings(kind="flagembedding", limit=64, query_prefix="", document_prefix="")
E5 = EmbeddingSettings()


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    folder = tmp_path_factory.mktemp("models")

    def made(kind: str) -> str:
        if not (folder / kind).exists():
            getattr(tiny_models, kind)(folder / kind)
        return str(folder / kind)

    return made


@pytest.fixture(params=["frida", "bge_m3", "e5"])
def dense(request: pytest.FixtureRequest, models: Callable[[str], str]) -> Embedder:
    if request.param == "e5":
        return make_embedder(E5)
    return make_embedder(replace(FRIDA if request.param == "frida" else BGE, model=models(request.param)))


@pytest.fixture(params=["bge-m3", "gte", "bm25"])
def sparse(request: pytest.FixtureRequest, models: Callable[[str], str]) -> SparseEncoder:
    kinds = {
        "bge-m3": lambda: SparseSettings(kind="bge-m3", model=models("bge_m3"), limit=64),
        "gte": lambda: SparseSettings(kind="gte", model=models("gte"), limit=64),
        "bm25": SparseSettings,
    }
    return make_sparse(kinds[request.param]())


def test_dense_rows_are_unit_vectors_in_the_order_of_the_texts(dense: Embedder) -> None:
    together = dense.documents(TEXTS)
    assert together.shape == (len(TEXTS), dense.size)
    assert together.dtype == np.float32
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0, abs=1e-5)
    alone = np.stack([dense.documents([text])[0] for text in TEXTS])
    assert together == pytest.approx(alone, abs=2e-3)


def test_no_texts_have_no_vectors(dense: Embedder) -> None:
    assert dense.documents([]).shape == (0, dense.size)
    assert dense.count([]) == []


def test_a_question_is_one_unit_vector(dense: Embedder) -> None:
    vector = dense.query("сброс пароль")
    assert vector.shape == (dense.size,)
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


def test_every_dense_encoder_counts_more_tokens_for_more_text(dense: Embedder) -> None:
    [empty, short, long] = dense.count(["", "ключ", "ключ ключ ключ ключ"])
    assert 0 < empty <= short < long


def test_a_dense_encoder_serves_many_threads(dense: Embedder) -> None:
    expected = [dense.query(text) for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(dense.query, TEXTS * 5))
    assert np.stack(found) == pytest.approx(np.stack(expected * 5), abs=1e-4)


def test_the_prefixes_of_frida_are_put_in_front(models: Callable[[str], str]) -> None:
    """Its own prompts have other names than the library looks for: left alone it adds none."""
    from sentence_transformers import SentenceTransformer

    ours = make_embedder(replace(FRIDA, model=models("frida")))
    raw = SentenceTransformer(models("frida"), device="cpu")
    text = "сброс пароль"
    assert ours.query(text) == pytest.approx(raw.encode(text, prompt_name="search_query"), abs=1e-5)
    assert ours.documents([text])[0] == pytest.approx(raw.encode(text, prompt_name="search_document"), abs=1e-5)
    assert np.abs(ours.query(text) - raw.encode(text)).max() > 1e-3


def test_counting_includes_prefix_and_borders(models: Callable[[str], str]) -> None:
    from transformers import AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(models("frida"))("search_document: ключ ключ")["input_ids"]
    assert make_embedder(replace(FRIDA, model=models("frida"))).count(["ключ ключ"]) == [len(tokens)]


def test_sparse_vectors_hold_distinct_positive_weights(sparse: SparseEncoder) -> None:
    vectors = sparse.documents(TEXTS)
    assert len(vectors) == len(TEXTS)
    for vector in vectors:
        assert list(vector.indices) == sorted(set(vector.indices))
        assert all(value > 0 for value in vector.values)


def test_an_empty_text_has_no_weights(sparse: SparseEncoder) -> None:
    assert sparse.documents(["", "ключ"])[0] == Sparse((), ())
    assert sparse.documents([]) == []


def test_sparse_vectors_do_not_depend_on_their_neighbours(sparse: SparseEncoder) -> None:
    together, alone = sparse.documents(TEXTS), [sparse.documents([text])[0] for text in TEXTS]
    assert [vector.indices for vector in together] == [vector.indices for vector in alone]
    for one, other in zip(together, alone, strict=True):
        assert one.values == pytest.approx(other.values, abs=1e-4)


def test_further_terms_are_added_to_a_question(sparse: SparseEncoder) -> None:
    plain, more = sparse.query("диск"), sparse.query("диск", ["ключ"])
    alone = sparse.query("ключ")
    assert set(plain.indices) < set(more.indices) <= set(plain.indices) | set(alone.indices)


def test_a_bge_m3_without_its_heads_is_refused_instead_of_going_on_with_random_ones(
    models: Callable[[str], str], tmp_path: Path
) -> None:
    shutil.copytree(models("bge_m3"), tmp_path / "bge")
    (tmp_path / "bge" / "sparse_linear.pt").unlink()
    with pytest.raises(ModelError, match=r"sparse_linear\.pt is missing"):
        make_sparse(SparseSettings(kind="bge-m3", model=str(tmp_path / "bge"), limit=64)).documents(["диск"])


def test_the_weights_of_bge_m3_are_those_of_its_head(models: Callable[[str], str]) -> None:
    """relu of the linear head, the largest of each token, special tokens left out."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    name, text = models("bge_m3"), "диск машина диск"
    [vector] = make_sparse(SparseSettings(kind="bge-m3", model=name, limit=64)).documents([text])
    tokenizer, model = AutoTokenizer.from_pretrained(name), AutoModel.from_pretrained(name).eval()
    head = torch.nn.Linear(tiny_models.HIDDEN, 1)
    head.load_state_dict(torch.load(Path(name, "sparse_linear.pt"), weights_only=True))
    read = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        weights = torch.relu(head(model(**read).last_hidden_state))[0, :, 0].tolist()
    best: dict[int, float] = {}
    for token, weight in zip(read["input_ids"][0].tolist(), weights, strict=True):
        if token not in tokenizer.all_special_ids and weight > 0:
            best[token] = max(weight, best.get(token, 0.0))
    assert dict(zip(vector.indices, vector.values, strict=True)) == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("kind", ["cross-encoder", "flagreranker"])
def test_rerankers_score_every_text(models: Callable[[str], str], kind: str) -> None:
    settings = RerankSettings(model=models("cross_encoder"))
    reranker = CrossEncoderReranker(settings) if kind == "cross-encoder" else FlagModelReranker(settings)
    scores = reranker.scores("сброс пароль", TEXTS)
    assert len(scores) == len(TEXTS)
    assert scores == pytest.approx([reranker.scores("сброс пароль", [text])[0] for text in TEXTS], abs=1e-4)


@pytest.mark.parametrize(
    "settings", [replace(FRIDA, model="/no/such/folder"), replace(BGE, model="/no/such/folder")], ids=["st", "flag"]
)
def test_a_model_that_is_not_there_is_a_sentence(settings: EmbeddingSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match=r"/no/such/folder, which cannot be loaded"):
        make_embedder(settings)


def test_a_folder_without_weights_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    tiny_models.broken(tmp_path / "model")
    with pytest.raises(ModelError, match="which cannot be loaded"):
        make_embedder(replace(FRIDA, model=str(tmp_path / "model")))
    with pytest.raises(ModelError, match="which cannot be loaded"):
        make_sparse(SparseSettings(kind="gte", model=str(tmp_path / "model")))
