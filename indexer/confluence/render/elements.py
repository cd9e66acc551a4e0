"""Rules for HTML tags: what a careful author would have typed in Markdown.

They replace those of markdownify's rules that look at a BeautifulSoup tree or that lose something
(numbers of ordered lists, pictures in cells, sub- and superscripts, headings inside boxes).
"""

from __future__ import annotations

from urllib.parse import unquote

from lxml.etree import _Element

from indexer.confluence.parse.dates import iso_date
from indexer.confluence.parse.links import Context, destination, image, is_other_file, link
from indexer.confluence.parse.targets import attachment_name, href_target, picture_target, wiki_page_id
from indexer.confluence.parse.text import bold, clean, escape
from indexer.confluence.render.code import fence, rendered_code
from indexer.confluence.render.emoticons import emoticon_sign, named_by_file
from indexer.confluence.render.formulas import FORMULAS
from indexer.confluence.render.html_parts import PARTS_OF_HTML
from indexer.confluence.render.inline import apart, emphasis, inline_code
from indexer.confluence.render.lists import listing, lone_item
from indexer.confluence.render.markdown import Handler, Renderer, tag_name

# Inside these a heading is a bold line: it must not take over the text that follows the box.
BOXES = frozenset({"li", "blockquote", "_box", "_cell", "dd"})
SOURCES = ("src", "data-image-src", "data-src", "data-original", "data-lazy-src")  # vendors load pictures late
ICON = "images/icons/"
PARTS = (
    "address", "aside", "center", "dd", "details", "dl", "fieldset", "figcaption", "figure", "footer", "form",
    "header", "main", "nav",
)  # fmt: skip


def paragraph(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    renderer.start_line()
    text = renderer.inner(node, tags).strip(" \n")
    if not text:
        return ""
    if "_inline" in tags:
        return f" {text} "
    parent = node.getparent()
    alone = (
        parent is not None
        and tag_name(parent) == "li"
        and node.getprevious() is None
        and not (parent.text or "").strip()
        and not any(tag_name(other) == "p" for other in siblings(node))
    )
    return f"\n{text}\n" if alone else f"\n\n{text}\n\n"


def siblings(node: _Element) -> list[_Element]:
    parent = node.getparent()
    return [] if parent is None else [other for other in parent if other is not node and isinstance(other.tag, str)]


def heading(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """One line; an empty heading gives no section."""
    text = " ".join(renderer.inner(node, tags).split())
    if not text:
        return ""
    if renderer.numbers is not None:
        text = renderer.numbers.next(int(tag_name(node)[1])) + text
    if "_inline" in tags:
        return f" {text} "
    if tags & BOXES:
        return f"\n\n{bold(text)}\n\n"
    if text.endswith("#"):  # such an end belongs to the mark, not to the text
        text = f"{text[:-1]}\\#"
    return f"\n\n{'#' * int(tag_name(node)[1])} {text}\n\n"


def script_level(tag: str) -> Handler:
    """H<sub>2</sub>O: Markdown has no mark of its own, its HTML does not lose the meaning."""

    def rule(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
        text = renderer.inner(node, tags)
        if "_noformat" in tags or not text.strip():
            return text
        return f"<{tag}>{text.strip()}</{tag}>"

    return rule


def line_break(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    if "_inline" in tags:
        return " "
    if "pre" in tags:
        return "\n"
    renderer.start_line()
    return "  \n"


def anchor(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    text = renderer.inner(node, tags)
    href = (node.get("href") or "").strip()
    kind = link_kind(node)
    if not href or "_noformat" in tags or "a" in tags:
        renderer.account(kind, node, "inside code or another link", "dropped")
        return text
    url = href_target(renderer.context, href)
    bare = text.strip() or clean(node.get("title") or "")
    if not bare or unquote(bare.replace("\\", "")) in (unquote(href), unquote(url)):
        bare = title_of(renderer.context, url, bare)
        text = bare if text.strip() else text
    if not url or (not bare and not url.startswith("http")):
        renderer.account(kind, node, "leads nowhere or shows nothing", "dropped")
        return text
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() else ""
    renderer.account(kind, node, destination(url))
    made = link(" ".join(bare.split()), url)
    return f"{before}{made}{after}" if made.startswith("[") else apart(node, f"{before}{made}{after}")


def link_kind(node: _Element) -> str:
    """A card is a link that the wiki draws with a picture and the title of its target."""
    return "cards" if node.get("data-card-appearance") else "links"


def title_of(context: Context, url: str, otherwise: str) -> str:
    """The title of a page of this wiki that an address leads to, for a link that shows only the address."""
    page_id = wiki_page_id(context, url)
    known = bool(page_id) and context.wiki.visible(page_id, context.page_id)
    return escape(clean(context.wiki.page_title(page_id))).strip() if known else otherwise


def picture(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """A picture as a link; icons of the wiki's own surface are no content, but its emoticons are."""
    said = ((node.get(name) or "").strip() for name in SOURCES)
    source = next((one for one in said if one and not one.startswith("data:")), "") or (node.get("src") or "").strip()
    if name := named_by_file(source):
        sign = emoticon_sign(name, alternative=clean(node.get("alt") or ""))
        renderer.account("images", node, "drawn as a sign", "dropped")
        renderer.account("signs", node, sign)
        return sign
    if not source or source.startswith("data:") or ICON in source:
        renderer.account("images", node, "an icon, or a picture inside the page's own text", "dropped")
        return clean(node.get("alt") or "") if ICON not in source else ""
    name = clean(node.get("alt") or "").strip() or attachment_name(node, source)
    url = picture_target(renderer.context, node, source)
    renderer.account("images", node, destination(url))
    return link(escape(name), url) if is_other_file(attachment_name(node, source)) else image(name, url)


def preformatted(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    code, language = rendered_code(node)
    renderer.account("code", node, code)
    return fence(code, language, tags)


def rule_line(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    return "\n\n---\n\n" if not tags & {"_inline", "_cell"} else "\n"


def time(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    return apart(node, iso_date(node.get("datetime") or "") or renderer.inner(node, tags))


def term(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    text = " ".join(renderer.inner(node, renderer.within(tags, "h6")).split())
    return f"\n\n{bold(text)}\n\n" if text else ""


def lone_block(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """A part of a page, or a cell outside any table: its text, apart from its neighbours."""
    renderer.start_line()
    text = renderer.inner(node, tags).strip("\n ")
    return f"\n\n{text}\n\n" if text else ""


def span(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """Words struck out by a style; all other looks say nothing."""
    return STRUCK(renderer, node, tags) if "line-through" in (node.get("style") or "") else None


def nothing(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    return ""


STRUCK = emphasis("~~")
HTML: dict[str, Handler] = {
    **PARTS_OF_HTML,
    **FORMULAS,
    "p": paragraph,
    **{f"h{level}": heading for level in range(1, 7)},
    **dict.fromkeys(("b", "strong"), emphasis("**")),
    **dict.fromkeys(("i", "em"), emphasis("*")),
    **dict.fromkeys(("s", "del", "strike"), STRUCK),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), inline_code),
    "sub": script_level("sub"),
    "sup": script_level("sup"),
    "br": line_break,
    "hr": rule_line,
    "ul": listing,
    "ol": listing,
    "a": anchor,
    "img": picture,
    "pre": preformatted,
    "time": time,
    "li": lone_item,
    **dict.fromkeys(("td", "th", "tr", "tbody", "thead", "tfoot", "caption", *PARTS), lone_block),
    **dict.fromkeys(("dt", "summary", "legend"), term),
    "span": span,
    **dict.fromkeys(("style", "head", "title", "noscript", "button", "select", "colgroup"), nothing),
}
