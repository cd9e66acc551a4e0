"""The last good values of a plugin's valves, in a file of their own beside the saved ones.

The stock server writes ``valves.json`` in place: a kill or a full disk leaves half of it, and an admin may edit it.
Here the values in force are kept whole, and what was refused last, for the doctor: the panel cannot show either.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = "last_good.json"
PRIVATE = 0o600

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LastGood:
    """``values`` = what was in force; ``refused`` = "title: value" of each that was wrong when last saved."""

    values: Mapping[str, Any] = field(default_factory=dict)
    refused: tuple[str, ...] = ()


def recall(folder: Path) -> LastGood:
    """What was kept in the plugin's folder; nothing where nothing was, or where it cannot be read."""
    try:
        kept = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return LastGood()
    values, refused = (kept.get("values"), kept.get("refused")) if isinstance(kept, dict) else (None, None)
    return LastGood(
        values if isinstance(values, dict) else {},
        tuple(str(one) for one in refused) if isinstance(refused, list) else (),
    )


def keep(folder: Path, good: LastGood) -> None:
    """Replace what was kept, in one step; a disk that takes no more costs the memory, not the valves."""
    written = json.dumps({"values": dict(good.values), "refused": list(good.refused)}, ensure_ascii=False)
    part = folder / f"{FILE}.part"
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE), "w", encoding="utf-8") as file:
            file.write(written)
        part.replace(folder / FILE)
    except (OSError, UnicodeEncodeError) as error:
        logger.error("the valves are in force, but not kept for a broken valves.json: %s", error)
