"""Values of a JSON answer as what they should be: what is something else counts as not there."""

from __future__ import annotations

from typing import Any

SHOWN = 60  # characters of an odd value in a sentence


def as_records(part: Any) -> list[dict[str, Any]]:
    """The records of a paged list; what is no record in it is left out."""
    results = as_dict(part).get("results")
    return [one for one in results if isinstance(one, dict)] if isinstance(results, list) else []


def as_identity(value: Any) -> str:
    """Ids are texts in version 1 and may be numbers elsewhere."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def shown(value: Any) -> str:
    """The beginning of an odd value, for a sentence."""
    written = repr(value)
    return written if len(written) <= SHOWN else f"{written[:SHOWN]}…"
