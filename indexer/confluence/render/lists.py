"""Lists: numbers, marks of tasks, and what is nested below an item."""

from __future__ import annotations

from lxml.etree import _Element

from indexer.confluence.render.markdown import Renderer, tag_name

LISTS = frozenset({"ul", "ol", "ac:task-list"})
BLANK = frozenset({"p", "br", "span"})


def listing(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """A list; items carry their numbers, a nested list is indented below its item."""
    ordered = tag_name(node) == "ol"
    number = _number(node.get("start"), 1)
    sign = delimiter(renderer, node) if ordered else ""
    inside = renderer.within(tags, tag_name(node))
    lines: list[str] = []
    blanks = ""  # as wide as the mark of the item above
    for child in node:
        if not isinstance(child.tag, str):
            continue
        tag = tag_name(child)
        nested = child if tag in ("ul", "ol") else only_list(child, ordered) if tag == "li" else None
        if tag == "li":
            number = _number(child.get("value"), number)
        if nested is not None:  # right inside this list, or in an item by which the editor skips a level
            lines.append(indent(renderer.process_tag(nested, inside).strip("\n"), blanks))
            number += tag == "li"
        elif tag in ("li", "ac:task"):
            bullet = f"{number}{sign} " if ordered else "- "
            lines.append(item(renderer, child, inside, bullet))
            number, blanks = (number + 1, " " * len(bullet)) if lines[-1] else (number, blanks)
        else:
            lines.append(renderer.process_tag(child, inside).strip("\n"))
        lines.append(stray(renderer, child.tail, inside))
    text = "\n".join(line for line in [stray(renderer, node.text, inside), *lines] if line)
    if not text:
        return ""
    close = "li" in tags and (not ordered or text.startswith(("1. ", "1) ")))  # any other number ends no paragraph
    return f"\n{text}{after(node)}" if close else f"\n\n{text}\n\n"


def after(node: _Element) -> str:
    """The end of a list in an item: words behind it must not go on with its last item."""
    following = node.getnext()
    lists = following is None or (isinstance(following.tag, str) and tag_name(following) in LISTS)
    return "\n" if lists and not (node.tail or "").strip() else "\n\n"


def delimiter(renderer: Renderer, node: _Element) -> str:
    """What stands behind the numbers: another sign than that of a list right before, or Markdown joins the two."""
    sign, before = ".", _list_before(node)
    if before is not None:
        items = sum(tag_name(child) == "li" for child in before if isinstance(child.tag, str))
        goes_on = _number(before.get("start"), 1) + items == _number(node.get("start"), 1)
        sign = renderer.signs.get(before, ".") if goes_on else {".": ")"}.get(renderer.signs.get(before, "."), ".")
    renderer.signs[node] = sign
    return sign


def _list_before(node: _Element) -> _Element | None:
    """The ordered list before this one, when nothing that is shown stands between them."""
    before = node.getprevious()
    while before is not None and not (before.tail or "").strip():
        if isinstance(before.tag, str) and not _is_blank(before):
            return before if tag_name(before) == "ol" else None
        before = before.getprevious()
    return None


def _is_blank(node: _Element) -> bool:
    """An empty line of the editor."""
    inside = (tag_name(inner) for inner in node.iter() if isinstance(inner.tag, str))
    return BLANK.issuperset(inside) and not "".join(node.itertext()).strip()


def only_list(node: _Element, ordered: bool) -> _Element | None:
    """The list that is all there is in an item without a mark of its own (a number is one)."""
    if ordered and "none" not in (node.get("style") or ""):
        return None
    if (node.text or "").strip() or len(node) != 1 or (node[0].tail or "").strip():
        return None
    return node[0] if isinstance(node[0].tag, str) and tag_name(node[0]) in ("ul", "ol") else None


def _number(said: str | None, otherwise: int) -> int:
    return int(said) if said and said.isdecimal() and len(said) < 10 else otherwise


def stray(renderer: Renderer, text: str | None, tags: frozenset[str]) -> str:
    return renderer.process_text(text, tags).strip() if text and text.strip() else ""


def item(renderer: Renderer, node: _Element, tags: frozenset[str], bullet: str) -> str:
    renderer.start_line()
    if "inline-task-list" in (node.getparent().get("class") or "") if node.getparent() is not None else False:
        bullet += "[x] " if "checked" in (node.get("class") or "") else "[ ] "
    text = renderer.inner(node, tags).strip(" \n")
    if not text:
        return ""
    if bullet.endswith("] "):
        renderer.account("tasks", node, "")
    return (
        bullet
        + indent(text, " " * (2 if bullet.startswith("-") else len(bullet)))[
            2 if bullet.startswith("-") else len(bullet) :
        ]
    )


def lone_item(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """A list item outside any list."""
    text = item(renderer, node, tags, "- ")
    return f"\n{text}\n" if text else ""


def indent(text: str, blanks: str) -> str:
    return "\n".join(blanks + line if line else "" for line in text.split("\n"))
