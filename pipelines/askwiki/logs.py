"""Logs as the settings say: text or one JSON object a line, each with the request's id.

The root logger stays at WARNING whatever the level: the stock server writes whole answers to it at INFO.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from typing import Any

from askwiki.masking import masked
from askwiki.request import current_request

OURS = ("askwiki", "indexer", "uvicorn")
TEXT = "%(asctime)s %(levelname)s %(name)s [%(request)s] %(message)s"


class TextFormatter(logging.Formatter):
    """A line, and the trace of an error; without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))


class JsonFormatter(logging.Formatter):
    """time, level, logger, request, message, and the trace of an error; without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "request": getattr(record, "request", "-"),
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return masked(json.dumps(line, ensure_ascii=False))


def add_request(record: logging.LogRecord) -> bool:
    """A logging filter that notes which request a line belongs to."""
    record.request = current_request().id
    return True


def set_up_logging(level: str, form: str) -> None:
    """One handler to stderr for everything; our own loggers at ``level``. Before a library of models is loaded.

    Bars of progress are for a terminal: in a file they are half lines, in JSON none at all.
    """
    if form == "json" or not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # read by the model hub's client and by transformers
    logging.captureWarnings(True)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter(TEXT))
    handler.addFilter(add_request)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(level)
