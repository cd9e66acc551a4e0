"""Whether the index knows how sure it may be of what it finds."""

from __future__ import annotations

from askwiki.doctor.llm import Line
from askwiki.store import Reader

PART = "confidence"
NONE = "The index has no confidence of its own: without a language model only what shares no word with it is refused."


def probe_confidence(reader: Reader) -> Line:
    if not reader.count():
        return PART, "ok", "It is measured when there is an index.", ""
    made = reader.calibration()
    if made is None:
        return PART, "warning", NONE, "Run: python -m indexer calibrate (an index of a few pages is too small for it)."
    return PART, "ok", f"Measured by the index's own questions when it had {made.chunks} chunks.", ""
