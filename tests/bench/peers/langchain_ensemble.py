"""LangChain's EnsembleRetriever over BM25 and FAISS, with its defaults but the depth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter
from peer import DEPTH, Ask, main

SPLITTER = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)  # as in its own tutorials


class Given(Embeddings):
    """The vector of the question that is being asked: the model's time is measured apart."""

    def __init__(self) -> None:
        self.vector: list[float] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise AssertionError("the vectors are given")

    def embed_query(self, text: str) -> list[float]:
        return self.vector


def cut(page: dict[str, str]) -> list[str]:
    return SPLITTER.split_text(page["text"])


def build(texts: Sequence[str], vectors: np.ndarray) -> Ask:
    given, metadata = Given(), [{"number": number} for number in range(len(texts))]
    pairs = list(zip(texts, vectors.tolist(), strict=True))
    dense = FAISS.from_embeddings(pairs, given, metadatas=metadata).as_retriever(search_kwargs={"k": DEPTH})
    words = BM25Retriever.from_documents(
        [Document(page_content=text, metadata=each) for text, each in zip(texts, metadata, strict=True)], k=DEPTH
    )
    both = EnsembleRetriever(retrievers=[words, dense], weights=[0.5, 0.5], id_key="number")

    def ask(question: str, vector: list[float]) -> list[int]:
        given.vector = vector
        return [document.metadata["number"] for document in both.invoke(question)][:DEPTH]

    return ask


if __name__ == "__main__":
    main(cut, build)
