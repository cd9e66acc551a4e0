"""How the space export shows each macro; a macro that is not in `MACROS` leaves nothing, as in Confluence."""

import html
from collections.abc import Callable
from typing import TYPE_CHECKING

import wiki_pulled
from lxml import etree
from wiki_pulled import param, rich
from wiki_source import AC, RI

if TYPE_CHECKING:
    from wiki_render import Renderer

_BOXES = {"info": "information", "note": "note", "tip": "tip", "warning": "warning"}
_ICONS = {"info": "info", "note": "warning", "tip": "approve", "warning": "error"}
_LOZENGES = {"Green": "success", "Red": "error", "Yellow": "current", "Blue": "complete"}


def plain(element: etree._Element) -> str:
    return element.findtext(f"{{{AC}}}plain-text-body") or ""


def _code(_: "Renderer", element: etree._Element) -> str:
    title, language = param(element, "title"), param(element, "language") or "java"
    head = (
        f'<div class="codeHeader panelHeader pdl" style="border-bottom-width: 1px;"><b>{html.escape(title)}</b></div>'
        if title
        else ""
    )
    return (
        f'<div class="code panel pdl" style="border-width: 1px;">{head}<div class="codeContent panelContent pdl">\n'
        f'<pre class="syntaxhighlighter-pre" data-syntaxhighlighter-params="brush: {language}; gutter: false; '
        f'theme: Confluence" data-theme="Confluence">{html.escape(plain(element), quote=False)}</pre>\n</div></div>'
    )


def _noformat(_: "Renderer", element: etree._Element) -> str:
    text = html.escape(plain(element), quote=False)
    return (
        '<div class="preformatted panel" style="border-width: 1px;">'
        f'<div class="preformattedContent panelContent">\n<pre>{text}</pre>\n</div></div>'
    )


def _box(renderer: "Renderer", element: etree._Element) -> str:
    name, title = element.get(f"{{{AC}}}name", ""), param(element, "title")
    head = f'<p class="title">{html.escape(title)}</p>' if title else ""
    return (
        f'<div class="confluence-information-macro confluence-information-macro-{_BOXES[name]}">{head}'
        f'<span class="aui-icon aui-icon-small aui-iconfont-{_ICONS[name]} confluence-information-macro-icon"></span>'
        f'<div class="confluence-information-macro-body">{rich(renderer, element)}</div></div>'
    )


def _panel(renderer: "Renderer", element: etree._Element) -> str:
    title = param(element, "title")
    head = (
        f'<div class="panelHeader" style="border-bottom-width: 1px;"><b>{html.escape(title)}</b></div>' if title else ""
    )
    body = rich(renderer, element)
    return f'<div class="panel" style="border-width: 1px;">{head}<div class="panelContent">\n{body}\n</div></div>'


def _expand(renderer: "Renderer", element: etree._Element) -> str:
    number = element.get(f"{{{AC}}}macro-id", "")[:8]
    return (
        f'<div id="expander-{number}" class="expand-container"><div id="expander-control-{number}" '
        'class="expand-control"><span class="expand-control-icon"><img src="images/icons/grey_arrow_down.png" '
        'class="expand-control-image" style="vertical-align:middle;" alt="" title=""/></span>'
        f'<span class="expand-control-text">{html.escape(param(element, "title"))}</span></div>'
        f'<div id="expander-content-{number}" class="expand-content">{rich(renderer, element)}</div></div>'
    )


def _status(_: "Renderer", element: etree._Element) -> str:
    look = _LOZENGES.get(param(element, "colour"), "default")
    return f'<span class="status-macro aui-lozenge aui-lozenge-{look}">{html.escape(param(element, "title"))}</span>'


def _jira(_: "Renderer", element: etree._Element) -> str:
    """An export does not wait for Jira: it shows the key and two placeholders."""
    key = param(element, "key")
    return (
        f'<span class="jira-issue" data-jira-key="{key}"><a href="https://jira.example.com/browse/{key}?src=confmacro"'
        ' class="jira-issue-key"><span class="aui-icon aui-icon-wait issue-placeholder"></span>'
        f'{key}</a> - <span class="summary">Getting issue details...</span> <span class="aui-lozenge '
        'aui-lozenge-subtle aui-lozenge-default issue-placeholder">STATUS</span></span>'
    )


def _plantuml(renderer: "Renderer", _: etree._Element) -> str:
    """Only the picture is exported; the source is lost."""
    path = f"download/temp/plantuml-{renderer.page.id}-{len(renderer.pictures) + 1}.png"
    renderer.pictures.append(path)
    return (
        '<span class="conf-macro output-inline" data-hasbody="true" data-macro-name="plantuml">'
        f'<img src="{path}" alt="" style="border:0;"/></span>'
    )


def _app(_: "Renderer", element: etree._Element) -> str:
    """A cloud app leaves an empty container."""
    number = element.get(f"{{{AC}}}macro-id", "")[:12]
    return f'<div class="ap-container conf-macro output-block" id="ap-plantumlcloud-{number}"></div>'


def _drawio(renderer: "Renderer", element: etree._Element) -> str:
    page = renderer.page
    path = page.path_of(page.attachment(f"{param(element, 'diagramName')}.png"))
    return f'<div class="drawio-macro" style="width: 721px;"><img src="{path}" width="721" class="drawio-image"/></div>'


def _toc(renderer: "Renderer", _: etree._Element) -> str:
    items = "\n".join(
        f'<li><a href="#{html.escape(renderer.heading_id(item))}">{html.escape("".join(item.itertext()))}</a></li>'
        for item in renderer.headings()
        if str(item.tag) in ("h1", "h2", "h3")
    )
    return f'<div class="toc-macro rbtoc1"><ul class="toc-indentation">\n{items}\n</ul></div>'


def _children(renderer: "Renderer", _: etree._Element) -> str:
    found = renderer.wiki.children(renderer.page.id)
    items = "".join(f'<li><a href="{page.file_name}">{html.escape(page.title)}</a></li>' for page in found)
    return f'<ul class="childpages-macro">{items}</ul>'


def _anchor(renderer: "Renderer", element: etree._Element) -> str:
    return f'<span class="confluence-anchor-link" id="{renderer.page.anchor(param(element, ""))}"></span>'


def _tabs(renderer: "Renderer", element: etree._Element) -> str:
    """A third-party macro: its tabs lie one after another, titles in a list above."""
    tabs = element.findall(f"{{{AC}}}rich-text-body/{{{AC}}}structured-macro")
    titles = "".join(f'<li class="menu-item">{html.escape(param(tab, "title"))}</li>' for tab in tabs)
    return f'<div class="aui-tabs horizontal-tabs"><ul class="tabs-menu">{titles}</ul>{rich(renderer, element)}</div>'


def _tab(renderer: "Renderer", element: etree._Element) -> str:
    return f'<div class="tabs-pane">{rich(renderer, element)}</div>'


def _view_file(renderer: "Renderer", element: etree._Element) -> str:
    reference = element.find(f".//{{{RI}}}attachment")
    assert reference is not None
    item = renderer.page.attachment(reference.get(f"{{{RI}}}filename", ""))
    path = renderer.page.path_of(item)
    return (
        f'<span class="confluence-embedded-file-wrapper"><a class="confluence-embedded-file" href="{path}" '
        f'data-mime-type="{item.type}" data-linked-resource-id="{item.id}" '
        f'data-linked-resource-default-alias="{item.file}"><img src="images/icons/contenttypes/home_page_16.png" '
        f'height="150"/></a></span>'
    )


def _section(renderer: "Renderer", element: etree._Element) -> str:
    inner = rich(renderer, element)
    return (
        '<div class="sectionColumnWrapper"><div class="sectionMacro"><div class="sectionMacroRow">'
        f"{inner}</div></div></div>"
    )


def _column(renderer: "Renderer", element: etree._Element) -> str:
    width = param(element, "width")
    style = f"width:{width};min-width:{width};max-width:{width};"
    return f'<div class="columnMacro" style="{style}">{rich(renderer, element)}</div>'


MACROS: dict[str, Callable[["Renderer", etree._Element], str]] = {
    "code": _code,
    "noformat": _noformat,
    "info": _box,
    "note": _box,
    "tip": _box,
    "warning": _box,
    "panel": _panel,
    "expand": _expand,
    "status": _status,
    "jira": _jira,
    "plantuml": _plantuml,
    "plantumlcloud": _app,
    "drawio": _drawio,
    "toc": _toc,
    "children": _children,
    "excerpt": wiki_pulled.excerpt,
    "include": wiki_pulled.include,
    "excerpt-include": wiki_pulled.excerpt_include,
    "details": wiki_pulled.details,
    "detailssummary": wiki_pulled.summary,
    "anchor": _anchor,
    "section": _section,
    "column": _column,
    "table-filter": rich,
    "ui-tabs": _tabs,
    "ui-tab": _tab,
    "view-file": _view_file,
}
