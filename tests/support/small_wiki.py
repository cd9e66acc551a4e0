"""A wiki of a few chunks in memory, and a kit around it: for tests of stages and flow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from askwiki.configuration import Configuration
from askwiki.data import PUBLIC, Calibration, Chunk, Clause, LegHit, Rights, Sparse
from askwiki.encoders.factory import make_sparse
from askwiki.encoders.port import Embedder, SparseEncoder
from askwiki.encoders.rerankers import Reranker
from askwiki.kit import Kit
from askwiki.language.glossary import Glossary, GlossaryTerm
from askwiki.llm.port import Llm
from askwiki.prompts import load_prompts
from askwiki.settings import Settings, SparseSettings
from askwiki.store.fingerprint import fingerprint_of
from askwiki.store.port import Freshness, Leg, LegName, Reader
from askwiki.texts import load_texts
from tests.support.fakes import HashEmbedder

CONFIG = Path(__file__).resolve().parents[2] / "config"
TERMS = (GlossaryTerm("ТК", "телефонная книга: номера сотрудников", ("телефонка",)),)


def chunk(name: str, text: str, **more: Any) -> Chunk:
    """``name`` is ``page`` or ``page#ordinal``; everything else has a plain default."""
    page, _, number = name.partition("#")
    fields: dict[str, Any] = {
        "id": name,
        "page_id": page,
        "space": "KB",
        "title": f"Страница {page}",
        "path": ("База знаний",),
        "headings": (),
        "url": f"https://wiki.example.com/{page}",
        "kind": "section",
        "screen": False,
        "ordinal": int(number or 0),
        "part": 1,
        "parts": 1,
        "text": text,
        "updated": "2026-08-30T10:00:00",
        "acl": PUBLIC,
    }
    return Chunk(**{**fields, **more})


class MemoryReader:
    """The ``Reader`` Protocol over a list of chunks; ``broken`` raises from every method that searches."""

    def __init__(
        self,
        chunks: Sequence[Chunk],
        *,
        embedder: Embedder,
        sparse: SparseEncoder,
        fingerprint: Mapping[str, Any] | None = None,
        readers: Mapping[str, tuple[Clause, ...]] | None = None,
    ) -> None:
        self.chunks = list(chunks)
        self.broken: Exception | None = None
        self.searches = 0
        self.measured: Calibration | None = None
        self.filled = True  # False: as while the first index of a server is being made
        self._readers = dict(readers or {})
        self._fingerprint = dict(fingerprint or {})
        self._dense = {each.id: embedder.documents([_embedded(each)])[0] for each in chunks}
        self._sparse = {each.id: sparse.documents([_embedded(each)])[0] for each in chunks}

    def search(self, legs: Sequence[Leg], rights: Rights) -> dict[LegName, dict[str, LegHit]]:
        self._check()
        self.searches += 1
        return {leg.name: self._leg(leg, rights) for leg in legs}

    def fetch(self, chunk_ids: Sequence[str], rights: Rights) -> dict[str, Chunk]:
        self._check()
        return {each.id: each for each in self.chunks if each.id in chunk_ids and each.acl in rights.keys}

    def chunks_of(self, page_ids: Collection[str], rights: Rights) -> dict[str, list[Chunk]]:
        self._check()
        seen = [each for each in self.chunks if each.acl in rights.keys]
        return {page_id: [each for each in seen if each.page_id == page_id] for page_id in page_ids}

    def visible_urls(self, urls: Collection[str], rights: Rights) -> frozenset[str]:
        return frozenset(each.url for each in self.chunks if each.acl in rights.keys) & frozenset(urls)

    def conjunctions(self) -> dict[str, tuple[Clause, ...]]:
        self._check()
        return self._readers

    def fingerprint(self) -> Mapping[str, Any]:
        self._check()
        return self._fingerprint

    def count(self) -> int:
        return len(self.chunks)

    def freshness(self) -> list[Freshness]:
        return []

    def calibration(self) -> Calibration | None:
        return self.measured

    def sample(self, count: int, rights: Rights) -> list[Chunk]:
        return [each for each in self.chunks if each.acl in rights.keys][:count]

    def whole(self) -> bool:
        return self.filled

    def close(self) -> None:
        """Nothing is open."""

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken

    def _leg(self, leg: Leg, rights: Rights) -> dict[str, LegHit]:
        scores = {each.id: self._score(leg, each) for each in self.chunks if each.acl in rights.keys}
        if isinstance(leg.query, Sparse):
            scores = {name: score for name, score in scores.items() if score > 0}
        order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[: leg.depth]
        return {name: LegHit(rank, score) for rank, (name, score) in enumerate(order, 1)}

    def _score(self, leg: Leg, each: Chunk) -> float:
        if isinstance(leg.query, Sparse):
            weights = dict(zip(self._sparse[each.id].indices, self._sparse[each.id].values, strict=True))
            return sum(
                value * weights.get(index, 0.0)
                for index, value in zip(leg.query.indices, leg.query.values, strict=True)
            )
        if leg.query.shape != self._dense[each.id].shape:
            raise AssertionError("a vector of another size")
        return float(np.dot(leg.query, self._dense[each.id]) / np.linalg.norm(leg.query))


def _embedded(each: Chunk) -> str:
    return "\n".join((*each.path, each.title, *each.headings, each.text))


def kit_of(
    chunks: Sequence[Chunk],
    *,
    llm: Llm | None = None,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    reader: Reader | None = None,
    reranker: Reranker | None = None,
    readers: Mapping[str, tuple[Clause, ...]] | None = None,
) -> Kit:
    """A kit with the real prompts, sentences and sparse encoder around a wiki in memory."""
    settings = settings or Settings()
    encoder, sparse = embedder or HashEmbedder(), make_sparse(SparseSettings())
    mark = fingerprint_of(encoder, sparse, settings.chunking, contexts=True)
    return Kit(
        configuration=Configuration(settings, CONFIG, {}),
        prompts=load_prompts(CONFIG / "prompts"),
        texts=load_texts(CONFIG / "texts", settings.wiki.name),
        glossary=Glossary(TERMS),
        llm=llm,
        embedder=encoder,
        sparse=sparse,
        reader=reader or MemoryReader(chunks, embedder=encoder, sparse=sparse, fingerprint=mark, readers=readers),
        reranker=reranker,
    )


def with_settings(kit: Kit, **sections: Any) -> Kit:
    """The kit with other sections of settings."""
    settings = replace(kit.settings, **sections)
    return replace(kit, configuration=replace(kit.configuration, settings=settings))
