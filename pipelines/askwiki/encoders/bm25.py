"""BM25 as sparse vectors: the store multiplies by inverse document frequency, we do the rest.

Robertson, Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond (2009). All three
numbers are part of the fingerprint, so that old and new chunks stay comparable; the average length is a setting.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import mmh3

from askwiki.data import Sparse
from askwiki.encoders.port import TERM_WEIGHT
from askwiki.language.terms import grams
from askwiki.language.terms import terms as terms_of
from askwiki.settings import SparseSettings

K1 = 1.2  # how soon a repeated word stops to count
B = 0.75  # how much a long text is held back; both as usual
RULES = 2  # part of the identity: raise it when the same text gives other words than before
_REMEMBERED = 65_536  # terms whose index is not worked out again, some MB


class Bm25:
    """Terms to indices by unsigned 32-bit MurmurHash3. Thread-safe."""

    idf = True

    def __init__(self, settings: SparseSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._owners: dict[int, int] = {}  # index -> other hash of the term that was first to have it
        self._collisions: set[int] = set()
        self._watched: Callable[[str], int] = lru_cache(_REMEMBERED)(self._watch)

    def documents(self, texts: Sequence[str]) -> list[Sparse]:
        return [self._document(text) for text in texts]

    def query(self, text: str, terms: Sequence[str] = ()) -> Sparse:
        gram_weight = self._settings.gram_weight
        weights = dict.fromkeys(grams(text), gram_weight) if gram_weight else {}
        weights |= {found.text: TERM_WEIGHT for more in terms for found in terms_of(more)}
        weights.update({found.text: 1.0 for found in terms_of(text)})
        return _vector((_index(term), weight) for term, weight in weights.items())

    def identity(self) -> Mapping[str, object]:
        settings = self._settings
        return {
            "kind": "bm25",
            "rules": RULES,
            "k1": K1,
            "b": B,
            "average_length": settings.average_length,
            "path": settings.path,
            "grams": bool(settings.gram_weight),
        }

    def collisions(self) -> int:
        """Terms of all documents so far whose index already belonged to another one."""
        return len(self._collisions)

    def _document(self, text: str) -> Sparse:
        found = list(terms_of(text))
        counts = Counter(term.text for term in found)
        counts.update(grams(text) if self._settings.gram_weight else ())
        length = sum(not term.whole for term in found)
        norm = K1 * (1 - B + B * length / self._settings.average_length)
        weights = {count: count * (K1 + 1) / (count + norm) for count in set(counts.values())}
        return _vector(zip(map(self._watched, counts), map(weights.__getitem__, counts.values()), strict=True))

    def _watch(self, term: str) -> int:
        """The term's index, noted if another term had it first."""
        index, check = _index(term), mmh3.hash(term, 1, signed=False)
        with self._lock:
            if self._owners.setdefault(index, check) != check:
                self._collisions.add(check)
        return index


def _index(term: str) -> int:
    return mmh3.hash(term, signed=False)


def _vector(weights: Iterable[tuple[int, float]]) -> Sparse:
    """Where two terms of one text share an index the larger weight stays, so a collision adds nothing."""
    values: dict[int, float] = {}
    for index, weight in weights:
        if weight > values.get(index, 0.0):
            values[index] = weight
    indices = sorted(values)
    return Sparse(tuple(indices), tuple(map(values.__getitem__, indices)))
