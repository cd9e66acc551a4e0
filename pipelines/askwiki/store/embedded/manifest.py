"""What a closed folder of the store holds, file by file, so that damage is seen before the engine maps it.

The engine has no checksums: a flipped bit in a payload would be somebody else's rights, a shortened file the end
of the process. Zeros are left out of the sums, so that a hole counts as what is read from it.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from askwiki.store.embedded.files import data_ranges, write_text

FILE = "manifest.json"
_BLOCK = 1 << 16  # bytes summed at once
_ZEROS = bytes(_BLOCK)


def write_manifest(folder: Path) -> None:
    files = {name: _described(folder / name) for name in sorted(_names(folder))}
    write_text(folder / FILE, json.dumps(files, indent=1))


def damage(folder: Path) -> str:
    """The first thing that is not as it was written, empty when all is; a folder without a manifest is not judged."""
    try:
        expected = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        return f"{FILE} cannot be read"
    if not isinstance(expected, dict):
        return f"{FILE} is none"
    found = _names(folder)
    if odd := sorted(found ^ expected.keys()):
        return f"{odd[0]} {'is missing' if odd[0] in expected else 'does not belong there'}"
    try:
        return next(
            (f"{name} has changed" for name in sorted(found) if _described(folder / name) != expected[name]), ""
        )
    except OSError as error:
        return f"a file cannot be read: {error.strerror}"


def _names(folder: Path) -> set[str]:
    paths = (Path(here, name) for here, _, names in os.walk(folder) for name in names)
    return {str(path.relative_to(folder)) for path in paths} - {FILE}


def _described(path: Path) -> list[int]:
    """Bytes and checksum of a file."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        total = 0
        for offset, block in _blocks(file.fileno(), size):
            if block != _ZEROS[: len(block)]:
                total = zlib.crc32(block, zlib.crc32(offset.to_bytes(8, "big"), total))
    return [size, total]


def _blocks(file: int, size: int) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of the blocks that hold data, each once."""
    done = 0
    for start, end in data_ranges(file, size):
        done = max(done, start - start % _BLOCK)
        while done < end:
            yield done, os.pread(file, min(_BLOCK, size - done), done)
            done += _BLOCK
