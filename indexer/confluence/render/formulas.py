"""Formulas that a library has drawn in the page: the TeX they were written in, each only once."""

from __future__ import annotations

from lxml.etree import _Element

from indexer.confluence.parse.text import clean
from indexer.confluence.render.markdown import Handler, Renderer, tag_name

SHAPES = {
    "mfrac": r"\frac{{{0}}}{{{1}}}",
    "mroot": r"\sqrt[{1}]{{{0}}}",
    "mover": r"\overset{{{1}}}{{{0}}}",
    "msup": "{0}^{{{1}}}",
    **dict.fromkeys(("msub", "munder"), "{0}_{{{1}}}"),
    **dict.fromkeys(("msubsup", "munderover"), "{0}_{{{1}}}^{{{2}}}"),
}
BETWEEN = {"mtr": r" \\ ", "mtd": " & "}  # the rows and the cells of a matrix
DRAWINGS = (
    "katex-html", "MathJax", "MathJax_Display", "MathJax_SVG", "MathJax_SVG_Display", "MathJax_CHTML",
    "MJXc-display",
)  # fmt: skip


def mathml(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """The TeX that MathML carries with it, else TeX made of its parts."""
    written = next(("".join(one.itertext()) for one in node.iter() if "tex" in (one.get("encoding") or "")), "")
    text = " ".join(clean(written or node.get("alttext") or _tex(node)).split())
    return f"${text}$" if text else ""


def _tex(node: _Element) -> str:
    children = [child for child in node if isinstance(child.tag, str) and not _name(child).startswith("annotation")]
    if not children:
        return (node.text or "").strip()
    name, parts = _name(node), [_tex(child) for child in children]
    if len(parts) == (3 if "{2}" in SHAPES.get(name, "") else 2) and name in SHAPES:
        return SHAPES[name].format(*parts)
    text = BETWEEN.get(_name(children[0]), "").join(parts)
    return rf"\sqrt{{{text}}}" if name == "msqrt" else text


def _name(node: _Element) -> str:
    return tag_name(node).rpartition(":")[2]


def drawn(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """What a library has drawn beside the formula that it keeps."""
    before, after = node.getprevious(), node.getnext()
    if after is not None and (after.get("type") or "").startswith("math/tex"):
        return ""
    return "" if before is not None and "katex-mathml" in (before.get("class") or "") else None


FORMULAS: dict[str, Handler] = dict.fromkeys(("math", "m:math", "mml:math"), mathml)
DRAWN: dict[str, Handler] = dict.fromkeys(DRAWINGS, drawn)
