"""Whether the index knows how sure it may be of what it finds."""

from __future__ import annotations

from typing import Literal

from askwiki.store import Reader

NONE = "The index has no confidence of its own: without a language model only what shares no word with it is refused."


def probe_confidence(reader: Reader) -> tuple[Literal["ok", "warning"], str, str]:
    """State, what is said, how it is mended."""
    made = reader.calibration()
    if made is None:
        return "warning", NONE, "Run: python -m indexer calibrate (an index of a few pages is too small for it)."
    return "ok", f"Measured by the index's own questions when it had {made.chunks} chunks.", ""
