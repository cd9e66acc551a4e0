"""A copy of the whole index in one file, and back: fingerprint and the runs of all sources go with it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from askwiki.errors import StoreError
from askwiki.settings import StoreSettings
from askwiki.store.archive import About, reading

ENDINGS = {"embedded": ".tar.gz", "qdrant": ".tar"}


def backup(settings: StoreSettings, where: Path) -> Path:
    """The file that was written: ``where``, or a new one in that folder. StoreError while an indexer writes."""
    path = where / _name(settings) if where.is_dir() else where
    if path.exists():
        raise StoreError(f"{path} is there already; name another file, or a folder.")
    if not path.parent.is_dir():
        raise StoreError(f"There is no folder {path.parent}.")
    if settings.qdrant_url:
        from askwiki.store.qdrant.backup import save
        from askwiki.store.qdrant.server import open_server

        server = open_server(settings)
        try:
            save(server, path)
        finally:
            server.close()
    else:
        from askwiki.store.embedded.backup import save as save_folder

        save_folder(Path(settings.path), path)
    return path


def restore(settings: StoreSettings, path: Path) -> About:
    """The index of the backup takes over in one step; until then the old one, if there is one, answers."""
    kind = "qdrant" if settings.qdrant_url else "embedded"
    with reading(path) as (about, files):
        if about.store != kind:
            raise StoreError(
                f"{path} was taken of the {NAMES[about.store]}, and the settings name the {NAMES[kind]}. "
                "Set or unset ASKWIKI_QDRANT_URL, or sync the sources again."
            )
        if settings.qdrant_url:
            from askwiki.store.qdrant.backup import take_back
            from askwiki.store.qdrant.server import open_server

            server = open_server(settings)
            try:
                take_back(server, about, files)
            finally:
                server.close()
        else:
            from askwiki.store.embedded.backup import take_back as fill_folder

            fill_folder(Path(settings.path), about, files)
        return about


NAMES = {"embedded": "embedded store", "qdrant": "Qdrant server"}


def _name(settings: StoreSettings) -> str:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return f"askwiki-{stamp}{ENDINGS['qdrant' if settings.qdrant_url else 'embedded']}"
