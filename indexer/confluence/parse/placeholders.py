"""What stands in rendered HTML in the place of content that did not come: apps that export nothing, loading signs."""

from __future__ import annotations

from lxml import etree
from lxml.etree import _Element

from askwiki.language import en, ru
from indexer.confluence.parse.text import clean

CONTENT = frozenset({"img", "a", "table", "svg", "video", "audio", "iframe", "object", "embed", "pre", "input"})
NO_TEXT = frozenset({"script", "style", "noscript", "template"})
# What the wiki marks as not there yet, in whatever language it says so.
LOADING = frozenset(
    {"issue-placeholder", "aui-icon-wait", "aui-spinner", "spinner", "loading", "ap-iframe-loading", "ap-loading"}
)
FORGE = "ari:cloud:ecosystem"  # begins the key of every such app
TELLING = 120  # characters; a longer text is content, whatever it says


def visible_text(node: _Element) -> str:
    """The words of an element without its scripts."""
    pieces: list[str] = []
    for event, inner in etree.iterwalk(node, events=("start", "end")):
        if event == "start" and isinstance(inner.tag, str) and inner.tag not in NO_TEXT:
            pieces.append(inner.text or "")
        elif event == "end" and inner is not node:
            pieces.append(inner.tail or "")
    return " ".join(clean("".join(pieces)).split())


def is_unloaded(node: _Element) -> bool:
    """Whether an element, or a part of it, is marked as a placeholder."""
    return any(
        isinstance(inner.tag, str)
        and (not LOADING.isdisjoint((inner.get("class") or "").split()) or inner.get("aria-busy") == "true")
        for inner in node.iter()
    )


def is_unloaded_issue(node: _Element) -> bool:
    """Whether an issue of Jira shows only its key: its summary and its state had not come yet."""
    summaries = (one for one in node.iter("span") if "summary" in (one.get("class") or "").split())
    return is_unloaded(node) or any(says_unexported(visible_text(one)) for one in summaries)


def is_placeholder(node: _Element) -> bool:
    """Whether all that an element shows is that its content is not here."""
    if any(isinstance(inner.tag, str) and inner.tag in CONTENT for inner in node.iter()):
        return False
    text = visible_text(node)
    if not text:
        return True
    return len(text) <= TELLING and (says_unexported(text) or is_unloaded(node) or _is_bare_sentence(node))


def _is_bare_sentence(node: _Element) -> bool:
    """Whether an app of the Cloud shows nothing but a ``div`` of words: its export is made of paragraphs.

    In whatever language: so the wiki says there that it cannot export the app.
    """
    inside = [inner for inner in node.iterdescendants() if isinstance(inner.tag, str)]
    return FORGE in (node.get("data-macro-name") or "") and [one.tag for one in inside] == ["div"]


def says_unexported(text: str) -> bool:
    """Whether a text is the wiki's own sentence for a macro that it cannot put into an export."""
    folded = text.strip(" .…!").casefold()
    sentences = (*en.UNEXPORTED, *ru.UNEXPORTED)
    return folded in sentences or any(folded.startswith(one) for one in sentences if one.count(" ") >= 2)
