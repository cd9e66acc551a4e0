"""What learned sparse encoders share: token ids as indices, a query with further terms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from askwiki.data import Sparse
from askwiki.encoders.port import TERM_WEIGHT
from askwiki.settings import SparseSettings


class TokenWeights(ABC):
    """A learned sparse encoder without its model: subclasses give ``documents``."""

    idf = False  # importance is learned

    def __init__(self, kind: str, model: str, settings: SparseSettings) -> None:
        self.kind = kind
        self.model = model
        self.settings = settings

    @abstractmethod
    def documents(self, texts: Sequence[str]) -> list[Sparse]: ...

    def query(self, text: str, terms: Sequence[str] = ()) -> Sparse:
        own, *more = self.documents([text, *([" ".join(terms)] if terms else [])])
        weights = {index: TERM_WEIGHT * value for vector in more for index, value in _pairs(vector)}
        for index, value in _pairs(own):
            weights[index] = max(value, weights.get(index, 0.0))
        return self.vector(weights)

    def identity(self) -> Mapping[str, object]:
        return {"kind": self.kind, "model": self.model, "limit": self.settings.limit, "path": self.settings.path}

    def collisions(self) -> int:
        """A token's id is its index: none."""
        return 0

    def vector(self, weights: Mapping[int, float]) -> Sparse:
        ordered = sorted((index, value) for index, value in weights.items() if value > 0)
        return Sparse(tuple(index for index, _ in ordered), tuple(value for _, value in ordered))


def _pairs(vector: Sparse) -> zip[tuple[int, float]]:
    return zip(vector.indices, vector.values, strict=True)
