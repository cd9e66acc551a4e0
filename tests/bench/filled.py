"""An embedded index of generated chunks: running text of the sample wiki cut and mixed, vectors by chance.

Words keep their real frequencies, so the legs of the words cost what they cost; a dense search costs the
same whatever the vectors say. No model is needed, and the index passes for one of any encoder's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from askwiki.data import Chunk, Vectors
from askwiki.encoders.factory import make_sparse
from askwiki.encoders.port import Embedder
from askwiki.settings import ChunkingSettings, SparseSettings
from askwiki.store.embedded.store import embedded_writer
from askwiki.store.fingerprint import fingerprint_of
from askwiki.store.port import PageState, Point
from tests.support.running import ROOT
from tests.support.small_wiki import chunk

A_PAGE = 7  # chunks: five sections of one part, then one of two; in docs-ru 27 % of the chunks are parts
PIECES = 3  # dense vectors of a chunk's text: about 300 tokens
SENTENCES, WORDS = 12, 12  # of a chunk; docs-ru has 148 words in one
SOURCE = "html:generated"


def questions() -> list[str]:
    """Real questions about the sample wiki, whose words the chunks are made of."""
    lines = (ROOT / "tests/golden/questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines]


def fill(root: Path, count: int, embedder: Embedder) -> None:
    """``count`` chunks under ``root``, written as the indexer writes them."""
    random, sparse = np.random.default_rng(0), make_sparse(SparseSettings())
    writer = embedded_writer(root, fingerprint_of(embedder, sparse, ChunkingSettings(), contexts=True))
    words = running_words()
    for page in range(count // A_PAGE):
        chunks = list(_chunks(page, words, random))
        weights = sparse.documents([each.text for each in chunks])
        points = [
            Point(each, Vectors(_units(random, PIECES, embedder.size), _units(random, 1, embedder.size)[0], weight))
            for each, weight in zip(chunks, weights, strict=True)
        ]
        writer.replace_page(SOURCE, PageState(str(page), "", {each.id: "" for each in chunks}), points, ())
    writer.commit()
    writer.close()


def running_words() -> list[str]:
    """The Cyrillic words of the sample wiki in their order."""
    text = (ROOT / "tests/wiki/xml/entities.xml").read_text(encoding="utf-8")
    return re.findall(r"[а-яё]+", text, re.IGNORECASE)


def _chunks(page: int, words: list[str], random: np.random.Generator) -> Iterator[Chunk]:
    for ordinal in range(A_PAGE):
        starts = random.integers(0, len(words) - WORDS, SENTENCES)
        sentences = (" ".join(words[start : start + WORDS]).capitalize() for start in starts)
        part, parts = (ordinal - 4, 2) if ordinal >= 5 else (1, 1)
        title = " ".join(words[starts[0] : starts[0] + 3])
        yield chunk(
            f"{page}#{ordinal}",
            f"## Раздел {ordinal - part}\n\n{'. '.join(sentences)}.",
            headings=(f"Раздел {ordinal - part}",),
            title=title.capitalize(),
            part=part,
            parts=parts,
            context=f"Из страницы «{title}».",
        )


def _units(random: np.random.Generator, rows: int, size: int) -> np.ndarray:
    vectors = random.normal(size=(rows, size)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
