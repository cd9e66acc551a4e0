"""Encoders behind HTTP: our own service, or any server with OpenAI's ``/v1/embeddings``.

Our service says who it is (``/v1/identity``), counts tokens and puts the prefixes in front itself, so an
index made through it fits one made in the process. Other servers get the prefixes from here, and
their tokens are estimated from above.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Sparse
from askwiki.encoders.batches import in_batches, unit_rows
from askwiki.encoders.calls import Client, Unknown
from askwiki.encoders.port import dense_identity
from askwiki.errors import ModelError, SettingsError
from askwiki.settings import EmbeddingSettings, SparseSettings

LETTERS_PER_TOKEN = 2  # fewer than any multilingual tokenizer needs for running text; other signs are a token each
MARGIN = 32  # tokens kept free where they are estimated: no tokenizer of texts yet unseen is bounded for certain
_LETTERS = re.compile(r"[^\W\d_]+")


class EndpointEmbedder:
    """The size is learned from the first answer, so that a server that is down does not stop the start."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        if not settings.url:
            raise SettingsError("embedding.kind is openai, so embedding.url must be set, like http://host:8080/v1.")
        self._client = Client(
            settings.url, settings.key, timeout=settings.timeout, retries=settings.retries, setting="embedding.url"
        )
        self._settings = settings

    @functools.cached_property
    def size(self) -> int:
        known = self._service.get("size")
        return int(known) if known else self._embed(["size"], "document").shape[1]

    @functools.cached_property
    def limit(self) -> int:
        if self._service:
            return min(self._settings.limit, int(self._service.get("limit", self._settings.limit)))
        return self._settings.limit - MARGIN

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return in_batches(
            texts,
            self.count(texts),
            self._settings.batch_tokens,
            self.size,
            lambda some: self._embed(some, "document"),
        )

    def query(self, text: str) -> NDArray[np.float32]:
        found = self._embed([text], "query")
        if found.shape != (1, self.size):
            raise ModelError(f"The encoder server gave {found.shape[1]} numbers where {self.size} were expected.")
        return np.asarray(unit_rows(found)[0])

    def count(self, texts: Sequence[str]) -> list[int]:
        if self._service:
            return [int(number) for number in self._client.post("count", {"input": list(texts)})["counts"]]
        return [estimated_tokens(self._settings.document_prefix + text) for text in texts]

    def identity(self) -> Mapping[str, object]:
        return self._service or dense_identity("openai", self._settings, self.size, self.limit)

    @functools.cached_property
    def _service(self) -> Mapping[str, Any]:
        """What our own service says of its dense encoder; empty for any other server."""
        try:
            found = self._client.get("identity").get("dense")
        except Unknown:
            return {}
        return found if isinstance(found, dict) else {}

    def _embed(self, texts: Sequence[str], use: str) -> NDArray[np.float32]:
        settings = self._settings
        body: dict[str, Any] = {"model": settings.model, "encoding_format": "float"}
        if self._service:
            body |= {"input": list(texts), "input_type": use}
        else:
            prefix = settings.query_prefix if use == "query" else settings.document_prefix
            body |= {"input": [prefix + text for text in texts]}
        return _rows(self._client.post("embeddings", body), len(texts))


def estimated_tokens(text: str) -> int:
    """From above: words by their letters, every digit and sign and the blank before it alone, begin and end mark."""
    words = [len(word) for word in _LETTERS.findall(text)]
    parts = text.split()
    signs = sum(map(len, parts)) - sum(words) + sum(not part[0].isalpha() for part in parts)
    return sum(-(-letters // LETTERS_PER_TOKEN) for letters in words) + signs + 2


class RemoteSparse:
    """The sparse encoder of our own service."""

    def __init__(self, settings: SparseSettings) -> None:
        if not settings.url:
            raise SettingsError("sparse.kind is remote, so sparse.url must be set, like http://host:8080/v1.")
        self._client = Client(
            settings.url, settings.key, timeout=settings.timeout, retries=settings.retries, setting="sparse.url"
        )
        self._batch = settings.batch

    @functools.cached_property
    def idf(self) -> bool:
        return bool(self._client.get("identity")["idf"])

    def documents(self, texts: Sequence[str]) -> list[Sparse]:
        found: list[Sparse] = []
        for start in range(0, len(texts), self._batch):
            found += self._ask({"input": list(texts[start : start + self._batch]), "input_type": "document"})
        return found

    def query(self, text: str, terms: Sequence[str] = ()) -> Sparse:
        return self._ask({"input": [text], "input_type": "query", "terms": list(terms)})[0]

    def identity(self) -> Mapping[str, object]:
        return self._identity

    def collisions(self) -> int:
        """Counted where the words are: in the service."""
        return 0

    @functools.cached_property
    def _identity(self) -> Mapping[str, object]:
        return dict(self._client.get("identity")["sparse"])

    def _ask(self, body: dict[str, Any]) -> list[Sparse]:
        try:
            rows = self._client.post("sparse", body)["data"]
            found = [Sparse(tuple(map(int, row["indices"])), tuple(map(float, row["values"]))) for row in rows]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"The encoder server at {self._client.base} did not answer with sparse vectors."
            ) from error
        if len(found) != len(body["input"]):
            raise ModelError(
                f"The encoder server at {self._client.base} gave {len(found)} vectors for {len(body['input'])} texts."
            )
        return found


def _rows(answer: Any, expected: int) -> NDArray[np.float32]:
    try:
        rows = sorted(answer["data"], key=lambda row: int(row.get("index", 0)))
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelError("The encoder server did not answer with one vector for each text.") from error
    if len(vectors) != expected or vectors.ndim != 2:
        raise ModelError(f"The encoder server gave {len(vectors)} vectors for {expected} texts.")
    return vectors
