"""From what a link or a picture of rendered HTML says to where it really leads."""

from __future__ import annotations

import base64
import re
from urllib.parse import unquote, unquote_plus, urljoin

from lxml.etree import _Element

from indexer.confluence.parse.links import Context, attachment_url, page_url
from indexer.confluence.parse.text import clean

SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
SCRIPT = re.compile(r"^\s*(javascript|vbscript|data):", re.IGNORECASE)
FILE_ID = re.compile(r"(?:^|[_/])(\d+)\.html?$")
# /spaces/KB/pages/123/Title, /spaces/KB/pages/edit-v2/123, /pages/123, /spaces/KB/blog/2025/03/01/123/Title
NUMBERED = re.compile(r"^/(?:spaces/[^/?#]++/)?(?:pages/(?:edit-v2/)?|blog/\d{4}/\d{2}/\d{2}/)(\d+)(?=[/?#]|$)")
TINY = re.compile(r"/x/([\w-]{1,11})", re.ASCII)  # /x/AbCd
DISPLAYED = re.compile(r"/display/([^/]++)/([^/]++)/?")  # /display/KB/Title+of+page
PAGE_ID = re.compile(r"[?&]pageId=(\d+)")
ATTACHMENT = re.compile(r"(?:^|/)attachments/(\d+)/([^/?#]+)")
TRACKING = re.compile(r"[?&]src=confmacro$")


def href_target(context: Context, href: str) -> str:
    """An absolute address where it can be told, else one that still names the page."""
    if SCRIPT.match(href) or href == "#":
        return ""
    if SCHEME.match(href) or href.startswith("//"):
        return TRACKING.sub("", href)
    path, _, fragment = href.partition("#")
    anchor = f"#{fragment}" if fragment else ""
    if not path:
        return f"{context.url}{anchor}" if context.url else anchor
    page_id = context.wiki.page_of(unquote(path)) or file_page_id(path)
    if page_id:
        return page_url(context.base, page_id, fragment)
    if match := ATTACHMENT.search(path):
        return attachment_url(context.base, match[1], context.wiki.file_name(match[1], match[2]) or unquote(match[2]))
    if path.startswith("/") and context.base:
        return urljoin(context.base, path) + anchor
    return href


def wiki_page_id(context: Context, url: str) -> str:
    """The id of a page of this wiki that a whole address leads to, "" when it leads elsewhere or does not say."""
    base = context.base.rstrip("/")
    if not base or not url.startswith(f"{base}/"):
        return ""
    path = url.removeprefix(base).partition("#")[0]
    found = NUMBERED.search(path) or PAGE_ID.search(path)
    if found:
        return found[1]
    if tiny := TINY.fullmatch(path.partition("?")[0]):
        return _of_tiny(tiny[1])
    named = DISPLAYED.fullmatch(path.partition("?")[0])
    return context.wiki.page_id(unquote_plus(named[1]), unquote_plus(named[2])) if named else ""


def _of_tiny(code: str) -> str:
    """The id in a short address: its bytes, the lowest first, in base64 without the zeros at the end."""
    letters = code.replace("-", "/").replace("_", "+").ljust(11, "A")[:11]
    return str(int.from_bytes(base64.b64decode(letters + "=")[:8], "little"))


def file_page_id(path: str) -> str:
    """The page id in a link or file name of the export: ``Title_123.html``, ``123.html``."""
    match = FILE_ID.search(path.partition("?")[0]) or PAGE_ID.search(path)
    return match[1] if match else ""


def picture_target(context: Context, node: _Element, source: str) -> str:
    """The wiki's download address under the file's real name; pictures of other sites as they are."""
    name = node.get("data-linked-resource-default-alias")
    owner = node.get("data-linked-resource-container-id")
    match = ATTACHMENT.search(source.partition("?")[0])
    if name and (owner or match):
        holder = owner or (match[1] if match else "")
        return attachment_url(context.base or node.get("data-base-url") or "", holder, name)
    if SCHEME.match(source) or source.startswith("//"):
        return source
    if match:
        return attachment_url(context.base, match[1], context.wiki.file_name(match[1], match[2]) or unquote(match[2]))
    if source.startswith("/") and context.base:
        return urljoin(context.base, source)
    return source


def attachment_name(node: _Element, source: str) -> str:
    """What a reader would call the picture: the real file name, else the last step of its address."""
    name = node.get("data-linked-resource-default-alias") or unquote(source.partition("?")[0].rsplit("/", 1)[-1])
    return clean(name).strip()
