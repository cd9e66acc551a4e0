"""What a macro of the storage format says: name, parameters, body. Both elements, old and new."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, unquote_plus

from lxml.etree import _Element

from indexer.confluence.render.markdown import tag_name

QUOTED = re.compile(r"(?:[\w.~!*'()+-]|%[0-9A-Fa-f]{2})+", re.ASCII)  # no address: that has ":" and "/"
ENCODED = "--uriencoded--"  # how the wiki marks a value with signs that it could not store


@dataclass(frozen=True, slots=True)
class Macro:
    """``parameters`` never become text of a page, except where a macro shows one (a title, a status)."""

    name: str
    id: str
    node: _Element
    parameters: dict[str, _Element]
    rich: _Element | None
    plain: str | None

    def get(self, *names: str) -> str:
        """The text of the first of these parameters that is there and not empty."""
        for name in names:
            parameter = self.parameters.get(name.lower())
            if parameter is not None and (text := value_of(parameter)):
                return text
        return ""

    def element(self, tag: str) -> _Element | None:
        """The first element of this name inside the parameters (``ri:page``, ``ri:attachment``)."""
        for parameter in self.parameters.values():
            for inner in parameter.iterdescendants():
                if isinstance(inner.tag, str) and tag_name(inner) == tag:
                    return inner
        return None

    @property
    def body(self) -> _Element | None:
        return self.rich


def read_macro(node: _Element) -> Macro:
    parameters: dict[str, _Element] = {}
    rich: _Element | None = None
    plain: str | None = None
    for child in node:
        if not isinstance(child.tag, str):
            continue
        tag = tag_name(child)
        if tag == "ac:parameter":
            parameters.setdefault(attribute(child, "name").lower(), child)
        elif tag == "ac:default-parameter":
            parameters.setdefault("", child)
        elif tag == "ac:rich-text-body":
            rich = child
        elif tag == "ac:plain-text-body":
            plain = "".join(child.itertext())
    return Macro(attribute(node, "name").lower(), attribute(node, "macro-id"), node, parameters, rich, plain)


IDENTITIES = ("macro-id", "local-id", "data-macro-id", "data-local-id", "localid")
KEYED = frozenset({"local-id", "localId", "macro-id", "macroId"})  # parts of an ``ac:adf-extension`` that hold an id


def identities(node: _Element) -> frozenset[str]:
    """The ids by which the two forms of a page call one macro."""
    found = {attribute(node, name) for name in IDENTITIES}
    if tag_name(node) == "ac:adf-extension":
        inside = next((child for child in node if tag_name(child) == "ac:adf-node"), None)
        for part in inside.iter() if inside is not None else ():
            if isinstance(part.tag, str) and attribute(part, "key") in KEYED:
                found.add("".join(part.itertext()).strip())
    return frozenset(found - {""})


def value_of(parameter: _Element) -> str:
    """The text of a parameter as its author typed it."""
    text = "".join(parameter.itertext()).strip()
    if text.startswith(ENCODED):
        return unquote(text.removeprefix(ENCODED))
    return _decoded(text) if QUOTED.fullmatch(text) and "%" in text else text


def _decoded(text: str) -> str:
    """A value that an app has percent-encoded as a whole: when letters of another alphabet or a JSON text come out."""
    try:
        plain = (unquote if "%20" in text or "+" not in text else unquote_plus)(text, errors="strict")
    except UnicodeDecodeError:
        return text
    return text if plain.isascii() and not plain.startswith(("{", "[")) else plain


def is_alone(node: _Element) -> bool:
    """Whether the element is all that its parent holds."""
    parent = node.getparent()
    return parent is None or (len(parent) == 1 and not f"{parent.text or ''}{node.tail or ''}".strip())


def attribute(node: _Element, name: str) -> str:
    """``ac:name``, ``ri:name`` or ``name``, whichever is there (a parser of HTML knows no prefixes)."""
    for key in (f"{{ac}}{name}", f"{{ri}}{name}", name, f"ac:{name}", f"ri:{name}"):
        if (value := node.get(key)) is not None:
            return str(value)
    return ""


def first(node: _Element, *tags: str) -> _Element | None:
    """The first child with one of these names."""
    for child in node:
        if isinstance(child.tag, str) and tag_name(child) in tags:
            return child
    return None


# --- names of macros that need no function of their own ----------------------------------------

PLANTUML = ("plantuml", "plantumlrender", "plantuml-render", "plantumlcloud", "uml", "puml")
FORMULAS = (
    "eazy-math-inline", "eazy-math-block", "easy-math-block", "easy-math-inline", "mathblock", "mathinline", "latex",
    "latex-formatting", "mathblock-ref", "mathjax-inline-macro", "mathjax-block-macro", "unit",
)  # fmt: skip
BUTTONS = ("ui-button", "auibutton", "aui-button", "button-hyperlink", "link-button", "auihyperlink")
# Several views in one place: the label of each is all that the reader sees of the closed ones.
TABS = ("ui-tab", "tab", "tab-pane", "card", "localtab", "ui-step", "section-tab", "slide", "accordion-item")
# Their body is the content of the page; what they do to it (filter, colour, place, hide) is not.
CONTAINERS = (
    "details", "excerpt", "section", "column", "table-filter", "pivot-table", "table-joiner", "table-excerpt",
    "table-transformer", "multiexcerpt", "multiexcerpt-macro", "toc-zone", "ui-tabs", "tabs",
    "tabs-group", "tab-group", "deck", "localtabgroup", "div", "span", "center", "align", "quote", "cloak", "show-if",
    "hide-if", "bgcolor", "color", "highlight", "sortable", "float", "ui-text-box",
    "aura-panel", "lead-paragraph", "accordion",
)  # fmt: skip
# Marks and controls without content, or what people did lately: nothing of the page itself.
CONTROLS = (
    "anchor", "toc", "pagetreesearch", "recently-updated", "livesearch", "popular-labels", "labels-list", "listlabels",
    "navmap", "related-labels", "recently-updated-dashboard", "spaces-list", "contributors", "contributors-summary",
    "change-history", "favpages", "search", "create-from-template", "create-space-button", "index",
    "recently-used-labels", "global-reports", "userlister", "network", "space-details",
    "content-by-user", "page-index", "pageindex", "hide-comments", "style", "css-stylesheet",
    "display-footnotes", "pagebreak", "page-break", "easy-heading", "easy-heading-free",
)  # fmt: skip
# Classes of rendered HTML: icons, controls and anchors of the wiki's own surface, and what people did lately.
DROPPED_CLASSES = (
    "toc-macro", "recently-updated", "confluence-anchor-link", "aui-icon", "hidden", "expand-icon", "search-macro",
    "refresh-issues-bottom", "refresh-action-group", "total-issues-count", "plugin-contributors", "userLogo",
    "aui-nav-pagination", "label-details", "plugin_pagetree_children_loading",
)  # fmt: skip
