"""Storage format to the HTML that Confluence's own space export writes."""

import html
import re
from collections.abc import Callable
from datetime import date

from lxml import etree
from wiki_macros import MACROS
from wiki_source import AC, RI, Page, Wiki, parse

EXPORTED = date(2026, 11, 30)
_VOID = {"br", "hr", "col", "img"}
_CLASSES = {"table": "confluenceTable", "th": "confluenceTh", "td": "confluenceTd"}
_EMOTICONS = {"tick": "check", "cross": "error", "warning": "warning"}
_HEADING = re.compile(r"h[1-6]")


class Renderer:
    """Renders the body of one page; remembers what a page needs once: heading ids and pictures."""

    def __init__(self, wiki: Wiki, page: Page) -> None:
        self.wiki = wiki
        self.page = page
        self.root = parse(page.storage)
        self.pictures: list[str] = []
        self._used: dict[str, int] = {}
        self._ids: dict[etree._Element, str] = {}

    def body(self) -> str:
        return self.inner(self.root)

    def inner(self, element: etree._Element) -> str:
        """The rendered content of an element, without the element itself."""
        parts = [_escape(element.text)]
        for child in element:
            parts.append(self._element(child) + _escape(child.tail))
        return "".join(parts)

    def other(self, page: Page) -> "Renderer":
        """A renderer for a page whose text is pulled into this one."""
        return Renderer(self.wiki, page)

    def heading_id(self, heading: etree._Element) -> str:
        """PageTitle-Heading without blanks; a repeated one gets `.1`."""
        if heading not in self._ids:
            base = self.page.anchor("".join(heading.itertext()))
            seen = self._used.get(base, 0)
            self._used[base] = seen + 1
            self._ids[heading] = f"{base}.{seen}" if seen else base
        return self._ids[heading]

    def headings(self) -> list[etree._Element]:
        return [item for item in self.root.iter() if _HEADING.fullmatch(str(item.tag))]

    def macro(self, element: etree._Element) -> str:
        name = element.get(f"{{{AC}}}name", "")
        return MACROS[name](self, element) if name in MACROS else ""

    def _element(self, element: etree._Element) -> str:
        special = _SPECIAL.get(str(element.tag))
        if special:
            return special(self, element)
        tag = str(element.tag)
        attributes = dict(element.attrib)
        if _HEADING.fullmatch(tag):
            attributes = {"id": self.heading_id(element)}
        if tag in _CLASSES:
            own = f"{attributes['class']} " if "class" in attributes else ""
            attributes = {"class": own + _CLASSES[tag], **{k: v for k, v in attributes.items() if k != "class"}}
        if tag == "a":
            attributes = {"href": attributes["href"], "class": "external-link", "rel": "nofollow"}
        opening = tag + "".join(f' {key}="{html.escape(value)}"' for key, value in attributes.items())
        if tag in _VOID:
            return f"<{opening}/>"
        shown = f"<{opening}>{self.inner(element)}</{tag}>"
        return f'<div class="table-wrap">{shown}</div>' if tag == "table" else shown


def _escape(text: str | None) -> str:
    return html.escape(text or "", quote=False).replace("\u00a0", "&nbsp;")


def _link(renderer: Renderer, element: etree._Element) -> str:
    user = element.find(f"{{{RI}}}user")
    if user is not None:
        return _user_link(renderer, user.get(f"{{{RI}}}userkey", ""))
    attachment = element.find(f"{{{RI}}}attachment")
    if attachment is not None:
        name = attachment.get(f"{{{RI}}}filename", "")
        path = renderer.page.path_of(renderer.page.attachment(name))
        return f'<a href="{path}">{_link_text(renderer, element) or name}</a>'
    target = element.find(f"{{{RI}}}page")
    title = target.get(f"{{{RI}}}content-title", "") if target is not None else renderer.page.title
    page = renderer.wiki.by_title(title)
    text = _link_text(renderer, element) or html.escape(title)
    if page is None:
        return f'<a class="unresolved" href="#">{text}</a>'
    anchor = element.get(f"{{{AC}}}anchor")
    fragment = f"#{page.anchor(anchor)}" if anchor else ""
    return f'<a href="{page.file_name if target is not None else ""}{html.escape(fragment)}">{text}</a>'


def _link_text(renderer: Renderer, element: etree._Element) -> str:
    plain = element.find(f"{{{AC}}}plain-text-link-body")
    rich = element.find(f"{{{AC}}}link-body")
    if plain is not None:
        return _escape(plain.text)
    return renderer.inner(rich) if rich is not None else ""


def _user_link(renderer: Renderer, key: str) -> str:
    user, base = renderer.wiki.by_key(key), renderer.wiki.space["base_url"]
    return (
        f'<a class="confluence-userlink user-mention" data-username="{user.name}" href="{base}/display/~{user.name}"'
        f' data-linked-resource-type="userinfo" data-base-url="{base}">{user.shown}</a>'
    )


def _image(renderer: Renderer, element: etree._Element) -> str:
    name = element[0].get(f"{{{RI}}}filename", "")
    return embedded_image(renderer, name, element.get(f"{{{AC}}}alt"), element.get(f"{{{AC}}}height"))


def embedded_image(renderer: Renderer, name: str, alt: str | None = None, height: str | None = None) -> str:
    page = renderer.page
    found = page.attachment(name)
    path = page.path_of(found)
    shown = f' alt="{html.escape(alt)}"' if alt else ""
    size = f' height="{height}"' if height else ""
    return (
        '<span class="confluence-embedded-file-wrapper">'
        f'<img class="confluence-embedded-image"{shown}{size} src="{path}" data-image-src="{path}"'
        f' data-unresolved-comment-count="0" data-linked-resource-id="{found.id}"'
        f' data-linked-resource-version="{found.version}" data-linked-resource-type="attachment"'
        f' data-linked-resource-default-alias="{name}" data-base-url="{renderer.wiki.space["base_url"]}"'
        f' data-linked-resource-content-type="{found.type}" data-linked-resource-container-id="{page.id}"'
        f' data-linked-resource-container-version="{page.version}"/></span>'
    )


def _time(_: Renderer, element: etree._Element) -> str:
    day = date.fromisoformat(element.get("datetime", ""))
    when = "past" if day < EXPORTED else "future"
    return f'<time datetime="{day.isoformat()}" class="date-{when}">{day.strftime("%d %b %Y")}</time>'


def _emoticon(_: Renderer, element: etree._Element) -> str:
    name = element.get(f"{{{AC}}}name", "")
    return (
        f'<img class="emoticon emoticon-{name}" data-emoticon-name="{name}" border="0"'
        f' src="images/icons/emoticons/{_EMOTICONS[name]}.png" alt="({name})" title="({name})"/>'
    )


def _task_list(renderer: Renderer, element: etree._Element) -> str:
    items = []
    for task in element.findall(f"{{{AC}}}task"):
        done = task.findtext(f"{{{AC}}}task-status") == "complete"
        body = task.find(f"{{{AC}}}task-body")
        assert body is not None
        mark = ' class="checked"' if done else ""
        number = task.findtext(f"{{{AC}}}task-id")
        items.append(f'<li{mark} data-inline-task-id="{number}">{renderer.inner(body)}</li>')
    head = f'<ul class="inline-task-list" data-inline-tasks-content-id="{renderer.page.id}">'
    return head + "\n".join(items) + "</ul>"


def _layout_section(renderer: Renderer, element: etree._Element) -> str:
    kind = element.get(f"{{{AC}}}type", "single").replace("_", "-")
    return f'<div class="columnLayout {kind}" data-layout="{kind}">{renderer.inner(element)}</div>'


def _layout_cell(renderer: Renderer, element: etree._Element) -> str:
    inner = renderer.inner(element)
    return f'<div class="cell normal" data-type="normal"><div class="innerCell">{inner}</div></div>'


def _layout(renderer: Renderer, element: etree._Element) -> str:
    return f'<div class="contentLayout2">{renderer.inner(element)}</div>'


_SPECIAL: dict[str, Callable[[Renderer, etree._Element], str]] = {
    f"{{{AC}}}structured-macro": Renderer.macro,
    f"{{{AC}}}link": _link,
    f"{{{AC}}}image": _image,
    f"{{{AC}}}emoticon": _emoticon,
    f"{{{AC}}}task-list": _task_list,
    f"{{{AC}}}layout": _layout,
    f"{{{AC}}}layout-section": _layout_section,
    f"{{{AC}}}layout-cell": _layout_cell,
    f"{{{AC}}}inline-comment-marker": lambda r, e: f'<span class="inline-comment-marker">{r.inner(e)}</span>',
    f"{{{AC}}}placeholder": lambda r, e: "",
    "time": _time,
}
