"""The embedded store: a folder, one writer, any number of readers that never block one another."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from askwiki.data import Chunk, Vectors
from askwiki.errors import StoreError
from askwiki.store.embedded.edge import EdgeEngine
from askwiki.store.embedded.files import PRIVATE_FILE, PRIVATE_FOLDER, close_to_others, write_text
from askwiki.store.embedded.locks import only_writer
from askwiki.store.embedded.manifest import write_manifest
from askwiki.store.embedded.opened import InForce
from askwiki.store.embedded.room import CREATING, WRITING, NoRoom, ask_for_room, taken
from askwiki.store.embedded.runs import trusted_runs, write_runs
from askwiki.store.embedded.versions import NOTHING, lost, publish
from askwiki.store.embedded.writing import BUILDING, WRITER, adopt_complete, load_folder, open_folder
from askwiki.store.payload import dense_vectors
from askwiki.store.port import Freshness
from askwiki.store.reader import IndexReader
from askwiki.store.records import IndexWriter, RecordWriter
from askwiki.system.memory import give_back

COPIES = 4  # of a page's content on its way: the log, the vectors, the payload, its indexes
LETTER = 4  # most bytes of one

logger = logging.getLogger(__name__)


def embedded_reader(root: Path) -> IndexReader:
    """Reads a private copy of the version in force and moves on when the pointer moves."""
    return IndexReader(InForce(root))


def embedded_writer(root: Path, fingerprint: Mapping[str, Any], *, rebuild: bool = False) -> IndexWriter:
    """Writes into a folder of its own; ``commit`` publishes a copy of it."""
    return IndexWriter(_Written(root, fingerprint, rebuild=rebuild))


class _Written:
    """The writer's folder. See ``versions`` for the folders."""

    def __init__(self, root: Path, fingerprint: Mapping[str, Any], *, rebuild: bool) -> None:
        self._root, self._rebuild = root, rebuild
        with contextlib.ExitStack() as opening, _told(f"The index folder {root} cannot be written"):
            root.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
            opening.enter_context(only_writer(root))
            adopt_complete(root)
            self._folder = root / (BUILDING if rebuild else WRITER)
            self._engine: EdgeEngine | None = open_folder(root, self._folder, fingerprint, rebuild=rebuild)
            self._held = opening.pop_all()

    @property
    def records(self) -> RecordWriter:
        """Opened again only when something is asked after a commit."""
        if self._engine is None:
            self._engine = load_folder(self._folder)
        return RecordWriter(self._engine)

    def claim(self, source: str) -> None:
        """The writer's lock holds all sources."""

    def changing(self, chunks: Sequence[Chunk], vectors: Sequence[Vectors]) -> None:
        """With too little room the engine would end the process instead of failing."""
        content = sum(map(_bytes_of, vectors)) + LETTER * sum(len(chunk.text) + len(chunk.context) for chunk in chunks)
        ask_for_room(self._root, COPIES * content + WRITING, "write a page into the index")
        if not self._rebuild:
            with _told(f"The index folder {self._root} cannot be written"):
                (self._root / "dirty").touch(mode=PRIVATE_FILE)

    def freshness(self) -> list[Freshness]:
        return [] if self._rebuild else trusted_runs(self._root)

    def finish(self, run: Freshness) -> None:
        with _told(f"The run of {run.source} could not be noted in {self._root}"):
            write_runs(self._root, [item for item in trusted_runs(self._root) if item.source != run.source] + [run])

    def commit(self) -> None:
        """Nothing is copied when nothing was written since the version in force and that is whole."""
        dirty = self._root / "dirty"
        if not self._rebuild and not dirty.exists() and not self._to_be_published_again():
            return
        self._tidy()
        self._close_engine()
        with _told(f"The index could not be published in {self._root}", "The old one stays in force."):
            if self._rebuild:
                write_text(self._folder / "complete", "")
                adopt_complete(self._root)
                self._folder, self._rebuild = self._root / WRITER, False
            publish(self._root, self._folder)
            dirty.unlink(missing_ok=True)

    def close(self) -> None:
        with self._held:
            self._close_engine()

    def _to_be_published_again(self) -> bool:
        problem = lost(self._root)
        if not problem or (problem == NOTHING and not self.records.count()):
            return False
        logger.warning("the index is published again: %s", problem)
        return True

    def _tidy(self) -> None:
        """Rewriting takes the room of all of it once more; without that room dead points wait for the next run."""
        self.records.forget_unused_access()
        if self._engine is None:
            return
        try:
            ask_for_room(self._root, 2 * taken(self._folder) + CREATING, "give back the room of deleted pages")
        except NoRoom as error:
            logger.warning("%s", error)
        else:
            self._engine.tidy()

    def _close_engine(self) -> None:
        if self._engine is None:
            return
        engine, self._engine = self._engine, None
        engine.flush()
        engine.close()
        give_back()
        with _told(f"The index folder {self._root} cannot be written"):
            close_to_others(self._folder)
            write_manifest(self._folder)


def _bytes_of(vectors: Vectors) -> int:
    return int(sum(vector.nbytes for vector in dense_vectors(vectors).values()) + 8 * len(vectors.sparse.indices))


@contextlib.contextmanager
def _told(sentence: str, more: str = "") -> Iterator[None]:
    """What the system says of files as a sentence."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{sentence}: {error.strerror}. {more}".rstrip()) from error
