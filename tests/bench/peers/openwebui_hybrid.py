"""Open WebUI's own hybrid search: its code, its embedded Chroma, no reranker, its defaults but the depth.

Without a reranker it embeds every text found once more for each question and sorts by cosine. Here these vectors are
looked up, so that the figures are of the search alone: the real program takes that much longer.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence

import numpy as np

os.environ["FROM_INIT_PY"] = "true"  # as its own command starts it
os.environ["DATA_DIR"] = tempfile.mkdtemp(dir=sys.argv[2])
os.environ["STATIC_DIR"] = os.environ["DATA_DIR"] + "/static"
os.environ.update(VECTOR_DB="chroma", GLOBAL_LOG_LEVEL="ERROR", ENABLE_DB_MIGRATIONS="false", WEBUI_SECRET_KEY="bench")

from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter
from open_webui.retrieval.utils import query_collection_with_hybrid_search
from open_webui.retrieval.vector.factory import get_vector_db_client
from peer import DEPTH, Ask, main

COLLECTION = "bench"
# As save_docs_to_vector_db of its routers/retrieval.py does with the defaults of its config.py.
HEADERS = MarkdownHeaderTextSplitter([("#" * level, f"Header {level}") for level in range(1, 7)], strip_headers=False)
SPLITTER = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=100, add_start_index=True)


def cut(page: dict[str, str]) -> list[str]:
    return [document.page_content for document in SPLITTER.split_documents(HEADERS.split_text(page["text"]))]


def build(texts: Sequence[str], vectors: np.ndarray) -> Ask:
    items = [
        {"id": str(number), "text": text, "vector": vector, "metadata": {"number": number}}
        for number, (text, vector) in enumerate(zip(texts, vectors.tolist(), strict=True))
    ]
    get_vector_db_client().insert(COLLECTION, items)
    known = dict(zip(texts, vectors, strict=True))
    loop = asyncio.new_event_loop()

    def ask(question: str, vector: list[float]) -> list[int]:
        async def embed(text: str | list[str], prefix: str | None = None, user: object = None) -> object:
            return vector if isinstance(text, str) else [known[each] for each in text]

        found = loop.run_until_complete(
            query_collection_with_hybrid_search(
                collection_names=[COLLECTION],
                queries=[question],
                embedding_function=embed,
                k=DEPTH,
                reranking_function=None,
                k_reranker=DEPTH,
                r=0.0,
                hybrid_bm25_weight=0.5,
            )
        )
        return [metadata["number"] for metadata in found["metadatas"][0]]

    return ask


if __name__ == "__main__":
    main(cut, build)
