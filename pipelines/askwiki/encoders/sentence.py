"""Dense encoders through sentence-transformers: FRIDA and every other model it loads."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from askwiki.encoders.batches import in_batches, unit_rows
from askwiki.encoders.loading import give_back, loading, running, set_threads
from askwiki.encoders.port import dense_identity
from askwiki.encoders.verify import checked
from askwiki.settings import EmbeddingSettings


class SentenceEncoder:
    """Pooling is the model's own. Prefixes are put in front here: a model without prompts named
    ``query`` and ``document`` would go without any, and say nothing about it."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        with loading(settings.model, "embedding.model"):
            from sentence_transformers import SentenceTransformer

            set_threads(settings.threads)
            self._model = SentenceTransformer(
                checked(settings.model, settings.sha256, "embedding.sha256"),
                device=settings.device,
                trust_remote_code=settings.trust_remote_code == settings.model,
            )
            self.size = int(self._model.get_embedding_dimension() or 0)
        self._settings = settings
        self._lock = threading.Lock()
        self.limit = min(settings.limit, int(self._model.max_seq_length or settings.limit))
        self._model.max_seq_length = self.limit

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        counts = self.count(texts)
        prefixed = [self._settings.document_prefix + text for text in texts]
        vectors = in_batches(prefixed, counts, self._settings.batch_tokens, self.size, self._encode)
        give_back(self._settings.device, sum(counts))
        return vectors

    def query(self, text: str) -> NDArray[np.float32]:
        return np.asarray(unit_rows(self._encode([self._settings.query_prefix + text]))[0])

    def count(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        prefixed = [self._settings.document_prefix + text for text in texts]
        tokens = self._model.tokenizer(prefixed, add_special_tokens=True, truncation=False, verbose=False)
        return [len(ids) for ids in tokens["input_ids"]]

    def identity(self) -> Mapping[str, object]:
        return dense_identity("sentence-transformers", self._settings, self.size, self.limit)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._lock, running(self._settings.model):
            found = self._model.encode(
                list(texts), batch_size=len(texts), convert_to_numpy=True, show_progress_bar=False
            )
        return np.asarray(found, dtype=np.float32)
