"""Small real classes behind our Protocols that need no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mmh3
import numpy as np
from numpy.typing import NDArray

from askwiki.language.stems import stems


class HashEmbedder:
    """A bag of stems hashed to a few numbers: texts that share words are near. Counts its calls."""

    def __init__(self, size: int = 64, limit: int = 512, name: str = "hash") -> None:
        self.size = size
        self.limit = limit
        self.name = name
        self.texts = 0  # texts that ``documents`` was asked for
        self.calls = 0

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        self.texts += len(texts)
        return np.stack([self.query(text) for text in texts]) if texts else np.empty((0, self.size), np.float32)

    def query(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.size, dtype=np.float32)
        vector[0] = 0.1  # a text without words has a direction too
        for stem in stems(text):
            number = mmh3.hash(stem, signed=False)
            vector[number % self.size] += 1.0 if number & 1 << 31 else -1.0
        length = np.linalg.norm(vector)
        return vector / length if length else np.eye(1, self.size, dtype=np.float32)[0]

    def count(self, texts: Sequence[str]) -> list[int]:
        """A word is a token; two more for the borders."""
        return [len(text.split()) + 2 for text in texts]

    def identity(self) -> Mapping[str, object]:
        return {"kind": "hash", "model": self.name, "size": self.size, "limit": self.limit}
