"""The roadmap macro: its lanes and bars stand in one parameter, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from indexer.confluence.macros.bodies import rendered_or_mark
from indexer.confluence.parse.text import bold, clean, escape
from indexer.confluence.render.macro import Macro
from indexer.confluence.render.markdown import Renderer


def roadmap(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """A list of lanes, below each its bars with their days."""
    source = macro.get("source")
    try:
        plan = json.loads(source if source.lstrip().startswith("{") else unquote(source))
    except (ValueError, RecursionError):
        plan = None
    lines = list(_lines(plan)) if isinstance(plan, dict) else []
    if not lines:
        return rendered_or_mark(renderer, macro, tags)
    title = escape(clean(macro.get("title") or _text(plan, "title")))
    return "\n\n" + "\n".join([bold(title), "", *lines] if title else lines) + "\n\n"


def _lines(plan: dict[str, Any]) -> Iterator[str]:
    for lane in _list(plan.get("lanes")):
        yield f"- {_text(lane, 'title')}"
        for bar in _list(lane.get("bars")):
            yield f"  - {_named(bar, 'startDate', 'endDate')}"
    for marker in _list(plan.get("markers")):
        yield f"- {_named(marker, 'markerDate', 'date')}"


def _named(one: dict[str, Any], *days: str) -> str:
    """``title: description (from – to)``."""
    said = ": ".join(text for text in (_text(one, "title"), _text(one, "description")) if text)
    dates = " – ".join(day for name in days if (day := _text(one, name)[:10]))
    return f"{said} ({dates})" if dates else said


def _list(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(one: dict[str, Any], name: str) -> str:
    value = one.get(name)
    return escape(" ".join(clean(value).split())) if isinstance(value, str) else ""
