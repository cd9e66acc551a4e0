"""How a real Qdrant server grows: ``python -m tests.bench.server_growth [CHUNKS …] [--int8]``, a JSON line a size.

A collection of each size is filled through the store's own writer, four chunks a page, four pieces a chunk. Once the
server is done with its graphs, our search stage and a bare client ask the same three legs under
the same rights and fetch the same number of texts, in turns, alone and twenty at once. Texts and sparse weights have
the statistics of a language; dense vectors those of multilingual-e5-small on a technical wiki (150 pages, 566 chunks,
2,064 pieces): one common direction, then what a page, a chunk in it and a piece in that add, each with its own length
and with variances that fall along turned axes by a power law.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models

from askwiki.configuration import load_configuration
from askwiki.data import PUBLIC, Rights, Sparse, Vectors
from askwiki.settings import SearchSettings, StoreSettings
from askwiki.stages.search import Query, search
from askwiki.store import open_reader, open_writer
from askwiki.store.port import PageState, Point, Reader, Writer
from askwiki.store.qdrant.client import connect
from askwiki.store.qdrant.engine import effort
from askwiki.store.qdrant.server import QdrantServer
from tests.bench.growth import exponent
from tests.bench.proc import processor
from tests.support.qdrant import Qdrant, running
from tests.support.stores import FINGERPRINT, make_chunk
from tests.support.zipf import Zipf

ROOT = Path(__file__).resolve().parents[2]
MARKS = [10_000, 50_000, 200_000]
SIZE, PIECES, WORDS, A_PAGE = 384, 4, 130, 4  # the means of docs-ru
COMMON = 0.912  # length of the mean of all pieces, whose own is 1
# Of the rest: mean square of the length, and how fast the variances fall, as the index of the axis to this power.
PAGE, CHUNK, PIECE, CONTEXT = (0.102, 0.9), (0.037, 0.7), (0.051, 0.6), (0.094, 1.2)
TEXTS = 2_000  # different ones
ASKED, ASKED_WORDS = 60, 7
TOGETHER = 20
KEYS = [PUBLIC, *(f"team {number}" for number in range(20))]
RIGHTS = Rights(frozenset(KEYS[:11]))  # about half of the pages
SOURCE = "html:growth"

Asked = tuple[NDArray[np.float32], Sparse]


class World:
    """Pages and questions, the same for the same seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._words = Zipf(seed)
        self._turn = np.linalg.qr(self._random.standard_normal((SIZE, SIZE)))[0].astype(np.float32)
        common = self._random.standard_normal(SIZE, dtype=np.float32)
        self._common = COMMON * common / np.linalg.norm(common)
        self._axes = np.arange(1, SIZE + 1, dtype=np.float32)
        self._texts = [self._words.text(WORDS) for _ in range(TEXTS)]

    def page(self, number: int) -> list[Point]:
        chunks = self._drawn(PAGE, 1) + self._drawn(CHUNK, A_PAGE)
        pieces = self._placed(np.repeat(chunks, PIECES, axis=0) + self._drawn(PIECE, A_PAGE * PIECES))
        contexts = self._placed(chunks + self._drawn(CONTEXT, A_PAGE))
        return [
            Point(
                make_chunk(str(number), part, self._texts[(number * 7 + part) % TEXTS], acl=KEYS[number % len(KEYS)]),
                Vectors(pieces[part * PIECES :][:PIECES], contexts[part], self._sparse(WORDS, 0)),
            )
            for part in range(A_PAGE)
        ]

    def question(self) -> Asked:
        """As near to one piece of one page as two pieces of a chunk are to each other."""
        return self._placed(sum(self._drawn(level, 1) for level in (PAGE, CHUNK, PIECE)))[0], self._sparse(
            ASKED_WORDS, 200
        )

    def _sparse(self, words: int, rarer_than: int) -> Sparse:
        found, counts = np.unique(self._words.ranks(words, rarer_than), return_counts=True)
        return Sparse(tuple(found.tolist()), tuple((counts * 2.2 / (counts + 1.2)).tolist()))

    def _drawn(self, level: tuple[float, float], count: int) -> NDArray[np.float32]:
        square, fall = level
        variances = self._axes**-fall
        lengths = np.sqrt(variances / variances.sum() * square)
        return np.asarray(self._random.standard_normal((count, SIZE), dtype=np.float32) * lengths, dtype=np.float32)

    def _placed(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Turned away from the axes, so that no number of a vector is larger than the others by its place."""
        rows = rows @ self._turn + self._common
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Asking:
    """Our search stage and the bare client beside it."""

    reader: Reader
    client: QdrantClient
    collection: str
    settings: SearchSettings
    effort: models.SearchParams

    def ours(self, asked: Asked) -> int:
        return len(search(Query(*asked), RIGHTS, reader=self.reader, settings=self.settings))

    def bare(self, asked: Asked) -> int:
        """The same legs under the same filter, then the payloads of the first fifty."""
        dense, sparse = asked
        readable = models.FieldCondition(key="acl", match=models.MatchAny(any=sorted(RIGHTS.keys)))
        vector = models.SparseVector(indices=list(sparse.indices), values=list(sparse.values))
        queries: list[tuple[str, Any]] = [("text", [dense.tolist()]), ("context", dense.tolist()), ("sparse", vector)]
        requests = [
            models.QueryRequest(
                query=query, using=name, filter=models.Filter(must=[readable]), limit=self.settings.depth,
                with_payload=False, params=self.effort,
            )
            for name, query in queries
        ]  # fmt: skip
        answers = self.client.query_batch_points(self.collection, requests=requests)
        best = dict.fromkeys(
            point.id for points in zip(*(answer.points for answer in answers), strict=False) for point in points
        )
        chosen = models.HasIdCondition(has_id=list(best)[: self.settings.candidates])
        records, _ = self.client.scroll(
            self.collection, scroll_filter=models.Filter(must=[chosen, readable]), limit=500, with_payload=True
        )
        return len(records)


def measure(server: Qdrant, settings: StoreSettings, chunks: int) -> dict[str, Any]:
    """The figures of one size, filled anew as a rebuild does."""
    world = World()
    asked = [world.question() for _ in range(ASKED)]
    pid = server.process.pid if server.process else 0
    begun, spent = time.monotonic(), processor(pid)
    writer = open_writer(settings, {**FINGERPRINT, "sizes": {"text": SIZE, "context": SIZE}})
    for page in range(chunks // A_PAGE):
        write(writer, world, page)
    written = time.monotonic()
    writer.commit()  # builds the graphs
    writer.close()
    ready, indexing = time.monotonic(), processor(pid) - spent
    asking = replace(settings, grpc=False)  # as compose does
    client = connect(asking)
    collection = QdrantServer([client], asking).aliased(settings.collection)
    reader = open_reader(asking)
    one = Asking(reader, client, collection, load_configuration({}, ROOT / "config").settings.search, effort(asking))
    spent, own = processor(pid), time.process_time()
    figures = timed(one, asked)
    questions = figures["questions"]
    figures["server_ms"] = round((processor(pid) - spent) * 1e3 / questions, 1)
    figures["asking_ms"] = round((time.process_time() - own) * 1e3 / questions, 1)
    found = recall(one, asked[:20])
    reader.close()
    client.close()
    return {
        "chunks": chunks,
        "written_s": round(written - begun, 1),
        "graphs_s": round(ready - written, 1),
        "server_cpu_s": round(indexing, 1),
        **figures,
        "recall": found,
        **memory(pid),
        "disk_mb": on_disk(server.folder / "storage") >> 20,
        "load": round(os.getloadavg()[0], 1),
    }


def write(writer: Writer, world: World, page: int) -> None:
    points = world.page(page)
    state = PageState(str(page), "hash", {point.chunk.id: "" for point in points})
    writer.replace_page(SOURCE, state, points, ())


def timed(asking: Asking, asked: Sequence[Asked]) -> dict[str, float]:
    """Milliseconds by the clock; ours and the bare client's in turns, so that both meet the same machine."""
    ours, bare = list[float](), list[float]()
    for each in [*asked, *asked]:
        ours.append(_seconds(asking.ours, each))
        bare.append(_seconds(asking.bare, each))
    many_bare = together(asking.bare, asked)
    many_ours = together(asking.ours, asked)
    return {
        **_told("ours", ours), **_told("bare", bare), **_told("ours_20", many_ours), **_told("bare_20", many_bare),
        "ratio": round(statistics.median(ours) / statistics.median(bare), 3),
        "ratio_20": round(statistics.median(many_ours) / statistics.median(many_bare), 3),
        "questions": len(ours) + len(bare) + len(many_ours) + len(many_bare),
    }  # fmt: skip


def recall(asking: Asking, asked: Sequence[Asked]) -> dict[str, float]:
    """Share of what an exact search of each dense leg finds that a search as ours is finds too."""
    exact = models.SearchParams(exact=True)
    found = dict[str, float]()
    for name in ("text", "context"):
        shares = []
        for dense, _ in asked:
            best, quick = (_dense_ids(asking, name, dense, how) for how in (exact, asking.effort))
            shares.append(len(best & quick) / len(best))
        found[name] = round(statistics.fmean(shares), 3)
    return found


def _dense_ids(asking: Asking, name: str, dense: NDArray[np.float32], how: models.SearchParams) -> set[Any]:
    query: Any = [dense.tolist()] if name == "text" else dense.tolist()
    readable = models.FieldCondition(key="acl", match=models.MatchAny(any=sorted(RIGHTS.keys)))
    answer = asking.client.query_points(
        asking.collection, query=query, using=name, limit=asking.settings.depth, with_payload=False,
        query_filter=models.Filter(must=[readable]), search_params=how,
    )  # fmt: skip
    return {point.id for point in answer.points}


def together(ask: Callable[[Asked], int], asked: Sequence[Asked]) -> list[float]:
    """Twenty threads, each asking everything a third of ``asked`` holds without a pause."""
    seconds = list[float]()

    def one(first: int) -> None:
        for place in range(len(asked) // 3):
            seconds.append(_seconds(ask, asked[(first + place) % len(asked)]))

    threads = [threading.Thread(target=one, args=(number * 3,)) for number in range(TOGETHER)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seconds


def _seconds(ask: Callable[[Asked], int], asked: Asked) -> float:
    begun = time.perf_counter()
    ask(asked)
    return time.perf_counter() - begun


def _told(name: str, seconds: Sequence[float]) -> dict[str, float]:
    middle, high = np.quantile(seconds, [0.5, 0.95]) * 1e3
    return {f"{name}_p50": round(float(middle), 1), f"{name}_p95": round(float(high), 1)}


def memory(pid: int) -> dict[str, int]:
    """MB resident of the server: its own, and mapped files, which the system may take back."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith("Rss")}
    return {"own_mb": kilobytes["RssAnon"] >> 10, "mapped_mb": kilobytes["RssFile"] >> 10}


def on_disk(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("marks", nargs="*", type=int, default=MARKS)
    parser.add_argument("--int8", action="store_true", help="int8 in memory, originals on disk")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the server may put its files")
    options = parser.parse_args()
    more = {"on_disk": True, "quantization": "scalar"} if options.int8 else {}
    rows = list[dict[str, Any]]()
    for mark in options.marks:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder, running(Path(folder, "qdrant")) as server:
            rows.append(measure(server, server.settings(grpc=True, batch=64, timeout=60.0, **more), mark))
        print(json.dumps(rows[-1]), flush=True)
    if len(rows) > 1:
        sizes = [row["chunks"] for row in rows]
        powers = {
            name: round(exponent(sizes, [row[name] for row in rows]), 2)
            for name in ("ours_p50", "server_ms", "server_cpu_s")
        }
        print(json.dumps({"to the power of": powers}))


if __name__ == "__main__":
    main()
