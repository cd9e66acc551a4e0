"""The encoder service: the models of this process for other processes, over HTTP, without any state.

    POST /v1/embeddings  {"input": text or list, "input_type": "query" | "document"}   as OpenAI answers
    POST /v1/sparse      {"input": [...], "input_type": …, "terms": [...]}   {"data": [{indices, values}]}
    POST /v1/count       {"input": [...]}                                    {"counts": [...]}
    GET  /v1/identity    what the models are;  GET /health  open, all else needs the key

The key is looked at before the first byte of a body is read, and a body is read only up to a limit.

Requests that arrive while the model works are encoded together in the next batch.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from askwiki.encoders.port import Embedder, SparseEncoder
from askwiki.errors import ModelError
from askwiki.server.asgi import App
from askwiki.server.door import behind_key

MOST_TEXTS = 2048  # of one request, as OpenAI allows
MOST_WORDS = 500_000  # of one request: about a thousand chunks, or one very long page to be counted
MOST_TERMS = 1_000  # search terms beside a question
MOST_BYTES = 16_000_000  # of one request's body
MOST_TOGETHER = 512  # texts of several requests in one batch

logger = logging.getLogger(__name__)


class EmbeddingsRequest(BaseModel):
    input: str | list[str]
    model: str = ""
    input_type: Literal["query", "document", "passage"] = "document"
    encoding_format: Literal["float"] = "float"


class SparseRequest(BaseModel):
    input: list[str] = Field(max_length=MOST_TEXTS)
    input_type: Literal["query", "document"] = "document"
    terms: list[str] = Field(default=[], max_length=MOST_TERMS)


class CountRequest(BaseModel):
    input: list[str] = Field(max_length=MOST_TEXTS)


@dataclass(frozen=True, slots=True)
class _Job:
    texts: Sequence[str]
    done: Future[NDArray[np.float32]]


class Batcher:
    """One thread that encodes: while it works requests gather, and the next batch takes them all."""

    def __init__(self, encode: Callable[[Sequence[str]], NDArray[np.float32]]) -> None:
        self._encode = encode
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self.batches = 0
        threading.Thread(target=self._work, name="encoder", daemon=True).start()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        job = _Job(texts, Future())
        self._jobs.put(job)
        return job.done.result()

    def waiting(self) -> int:
        """Requests that no batch has taken yet."""
        return self._jobs.qsize()

    def _work(self) -> None:
        while True:
            jobs = self._gather(self._jobs.get())
            self.batches += 1
            try:
                vectors = self._encode([text for job in jobs for text in job.texts])
            except Exception as error:  # reaches whoever waits, as its own error
                for job in jobs:
                    job.done.set_exception(error)
                continue
            start = 0
            for job in jobs:
                job.done.set_result(vectors[start : start + len(job.texts)])
                start += len(job.texts)

    def _gather(self, first: _Job) -> list[_Job]:
        jobs, size = [first], len(first.texts)
        while size < MOST_TOGETHER:
            try:
                jobs.append(self._jobs.get_nowait())
            except queue.Empty:
                break
            size += len(jobs[-1].texts)
        return jobs


def encoder_app(embedder: Embedder, sparse: SparseEncoder, *, key: str) -> App:
    """The service as an ASGI application. With an empty key every caller is served."""
    app = FastAPI(title="askwiki encoder", openapi_url=None)
    documents = Batcher(embedder.documents)

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/v1/identity")
    def identity() -> dict[str, Any]:
        return {"dense": dict(embedder.identity()), "sparse": dict(sparse.identity()), "idf": sparse.idf}

    @app.post("/v1/embeddings")
    def embeddings(request: EmbeddingsRequest) -> dict[str, Any]:
        texts = [request.input] if isinstance(request.input, str) else request.input
        _limit(texts)
        if len(texts) > MOST_TEXTS:
            raise HTTPException(413, f"At most {MOST_TEXTS} texts a request.")
        if request.input_type == "query":
            vectors = [embedder.query(text) for text in texts]
        else:
            vectors = list(documents(texts)) if texts else []
        rows = [
            {"object": "embedding", "index": number, "embedding": vector.tolist()}
            for number, vector in enumerate(vectors)
        ]
        tokens = sum(embedder.count(texts))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "data": rows, "model": str(embedder.identity()["model"]), "usage": usage}

    @app.post("/v1/sparse")
    def sparse_vectors(request: SparseRequest) -> dict[str, Any]:
        _limit([*request.input, *request.terms])
        if request.input_type == "query":
            found = [sparse.query(text, request.terms) for text in request.input]
        else:
            found = sparse.documents(request.input)
        return {"data": [{"indices": vector.indices, "values": vector.values} for vector in found]}

    @app.post("/v1/count")
    def count(request: CountRequest) -> dict[str, list[int]]:
        _limit(request.input)
        return {"counts": embedder.count(request.input)}

    @app.exception_handler(ModelError)
    def failed(request: Request, error: ModelError) -> JSONResponse:
        logger.warning("%s: %s", request.url.path, error)
        return JSONResponse({"error": {"message": str(error)}}, status_code=500)

    return behind_key(app, key, MOST_BYTES)


def _limit(texts: Sequence[str]) -> None:
    if sum(len(text.split()) for text in texts) > MOST_WORDS:
        raise HTTPException(413, f"At most {MOST_WORDS} words a request.")
