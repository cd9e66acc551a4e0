"""The calibration as it lies beside an index: JSON that names the fingerprint it was made for."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
from collections.abc import Mapping
from typing import Any

from askwiki.data import Calibration

logger = logging.getLogger(__name__)


def to_content(calibration: Calibration, fingerprint: Mapping[str, Any]) -> dict[str, Any]:
    return {"fingerprint": _digest(fingerprint), **dataclasses.asdict(calibration)}


def to_calibration(content: Mapping[str, Any], fingerprint: Mapping[str, Any]) -> Calibration | None:
    """None when it was made for an index of other models or settings, or cannot be read."""
    if content.get("fingerprint") != _digest(fingerprint):
        return None
    names = [each.name for each in dataclasses.fields(Calibration)]
    try:
        return Calibration(**{name: float(content[name]) for name in names[:-1]}, chunks=int(content["chunks"]))
    except (KeyError, TypeError, ValueError) as error:
        logger.warning("the calibration of the index cannot be read (%s); run: python -m indexer calibrate", error)
        return None


def _digest(fingerprint: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fingerprint, sort_keys=True).encode()).hexdigest()[:16]
