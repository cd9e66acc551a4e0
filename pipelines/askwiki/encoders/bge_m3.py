"""BGE-M3 through FlagEmbedding: its dense vectors and its lexical weights, one model for both.

Chen et al.: M3-Embedding (2024). The weights are those of single tokens, so a token's id is its index:
no word can collide with another.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Sparse
from askwiki.encoders.batches import batches, in_batches, unit_rows
from askwiki.encoders.loading import give_back, loading, running, set_threads
from askwiki.encoders.port import dense_identity
from askwiki.encoders.verify import checked, complete
from askwiki.encoders.weights import TokenWeights
from askwiki.settings import EmbeddingSettings, SparseSettings

MODEL = "BAAI/bge-m3"
HEADS = ("sparse_linear.pt", "colbert_linear.pt")  # the library makes up what is missing of them, by chance


class BgeM3Dense:
    """It needs no prefixes; the ones of the settings are put in front all the same."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        self._model = _shared(settings.model or MODEL, settings.device, settings.sha256)
        set_threads(settings.threads)
        self._settings = settings
        self.size = int(self._model.flag.model.model.config.hidden_size)
        self.limit = settings.limit

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        counts = self.count(texts)
        prefixed = [self._settings.document_prefix + text for text in texts]
        vectors = in_batches(prefixed, counts, self._settings.batch_tokens, self.size, self._encode)
        give_back(self._settings.device, sum(counts))
        return vectors

    def query(self, text: str) -> NDArray[np.float32]:
        return np.asarray(unit_rows(self._encode([self._settings.query_prefix + text]))[0])

    def count(self, texts: Sequence[str]) -> list[int]:
        return self._model.count([self._settings.document_prefix + text for text in texts])

    def identity(self) -> Mapping[str, object]:
        return dense_identity("flagembedding", self._settings, self.size, self.limit)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(self._model.encode(texts, self.limit, dense=True)["dense_vecs"], dtype=np.float32)


class BgeM3Sparse(TokenWeights):
    """The lexical weights; importance is in them already, so the store does not multiply by frequency."""

    def __init__(self, settings: SparseSettings) -> None:
        super().__init__("bge-m3", settings.model or MODEL, settings)
        self._model = _shared(self.model, settings.device, settings.sha256)

    def documents(self, texts: Sequence[str]) -> list[Sparse]:
        found: list[Sparse] = [Sparse((), ())] * len(texts)
        for numbers in batches(self._model.count(texts), self.settings.batch_tokens):
            encoded = self._model.encode([texts[number] for number in numbers], self.settings.limit, dense=False)
            for number, weights in zip(numbers, encoded["lexical_weights"], strict=True):
                found[number] = self.vector({int(token): float(weight) for token, weight in weights.items()})
        return found


class _Model:
    """One loaded model behind a lock."""

    def __init__(self, name: str, device: str, stated: str) -> None:
        with loading(name, "The model of BGE-M3"):
            from FlagEmbedding import BGEM3FlagModel

            files = checked(name, stated, "sha256")
            self.flag: Any = BGEM3FlagModel(files, use_fp16=device.startswith("cuda"), devices=device)
        complete(files, HEADS)
        self._name = name
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str], limit: int, *, dense: bool) -> Any:
        with self._lock, running(self._name):
            return self.flag.encode(
                list(texts),
                batch_size=len(texts) + 1,  # a full batch would print bars of progress, at every question
                max_length=limit,
                return_dense=dense,
                return_sparse=not dense,
                return_colbert_vecs=False,
            )

    def count(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        tokens = self.flag.tokenizer(list(texts), add_special_tokens=True, truncation=False, verbose=False)
        return [len(ids) for ids in tokens["input_ids"]]


@functools.cache
def _shared(name: str, device: str, stated: str) -> _Model:
    """Dense and sparse encoder of one process share the model."""
    return _Model(name, device, stated)
