"""What a picture of a page probably is, told from its name and its size, without looking at it."""

from __future__ import annotations

import re
import struct
from typing import Literal, NamedTuple

from askwiki.language import en, ru

Guess = Literal["diagram", "other", "unknown"]

LEAST_SIDE = 150  # pixels; smaller ones are icons and emoticons
# Whole screens; a diagram has these sizes by accident only.
SCREENS = {(1920, 1080), (1366, 768), (1440, 900), (1536, 864), (1280, 720), (1280, 1024), (2560, 1440), (3840, 2160)}

_DIAGRAM = re.compile("|".join((*ru.DIAGRAM_NAMES, *en.DIAGRAM_NAMES)), re.IGNORECASE)
_OTHER = re.compile("|".join((*ru.OTHER_NAMES, *en.OTHER_NAMES)), re.IGNORECASE)


class Picture(NamedTuple):
    """A picture that a vision model can read: media type and size in pixels."""

    media_type: str
    width: int
    height: int


def read_picture(data: bytes) -> Picture | None:
    """PNG, GIF, JPEG or WebP; None for everything else (SVG is text, not a picture)."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return Picture("image/png", *struct.unpack(">II", data[16:24]))
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return Picture("image/gif", *struct.unpack("<HH", data[6:10]))
    if data.startswith(b"\xff\xd8"):
        return _jpeg(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return Picture("image/webp", 0, 0)  # three forms of sizes: left unknown
    return None


def _jpeg(data: bytes) -> Picture | None:
    """The size stands in the first frame header."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return Picture("image/jpeg", width, height)
        at += 2 + length
    return None


def guess(name: str, alt: str, picture: Picture) -> Guess:
    """By name first, then by size; ``unknown`` is for the model to say."""
    words = f"{name} {alt}".replace("_", " ").replace("-", " ")
    if _DIAGRAM.search(words) or _DIAGRAM.search(f"{name} {alt}"):
        return "diagram"
    if _OTHER.search(words) or _OTHER.search(name):
        return "other"
    known = picture.width > 0
    if known and min(picture.width, picture.height) < LEAST_SIDE:
        return "other"
    return "other" if (picture.width, picture.height) in SCREENS else "unknown"
