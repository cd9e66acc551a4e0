"""What confidence is measured by, in a file beside the embedded index; it names the fingerprint it was made for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askwiki.errors import StoreError
from askwiki.store.embedded.files import read_json, write_text

FILE = "calibration.json"


def read_calibration(root: Path) -> Mapping[str, Any]:
    """What cannot be read was not written: the next sync measures anew."""
    try:
        return read_json(root / FILE)
    except StoreError:
        return {}


def write_calibration(root: Path, content: Mapping[str, Any]) -> None:
    """StoreError when the folder cannot be written."""
    try:
        write_text(root / FILE, json.dumps(content))
    except OSError as error:
        raise StoreError(f"The index folder {root} cannot be written: {error.strerror}.") from error
