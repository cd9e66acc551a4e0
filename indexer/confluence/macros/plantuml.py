"""PlantUML out of the five forms in which Confluence apps store it."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from urllib.parse import unquote

MAXIMUM_SOURCE = 1 << 20  # bytes; a diagram is a few kilobytes, more is an attack on the memory


class UnreadableDiagram(Exception):
    """The payload is no diagram; the text says why."""


def decode_data(data: str, compressed: bool) -> str:
    """base64 of (raw DEFLATE of) percent-encoded UTF-8, as the Cloud apps store it."""
    try:
        packed = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UnreadableDiagram(f"no base64 ({error})") from error
    if not packed:
        raise UnreadableDiagram("empty")
    raw = _inflate(packed) if compressed else packed
    try:
        text = unquote(raw.decode("utf-8"), errors="strict")
    except UnicodeDecodeError as error:
        raise UnreadableDiagram("no UTF-8 text") from error
    return text


def _inflate(packed: bytes) -> bytes:
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        raw = unpacker.decompress(packed, MAXIMUM_SOURCE)
    except zlib.error as error:
        raise UnreadableDiagram(f"no DEFLATE data ({error})") from error
    if unpacker.unconsumed_tail:
        raise UnreadableDiagram(f"unpacks to more than {MAXIMUM_SOURCE} bytes")
    if not unpacker.eof:
        raise UnreadableDiagram("cut off")
    return raw


def plain_source(body: str) -> str:
    """The body itself, or ``umlDefinition`` out of a JSON body."""
    if body.lstrip().startswith("{"):
        try:
            definition = json.loads(body).get("umlDefinition")
        except (ValueError, AttributeError, RecursionError):
            return body
        if isinstance(definition, str):
            return definition
    return body
