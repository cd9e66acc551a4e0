"""When a Qdrant server builds the graphs of a collection: once, when it is full.

A segment gets its graphs when its vectors pass the threshold, and whenever segments are merged it gets them anew.
While a collection is filled that costs more than all the rest, so until it is whole the threshold is high: what it has
by then is searched exactly, which takes tens of milliseconds at most.
"""

from __future__ import annotations

import logging
import time

from qdrant_client import models

from askwiki.store.qdrant.server import FILLING_KB, QdrantServer

FULL_KB = 10_000  # the server's own default
PATIENCE = 6 * 3600.0  # seconds; after them the collection answers without the graphs that are missing
_LOOK, _SAY = 0.3, 60.0
_CALM = 3  # looks in a row: between two segments the server is idle for a moment

logger = logging.getLogger(__name__)


def build(server: QdrantServer, collection: str) -> None:
    """Returns when all of a filled collection has its graphs; where they are due or made already it costs a call."""
    optimizers = server.call("get_collection", collection).config.optimizer_config
    if optimizers.indexing_threshold != FILLING_KB:
        return
    full = models.OptimizersConfigDiff(indexing_threshold=FULL_KB)
    server.call("update_collection", collection, optimizers_config=full)
    begun = said = time.monotonic()
    calm = 0
    while calm < _CALM:
        time.sleep(_LOOK)
        now = time.monotonic()
        if now - begun > PATIENCE:
            logger.warning("%s: the graphs are still being built; its answers take longer until then", collection)
            return
        if now - said > _SAY:
            logger.info("%s: building the graphs for %.0f minutes now", collection, (now - begun) / 60)
            said = now
        calm = calm + 1 if server.call("get_collection", collection).status == models.CollectionStatus.GREEN else 0
