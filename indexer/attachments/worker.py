"""Reads one file in a process of its own: whatever is in it can cost this process, and nothing else.

``main`` with the arguments ENDING LIMITS: the file on stdin, JSON on stdout: ``parts`` (each a kind, a number, a title
and blocks) and ``cut`` (why not all of it is read). Imports nothing of ours but the readers beside it.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from typing import Any

from indexer.attachments import office
from indexer.attachments.readers import EXCEL, PACKED, WORD, Block, Reader, Unreadable, pdf, table, text

OLD = b"\xd0\xcf\x11\xe0"  # OLE: Office before 2007, and every encrypted Office file
MOST_UNPACKED = 300 << 20  # bytes of a document's parts together
MOST_RATIO = 300  # unpacked to packed; text of documents packs about 20 to 1


def reader(ending: str) -> Reader:
    if ending in PACKED:
        return office.word if ending in WORD else office.excel if ending in EXCEL else office.powerpoint
    return {".pdf": pdf, ".csv": table, ".tsv": table}.get(ending, text)


def refuse_bombs(data: bytes) -> None:
    """A document is a zip: what its parts say of their size is believed only when it is small."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        sizes = [(entry.file_size, entry.compress_size) for entry in packed.infolist()]
    whole = sum(size for size, _ in sizes)
    if whole > MOST_UNPACKED or any(size > MOST_RATIO * max(small, 10_000) for size, small in sizes):
        raise Unreadable("it unpacks to far more than its size")


def read(data: bytes, ending: str, pages: int, characters: int) -> dict[str, Any]:
    parts: list[list[Any]] = []
    left = characters
    told: list[str] = []
    try:
        if data.startswith(OLD):
            raise Unreadable("it is encrypted, or of a version of Office before 2007")
        if ending in PACKED:
            refuse_bombs(data)
        for kind, number, title, blocks in reader(ending)(data, pages, told):
            kept: list[Block] = []
            parts.append([kind, number, title, kept])
            for block in blocks:
                left -= len(str(block[-1]))
                if left < 0:
                    raise Unreadable(f"only its first {characters} characters are read")
                kept.append(block)
    except Unreadable as error:
        told.append(str(error))
    except ImportError as error:
        told.append(f"the package {error.name} is not installed: pip install 'askwiki[attachments]'")
    except MemoryError:
        told.append("it needs more memory than attachments.memory allows")
    except Exception as error:  # a library that meets a damaged file ends in anything; the parent tells it
        told.append(f"it is damaged or of another kind ({type(error).__name__}: {str(error)[:200]})")
    return {"parts": parts, "cut": "; ".join(told)}


def main() -> None:
    ending, limits = sys.argv[1], json.loads(sys.argv[2])
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limits["memory"], limits["memory"]))
        resource.setrlimit(resource.RLIMIT_CPU, (limits["seconds"], limits["seconds"]))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    except ImportError:
        pass  # not on Windows: there only the time is limited
    found = read(sys.stdin.buffer.read(), ending, limits["pages"], limits["characters"])
    sys.stdout.buffer.write(json.dumps(found).encode())
