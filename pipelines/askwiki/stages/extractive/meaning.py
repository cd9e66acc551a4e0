"""How near texts are to a question by the encoder's measure; what was compared once is remembered."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from askwiki.encoders.port import Embedder

Vector = NDArray[np.float32]
REMEMBERED = 2_000  # texts of each encoder: the groups of the pages that people ask about, 3 to 12 MB

_lock = threading.Lock()
_known: WeakKeyDictionary[Embedder, OrderedDict[str, Vector]] = WeakKeyDictionary()


def similarities(texts: Sequence[str], vector: Vector, embedder: Embedder) -> list[float]:
    """The product of each text's vector with the question's; only new texts are encoded."""
    with _lock:
        known = _known.setdefault(embedder, OrderedDict())
        vectors = {text: known[text] for text in texts if text in known}
    new = [text for text in dict.fromkeys(texts) if text not in vectors]
    if new:
        vectors.update(zip(new, embedder.documents(new), strict=True))
    with _lock:
        for text in texts:
            known[text] = vectors[text]
            known.move_to_end(text)
        while len(known) > REMEMBERED:
            known.popitem(last=False)
    return [float(vectors[text] @ vector) for text in texts]
