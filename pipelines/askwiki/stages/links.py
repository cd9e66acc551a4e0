"""Addresses and markup in an answer: only the wiki's own lead anywhere, nothing loads, nothing runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from urllib.parse import quote, urlsplit

from askwiki.data import Passage

_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(
    r"(!?)\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))*)>?(?:\s+[\"'(][^\"')]*[\"')])?\s*\)"
)
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto|javascript|data):[^>\s]*)>", re.IGNORECASE)
_BARE = re.compile(
    r"(?:\b(?:https?|ftp)://|\bwww\.|(?<![\w:/])//(?=[\w-]+\.))[^\s<>`\"'|\]]*[^\s<>`\"'|\].,;:!?)*_]", re.IGNORECASE
)
_PORTS = {"http": 80, "https": 443}
_SAFE = "%/:=&?~#+!$,;'@*-._"  # signs of an address that need no escape; brackets would end the link
_TAG = re.compile(r"<(?!br\s*/?>)(?=[A-Za-z/!?])", re.IGNORECASE)
_TELLING = re.compile(r"[\x00`\[\]<]|//|\bwww\.", re.IGNORECASE)  # no address and no markup is without one of them
# The beginning of a line up to the colon of a link definition, also the second line of one: "[x]: //host", "- b]: …".
_DEFINITION = re.compile(r"^((?:[ \t>*+\-\d.)]*\[)?(?:[^\[\]\\\n]|\\.)*\]):", re.MULTILINE)


def wiki_hosts(passages: Iterable[Passage], wiki_url: str) -> frozenset[str]:
    """Hosts that an answer may link to: the wiki's own and those of the passages' pages."""
    addresses = [wiki_url, *(passage.url for passage in passages)]
    return frozenset(host for address in addresses if (host := _host(address)))


def harmless(text: str, hosts: frozenset[str]) -> str:
    """``text`` with foreign addresses as code, foreign pictures as their name, and no HTML; code spans stay."""
    if not _TELLING.search(text):
        return text
    kept: list[str] = []

    def keep(piece: str) -> str:
        kept.append(piece)
        return f"\x00{len(kept) - 1}\x00"

    text = text.replace("\x00", "")
    text = _CODE_SPAN.sub(lambda match: keep(match.group()), text).replace("`", "\\`")
    text = _LINK.sub(lambda match: _link(match, hosts, keep), text)
    text = _AUTOLINK.sub(lambda match: _bare(match[1], hosts, keep), text)
    text = _BARE.sub(lambda match: _bare(match.group(), hosts, keep), text)
    text = _DEFINITION.sub(r"\1\\:", _TAG.sub("&lt;", text)).replace("](", "] (")
    while "\x00" in text:  # a kept link may hold a kept code span
        text = re.sub("\x00(\\d+)\x00", lambda match: kept[int(match[1])], text)
    return text


def _link(match: re.Match[str], hosts: frozenset[str], keep: Callable[[str], str]) -> str:
    picture, label, address = match.groups()
    if _host(address) in hosts:
        inner = _LINK.sub(lambda within: _link(within, hosts, keep), label)  # a picture that is a link
        return keep(f"{picture}[{_TAG.sub('&lt;', inner)}]({address})")
    if picture or not _host(address):
        return label
    return f"{label} ({keep(f'`{address}`')})"


def _bare(address: str, hosts: frozenset[str], keep: Callable[[str], str]) -> str:
    return keep(address if _host(address) in hosts else f"`{address}`")


@lru_cache(maxsize=4096)
def _host(address: str) -> str:
    """Host of a web address in lower case, with its port where that is not the usual one; empty for anything else."""
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme.lower() not in _PORTS or "\\" in address or "@" in parts.netloc:
        return ""
    host = parts.hostname or ""
    return host if port in (None, _PORTS[parts.scheme.lower()]) else f"{host}:{port}"


def link(label: str, address: str) -> str:
    """A Markdown link with its label and address escaped; the bare label where there is no web address."""
    label = escape(label)
    if not _host(address):
        return label
    safe = quote(address, safe=_SAFE)
    return f"[{label}]({safe})"


def escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(text.split()))
