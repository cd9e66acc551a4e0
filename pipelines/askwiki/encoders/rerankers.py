"""Rerankers (cross-encoders) behind one small Protocol: a model in the process or an endpoint."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import requests

from askwiki.errors import ModelError, SettingsError
from askwiki.masking import remember, remember_address
from askwiki.settings import RerankSettings


class Reranker(Protocol):
    """Thread-safe. Scores grow with relevance; their scale is the model's own."""

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score for each text, in their order; ``ModelError`` when that cannot be had."""
        ...


class EndpointReranker:
    """A rerank endpoint as llama.cpp, vLLM, Jina and Cohere have it (``/rerank``), or TEI's."""

    def __init__(self, settings: RerankSettings) -> None:
        if not settings.url:
            raise SettingsError("rerank.kind is endpoint, so rerank.url must be set, like http://host:8080/v1/rerank.")
        self._settings = settings
        self._session = requests.Session()
        remember(settings.key)
        remember_address(settings.url)
        if settings.key:
            self._session.headers["Authorization"] = f"Bearer {settings.key}"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        # "documents" is read by most servers, "texts" by TEI; each ignores the other's name
        body = {"query": question, "documents": list(texts), "texts": list(texts)}
        if self._settings.model:
            body["model"] = self._settings.model
        try:
            answer = self._session.post(self._settings.url, json=body, timeout=self._settings.timeout)
            answer.raise_for_status()
            said = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise ModelError(f"The reranker at {self._settings.url} failed: {error}") from error
        return _read_scores(said, len(texts))


def _read_scores(said: Any, count: int) -> list[float]:
    try:
        rows = said["results"] if isinstance(said, dict) else said
        scores = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
        return [scores[index] for index in range(count)]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ModelError("The reranker did not answer with one score for each text.") from None


@contextlib.contextmanager
def _running() -> Iterator[None]:
    """What a library raises while its model works, a full graphics card for one, as a part that is down."""
    try:
        yield
    except (RuntimeError, ValueError, IndexError) as error:
        raise ModelError(f"The reranker failed: {error}") from error


class FlagModelReranker:
    """A BGE reranker through FlagEmbedding; scores between 0 and 1."""

    def __init__(self, settings: RerankSettings) -> None:
        from FlagEmbedding import FlagReranker

        self._model = FlagReranker(settings.model or "BAAI/bge-reranker-v2-m3", devices=settings.device)
        self._lock = threading.Lock()

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        with self._lock, _running():
            scores = self._model.compute_score([(question, text) for text in texts], normalize=True)
        return [float(score) for score in (scores if isinstance(scores, list) else [scores])]


class CrossEncoderReranker:
    """Any cross-encoder through sentence-transformers."""

    def __init__(self, settings: RerankSettings) -> None:
        from sentence_transformers import CrossEncoder

        self._model = CrossEncoder(settings.model or "BAAI/bge-reranker-v2-m3", device=settings.device)
        self._lock = threading.Lock()

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        with self._lock, _running():
            scores = self._model.predict([(question, text) for text in texts], show_progress_bar=False)
        return [float(score) for score in scores]


_KINDS: dict[str, Callable[[RerankSettings], Reranker]] = {
    "endpoint": EndpointReranker,
    "flagreranker": FlagModelReranker,
    "cross-encoder": CrossEncoderReranker,
}


def make_reranker(settings: RerankSettings) -> Reranker | None:
    """The reranker that the settings name, None for none; heavy libraries are loaded only for theirs."""
    if settings.kind == "none":
        return None
    try:
        return _KINDS[settings.kind](settings)
    except ImportError as error:
        raise SettingsError(f"rerank.kind {settings.kind} needs `pip install 'askwiki[models]'`: {error}") from error
    except (OSError, ValueError) as error:  # what the libraries raise for a model that is not there or no reranker
        raise SettingsError(f"rerank.model {settings.model or 'of the default'} cannot be loaded: {error}") from error
