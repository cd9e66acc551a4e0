"""A chunk as a language model reads it: its place, its text, and no addresses of the wiki's own pages.

A model cites by number; the addresses behind links cost up to a third of a fragment, percent-encoded as they are.
Addresses of other places stay: a form or a tool may be what was asked for.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from askwiki.data import Chunk, Passage

# Code, or a link: its words may hold code and go on in the next line.
_CODE_OR_LINK = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`"
    r"|(?<!!)\[(?P<words>(?:[^\[\]`]|`[^`\n]*`)*+)\]"
    r"\(<?(?P<target>[^()\s<>]*(?:\([^()\s<>]*\)[^()\s<>]*)*)>?(?: \"[^\"\n]*\")?\)",
    re.DOTALL,
)


def place_of(read: Chunk | Passage) -> str:
    """Titles from the root of the wiki down to the heading, each once: pages often begin with their own title."""
    names = dict.fromkeys(" ".join(name.split()) for name in (*read.path, read.title, *read.headings))
    return " / ".join(name for name in names if name)


def as_read(text: str, url: str) -> str:
    """``text`` of the page at ``url`` with links into its own wiki reduced to their words; code is left alone."""
    host = _host(url)

    def reduced(found: re.Match[str]) -> str:
        words, target = found["words"], found["target"]
        return words if words and words.strip() and _host(target) in ("", host) else found.group()

    return _CODE_OR_LINK.sub(reduced, text)


def own_links(text: str, url: str) -> list[str]:
    """Where the links of ``text`` lead, of those into the wiki of the page at ``url``; none out of code."""
    targets = (found["target"] for found in _CODE_OR_LINK.finditer(text))
    return [target for target in targets if target and _host(target) in ("", _host(url))]


def _host(address: str) -> str:
    """Of an absolute address; empty for a relative one, the address itself where it is of another kind (mailto:)."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    return parts.netloc.lower() if parts.scheme in ("", "http", "https") else address
