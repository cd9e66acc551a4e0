"""What a closed folder of the store holds, file by file, so that damage is seen before the engine maps it.

The engine has no checksums: a flipped bit in a payload would be somebody else's rights, a shortened file the end
of the process. Zeros are left out of the sums, so that a hole counts as what is read from it.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

from askwiki.store.embedded.files import LOG, data_blocks, write_text

FILE = "manifest.json"


def write_manifest(folder: Path) -> None:
    files = {name: _described(folder / name) for name in sorted(_names(folder))}
    write_text(folder / FILE, json.dumps(files, indent=1))


def damage(folder: Path) -> str:
    """The first thing that is not as it was written, empty when all is; a folder without a manifest is not judged."""
    try:
        expected = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, RecursionError):
        return f"{FILE} cannot be read"
    if not isinstance(expected, dict):
        return f"{FILE} is no manifest"
    found = _names(folder)
    if odd := sorted(found ^ expected.keys()):
        return f"{odd[0]} {'is missing' if odd[0] in expected else 'does not belong there'}"
    try:
        return next(
            (f"{name} has changed" for name in sorted(found) if _described(folder / name) != expected[name]), ""
        )
    except OSError as error:
        return f"a file cannot be read: {error.strerror}"


def content_of(folder: Path) -> int:
    """Bytes that a copy of the closed folder takes: its log, holes and zeros are not copied."""
    files = json.loads((folder / FILE).read_text(encoding="utf-8"))
    return sum(content for name, (_, _, content) in files.items() if LOG not in Path(name).parts)


def _names(folder: Path) -> set[str]:
    paths = (Path(here, name) for here, _, names in os.walk(folder) for name in names)
    return {str(path.relative_to(folder)) for path in paths} - {FILE}


def _described(path: Path) -> list[int]:
    """Length, checksum, and bytes that are not zero, of a file."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        total, content = 0, 0
        for offset, block in data_blocks(file.fileno(), size):
            total = zlib.crc32(block, zlib.crc32(offset.to_bytes(8, "big"), total))
            content += len(block)
    return [size, total, content]
