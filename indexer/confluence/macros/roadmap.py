"""The roadmap macro: its lanes and bars stand in one parameter, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, unquote_plus

from indexer.confluence.macros.bodies import rendered_or_mark
from indexer.confluence.parse.links import link, page_url, titled_url
from indexer.confluence.parse.text import bold, clean, escape
from indexer.confluence.render.macro import Macro
from indexer.confluence.render.markdown import Renderer


def roadmap(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """A list of lanes, below each its bars with their days."""
    source = macro.get("source")
    unquoted = unquote if "%20" in source or "+" not in source else unquote_plus
    try:
        plan = json.loads(source if source.lstrip().startswith("{") else unquoted(source))
    except (ValueError, RecursionError):
        plan = None
    lines = list(_lines(renderer, plan)) if isinstance(plan, dict) else []
    if not lines:
        return rendered_or_mark(renderer, macro, tags)
    title = escape(clean(macro.get("title") or _text(plan, "title")))
    return "\n\n" + "\n".join([bold(title), "", *lines] if title else lines) + "\n\n"


def _lines(renderer: Renderer, plan: dict[str, Any]) -> Iterator[str]:
    for lane in _list(plan.get("lanes")):
        yield f"- {_text(lane, 'title')}"
        for bar in _list(lane.get("bars")):
            page = _page(renderer, bar.get("pageLink"))
            yield f"  - {_named(bar, 'startDate', 'endDate')}" + (f" → {page}" if page else "")
    for marker in _list(plan.get("markers")):
        yield f"- {_named(marker, 'markerDate', 'date')}"


def _named(one: dict[str, Any], *days: str) -> str:
    """``title: description (from – to)``."""
    said = ": ".join(text for text in (_text(one, "title"), _text(one, "description")) if text)
    dates = " – ".join(day for name in days if (day := _text(one, name)[:10]))
    return f"{said} ({dates})" if dates else said


def _page(renderer: Renderer, value: Any) -> str:
    """The page that a bar leads to, as the macro names it: by id, or by space and title."""
    named = value if isinstance(value, dict) else {}
    context, title, identity = renderer.context, _text(named, "title"), str(named.get("id") or "")
    space = _text(named, "spaceKey") or context.space
    if not identity.isdecimal():
        identity = context.wiki.page_id(space, title) if title else ""
    if identity:
        return link(title or identity, page_url(context.base, identity))
    return link(title, titled_url(context.base, space, title)) if title and space else title


def _list(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(one: dict[str, Any], name: str) -> str:
    value = one.get(name)
    return escape(" ".join(clean(value).split())) if isinstance(value, str) else ""
