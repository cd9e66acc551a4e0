"""One hash of all that a run depends on: the source's files, the settings, the converter itself.

When it is the same as after the last successful run, every page is unchanged and nothing needs to be
converted. Contents are hashed, not dates: dates lie after a copy or a restore.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import indexer
from askwiki.configuration import Configuration
from indexer.enrich.cache import content_key

# Of the folder of settings, what an indexing model reads. The settings themselves are hashed as they are in force, and
# only those that pages depend on: another word for the wiki or another text of the chat must not read every page anew.
CONTENT = ("prompts", "glossary.yaml")


def run_digest(source: str, fingerprint: object, configuration: Configuration) -> str:
    """Empty when the source is not made of files (a live wiki)."""
    _, _, place = source.partition(":")
    path = Path(place)
    if not path.exists():
        return ""
    settings = configuration.settings
    return content_key(
        source,
        repr(fingerprint),
        repr(
            (
                settings.wiki.url,
                settings.access,
                settings.chunking,
                settings.context,
                settings.confluence,
                settings.attachments,
            )
        ),
        repr((settings.llm.url, settings.llm.model, settings.llm.context, settings.llm.cut, settings.llm.vision)),
        repr(settings.sparse.path),
        *(files_digest(configuration.folder / name) for name in CONTENT),
        _code_digest(),
        files_digest(path),
    )


def files_digest(place: Path) -> str:
    """Names and contents of a file or of all files below a folder."""
    digest = hashlib.sha256()
    for path in _files(place):
        name = str(path.relative_to(place) if path != place else path.name)
        digest.update(f"{name}\x00{path.stat().st_size}\x00".encode("utf-8", "surrogateescape"))
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


@functools.cache
def _code_digest() -> str:
    """Another version of the converter may give other pages."""
    return files_digest(Path(indexer.__file__).parent)


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
        return
    for folder, names, files in os.walk(place, followlinks=True):
        names[:] = sorted(name for name in names if name != "__pycache__")
        yield from (path for path in (Path(folder, name) for name in sorted(files)) if path.is_file())
