"""Small pictures drawn byte by byte, so that every machine builds the same files."""

import struct
import zlib

_Grid = list[bytearray]
_WIDTH, _HEIGHT = 160, 96
_PALETTE = bytes.fromhex("ffffff172b4d4c9aff79f2c0ffe380ff8f73dfe1e66554c0")


def draw(kind: str, seed: int) -> bytes:
    """Draw a `form`, a `flow` or `bars`; the seed only moves things about."""
    grid = [bytearray(_WIDTH) for _ in range(_HEIGHT)]
    {"form": _form, "flow": _flow, "bars": _bars}[kind](grid, seed)
    return _png(grid)


def _box(grid: _Grid, left: int, top: int, width: int, height: int, colour: int) -> None:
    for y in range(top, min(top + height, _HEIGHT)):
        edge = y in (top, top + height - 1)
        for x in range(left, min(left + width, _WIDTH)):
            grid[y][x] = 1 if edge or x in (left, left + width - 1) else colour


def _form(grid: _Grid, seed: int) -> None:
    _box(grid, 0, 0, _WIDTH, 12, 2)
    for row in range(4):
        _box(grid, 6, 18 + row * 14, 40, 10, 6)
        _box(grid, 50, 18 + row * 14, 60 + (seed + row * 7) % 40, 10, 0)
    for number in range(3):
        _box(grid, 6 + number * 50, 78, 44, 14, 3 + number % 3)


def _flow(grid: _Grid, seed: int) -> None:
    for number in range(3):
        left = 4 + number * 54
        _box(grid, left, 20, 40, 24, 2 + (seed + number) % 5)
        _box(grid, left + 18, 44, 3, 20, 1)
        _box(grid, left, 64, 40, 24, 2 + (seed + number + 2) % 5)
        if number < 2:
            _box(grid, left + 40, 31, 14, 3, 1)


def _bars(grid: _Grid, seed: int) -> None:
    for number in range(7):
        height = 20 + (seed * 13 + number * 29) % 60
        _box(grid, 6 + number * 22, _HEIGHT - 4 - height, 16, height, 2 + number % 5)


def _png(grid: _Grid) -> bytes:
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 4, 3, 0, 0, 0)
    rows = b"".join(b"\0" + _packed(row) for row in grid)
    chunks = (b"IHDR", header), (b"PLTE", _PALETTE), (b"IDAT", _stored(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _packed(row: bytearray) -> bytes:
    return bytes(row[x] << 4 | row[x + 1] for x in range(0, _WIDTH, 2))


def _stored(data: bytes) -> bytes:
    """A zlib stream without compression: its bytes do not depend on the zlib in use."""
    block = struct.pack("<BHH", 1, len(data), len(data) ^ 0xFFFF) + data
    return b"\x78\x01" + block + struct.pack(">I", zlib.adler32(data))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
