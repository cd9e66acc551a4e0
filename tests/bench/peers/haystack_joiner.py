"""Haystack's pipeline of BM25, embeddings and the joiner by reciprocal ranks, all in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from peer import DEPTH, Ask, main

SPLITTER = DocumentSplitter()  # 200 words


def cut(page: dict[str, str]) -> list[str]:
    if not page["text"].strip():
        return []
    return [document.content for document in SPLITTER.run(documents=[Document(content=page["text"])])["documents"]]


def build(texts: Sequence[str], vectors: np.ndarray) -> Ask:
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(
        [
            Document(id=str(number), content=text, embedding=vector)
            for number, (text, vector) in enumerate(zip(texts, vectors.tolist(), strict=True))
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("words", InMemoryBM25Retriever(store, top_k=DEPTH))
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(store, top_k=DEPTH))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=DEPTH))
    pipeline.connect("words", "joiner")
    pipeline.connect("dense", "joiner")

    def ask(question: str, vector: list[float]) -> list[int]:
        found = pipeline.run({"words": {"query": question}, "dense": {"query_embedding": vector}})
        return [int(document.id) for document in found["joiner"]["documents"]]

    return ask


if __name__ == "__main__":
    main(cut, build)
