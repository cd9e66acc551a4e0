"""What a log holds: one form of lines, whatever a library has to say."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import logging, os, warnings
from askwiki.logs import set_up_logging
set_up_logging("INFO", "json")
warnings.warn("an old way", DeprecationWarning)
logging.getLogger("askwiki.x").info("bars off: %s", os.environ.get("HF_HUB_DISABLE_PROGRESS_BARS"))
"""


def test_a_json_log_takes_warnings_of_libraries_as_lines_of_its_own_and_no_bars() -> None:
    clean = {name: value for name, value in os.environ.items() if name != "HF_HUB_DISABLE_PROGRESS_BARS"}
    words = [sys.executable, "-W", "default", "-c", PROGRAM]
    done = subprocess.run(words, env=clean, check=True, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(line["logger"], "an old way" in line["message"]) for line in lines] == [
        ("py.warnings", True),
        ("askwiki.x", False),
    ]
    assert lines[1]["message"] == "bars off: 1"


@pytest.mark.parametrize(("level", "said"), [("INFO", 2), ("WARNING", 1)])
def test_a_log_says_as_much_as_its_level(level: str, said: int) -> None:
    program = PROGRAM.replace('"INFO", "json"', f'"{level}", "text"')
    words = [sys.executable, "-W", "default", "-c", program]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    assert sum("an old way" in line or "bars off" in line for line in done.stderr.splitlines()) == said
