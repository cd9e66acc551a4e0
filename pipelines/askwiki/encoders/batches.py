"""Texts to batches of similar length: no padding wasted, memory bounded by tokens, order restored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from askwiki.errors import ModelError

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
_LEAST_LENGTH = 1e-6  # of a vector; below it the direction means nothing


def in_batches(
    texts: Sequence[str], counts: Sequence[int], batch_tokens: int, size: int, encode: Encode
) -> NDArray[np.float32]:
    """Unit vectors in the order of ``texts``, shape (len(texts), size)."""
    vectors = np.empty((len(texts), size), dtype=np.float32)
    for numbers in batches(counts, batch_tokens):
        found = encode([texts[number] for number in numbers])
        if found.shape != (len(numbers), size):
            raise ModelError(
                f"The encoder gave vectors of shape {found.shape} where {(len(numbers), size)} was expected; "
                "is another model behind it than the settings say?"
            )
        vectors[numbers] = unit_rows(found)
    return vectors


def batches(counts: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Numbers of the texts of each batch, longest first so that a lack of memory shows at once.

    A batch costs its longest text times its texts, because shorter ones are padded.
    """
    batch: list[int] = []
    for number in sorted(range(len(counts)), key=lambda number: -counts[number]):
        if batch and counts[batch[0]] * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1; ModelError when a row is no direction (NaN, infinite, zero)."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths < _LEAST_LENGTH).any():
        raise ModelError("The encoder gave a vector that is no direction (NaN or zero); nothing of it was stored.")
    return np.asarray(vectors / lengths, dtype=np.float32)
