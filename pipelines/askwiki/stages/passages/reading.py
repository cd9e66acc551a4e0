"""A chunk as a language model reads it: its place, its text, and no addresses of the wiki's own pages.

A model cites by number; the addresses behind links cost up to a third of a fragment, percent-encoded as they are.
Addresses of other places stay: a form or a tool may be what was asked for.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from askwiki.data import Chunk, Passage

_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]*)\]\(<?([^()\s<>]*(?:\([^()\s<>]*\)[^()\s<>]*)*)>?(?: \"[^\"\n]*\")?\)")


def place_of(read: Chunk | Passage) -> str:
    """Titles from the root of the wiki down to the heading, each once: pages often begin with their own title."""
    names = dict.fromkeys(" ".join(name.split()) for name in (*read.path, read.title, *read.headings))
    return " / ".join(name for name in names if name)


def as_read(text: str, url: str) -> str:
    """``text`` of the page at ``url`` with links into its own wiki reduced to their words; code is left alone."""
    host = _host(url)

    def reduced(link: re.Match[str]) -> str:
        words, target = link.groups()
        return words if words.strip() and _host(target) in ("", host) else link.group()

    parts = _CODE.split(text)
    return "".join(part if number % 2 else _LINK.sub(reduced, part) for number, part in enumerate(parts))


def _host(address: str) -> str:
    """Of an absolute address; empty for a relative one, the address itself where it is of another kind (mailto:)."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    return parts.netloc.lower() if parts.scheme in ("", "http", "https") else address
