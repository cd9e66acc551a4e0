"""GTE-multilingual's token weights: a head that gives every token one number.

Zhang et al.: mGTE (2024). The converted model of ``alibaba-nlp-community`` runs without remote code;
the original one runs only where ``trust_remote_code`` names it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from askwiki.data import Sparse
from askwiki.encoders.batches import batches
from askwiki.encoders.loading import loading, running
from askwiki.encoders.verify import checked
from askwiki.encoders.weights import TokenWeights
from askwiki.settings import SparseSettings

MODEL = "alibaba-nlp-community/gte-multilingual-base"


class GteSparse(TokenWeights):
    """The largest weight of each distinct token; special tokens left out."""

    def __init__(self, settings: SparseSettings) -> None:
        super().__init__("gte", settings.model or MODEL, settings)
        with loading(self.model, "sparse.model"):
            from transformers import AutoModelForTokenClassification, AutoTokenizer

            remote = settings.trust_remote_code == self.model
            files = checked(self.model, settings.sha256, "sparse.sha256")
            self._tokenizer: Any = AutoTokenizer.from_pretrained(files, trust_remote_code=remote)
            loaded: Any = AutoModelForTokenClassification.from_pretrained(files, trust_remote_code=remote)
            self._model = loaded.eval().to(settings.device)
        self._lock = threading.Lock()

    def documents(self, texts: Sequence[str]) -> list[Sparse]:
        found: list[Sparse] = [Sparse((), ())] * len(texts)
        counts = [len(ids) for ids in self._tokenizer(list(texts), verbose=False)["input_ids"]] if texts else []
        for numbers in batches([min(count, self.settings.limit) for count in counts], self.settings.batch_tokens):
            for number, vector in zip(numbers, self._encode([texts[number] for number in numbers]), strict=True):
                found[number] = vector
        return found

    def _encode(self, texts: Sequence[str]) -> list[Sparse]:
        import torch

        read = self._tokenizer(
            list(texts), padding=True, truncation=True, max_length=self.settings.limit, return_tensors="pt"
        ).to(self.settings.device)
        with self._lock, running(self.model), torch.no_grad():
            weights = torch.relu(self._model(**read).logits).squeeze(-1).float().cpu().tolist()
        return [self._vector_of(ids, row) for ids, row in zip(read["input_ids"].cpu().tolist(), weights, strict=True)]

    def _vector_of(self, ids: Sequence[int], weights: Sequence[float]) -> Sparse:
        special = set(self._tokenizer.all_special_ids)
        best: dict[int, float] = {}
        for token, weight in zip(ids, weights, strict=True):
            if token not in special:
                best[token] = max(weight, best.get(token, 0.0))
        return self.vector(best)
