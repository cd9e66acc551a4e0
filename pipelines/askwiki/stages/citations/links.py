"""Addresses of an answer: only the wiki's own lead anywhere; names of pages become words that are nothing but words."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote, urlsplit

from askwiki.data import Passage

_PORTS = {"http": 80, "https": 443}
_SAFE = "%/:=&?#+!,;@-._"  # signs of an address that mean nothing to Markdown
_UNSAFE = re.compile(r"[^\w%/:=&?#+!,;@.-]")
# Characters that nobody sees: controls, zero width, direction, tags, variants.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0e\ufeff\U000e0000-\U000e01ef]"
)
# Brackets, backticks and backslashes come back to life in the chat's second reading of a label: others stand for them.
_WORDS = str.maketrans({"[": "(", "]": ")", "<": "‹", ">": "›", "`": "'", "\\": "/", "|": "¦"})
_EMPTY = re.compile(r"!?\(\s*+\)")
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"'`|\\]{1,500}", re.IGNORECASE)
_SENTENCE_ENDS = ".,;:!?*_~»"
_SLASHES = re.compile(r"/(?=/)|(?<=/)/")
_DOT = re.compile(  # before what is read as the end of a host's name, or after www
    r"(?<=www)\.|\.(?=(?:[a-z]{2}|com|net|org|edu|gov|biz|info|name|shop|pro|web|xxx|aero|asia|coop|museum|рф)(?![^\W_]))",
    re.IGNORECASE,
)
_AT = re.compile(r"(?<=[\w.+-])@(?=\w)")
_ENTITY = re.compile(r"&(?=#?\w{1,40};)")
OWN_NAME = re.compile(r"\{\{(?=char|user|video_|html_)", re.IGNORECASE)  # {{user}} and the like the chat fills in
_MARKS = re.compile(r"([*_~$])")


def wiki_hosts(passages: Iterable[Passage], wiki_url: str) -> frozenset[str]:
    """Hosts that an answer may link to: the wiki's own and those of the passages' pages."""
    addresses = [wiki_url, *(passage.url for passage in passages)]
    return frozenset(host for address in addresses if (host := host_of(address)))


def page_addresses(passages: Iterable[Passage]) -> frozenset[str]:
    """Web addresses that stand in the passages, each letter for letter: the form, the service desk."""
    found = {match.group().rstrip(_SENTENCE_ENDS) for each in passages for match in _ADDRESS.finditer(each.text)}
    return frozenset(address for address in found if host_of(address))


def named_hosts(setting: str) -> frozenset[str]:
    """The hosts of ``sources.hosts``, comma-separated, in lower case."""
    return frozenset(host.strip().lower() for host in setting.split(",") if host.strip())


@lru_cache(maxsize=4096)
def host_of(address: str) -> str:
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


def in_markdown(address: str) -> str:
    """A web address whose every sign is one that no reader of Markdown takes for its own; letters stay as they are."""
    return _UNSAFE.sub(lambda match: quote(match.group(), safe=""), address)


def link(label: str, address: str) -> str:
    """A Markdown link with its label and address made safe; the bare label where there is no web address."""
    label = escape(label)
    if not host_of(address):
        return label
    return f"[{in_brackets(label)}]({quote(address, safe=_SAFE)})"


def goal(address: str) -> str:
    """How a link of ours to this address ends, whatever its label: by it an answer is known to name the place."""
    return link("x", address).removeprefix("[x")


def in_brackets(label: str) -> str:
    """A label that the chat does not take for the number of a source or of a note: «2024» is a page, too."""
    return f"\u2060{label}" if label[:1] == "^" or label[:1].isdecimal() else label


def escape(text: str) -> str:
    """``text`` as words on one line, whoever reads it: also a reader that undoes the escapes of a label first.

    Letters, digits and ordinary punctuation stay; what could be markup, an address or an entity is written with signs
    that look alike; what nobody sees is left out. Never empty: a name of nothing but signs is «…».
    """
    for _ in range(3):  # entities may be written in entities
        text = html.unescape(text)
    text = " ".join(_UNSEEN.sub("", text).split()).translate(_WORDS)
    text = _EMPTY.sub("", text)
    text = _DOT.sub("\u2024", _SLASHES.sub("\u2215", text))
    text = OWN_NAME.sub("{ {", _ENTITY.sub("＆", _AT.sub("＠", text)))
    return _MARKS.sub(r"\\\1", " ".join(text.split())) or "…"
