"""What a macro of the storage format says: name, parameters, body. Both elements, old and new."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from lxml.etree import _Element

from indexer.confluence.markdown import tag_name

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
            if parameter is not None and (text := "".join(parameter.itertext()).strip()):
                return unquote(text.removeprefix(ENCODED)) if text.startswith(ENCODED) else text
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
