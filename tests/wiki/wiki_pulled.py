"""Macros whose text comes from elsewhere: includes, excerpts, page properties and their report."""

import html
from typing import TYPE_CHECKING

from lxml import etree
from wiki_source import AC, RI, Page

if TYPE_CHECKING:
    from wiki_render import Renderer


def param(element: etree._Element, name: str) -> str:
    for item in element.findall(f"{{{AC}}}parameter"):
        if item.get(f"{{{AC}}}name") == name:
            return item.text or ""
    return ""


def rich(renderer: "Renderer", element: etree._Element) -> str:
    body = element.find(f"{{{AC}}}rich-text-body")
    return renderer.inner(body) if body is not None else ""


def excerpt(renderer: "Renderer", element: etree._Element) -> str:
    return "" if param(element, "hidden") == "true" else rich(renderer, element)


def _target(renderer: "Renderer", element: etree._Element) -> Page:
    reference = element.find(f".//{{{RI}}}page")
    assert reference is not None
    page = renderer.wiki.by_title(reference.get(f"{{{RI}}}content-title", ""))
    assert page is not None
    return page


def include(renderer: "Renderer", element: etree._Element) -> str:
    return renderer.other(_target(renderer, element)).body()


def excerpt_include(renderer: "Renderer", element: etree._Element) -> str:
    page = _target(renderer, element)
    other = renderer.other(page)
    body = other.root.find(f".//{{{AC}}}structured-macro[@{{{AC}}}name='excerpt']/{{{AC}}}rich-text-body")
    assert body is not None
    return (
        '<div class="panel conf-macro output-block" style="border-width: 1px;" data-hasbody="false" '
        'data-macro-name="excerpt-include"><div class="panelHeader" style="border-bottom-width: 1px;">'
        f'<b>{html.escape(page.title)}</b></div><div class="panelContent">\n{other.inner(body)}\n</div></div>'
    )


def details(renderer: "Renderer", element: etree._Element) -> str:
    return "" if param(element, "hidden") else f'<div class="plugin-tabmeta-details">{rich(renderer, element)}</div>'


def summary(renderer: "Renderer", element: etree._Element) -> str:
    headings = param(element, "headings").split(",")
    label = param(element, "cql").split('"')[1]
    rows = []
    for page in sorted((one for one in renderer.wiki.pages if label in one.labels), key=lambda one: one.title):
        values = _properties(renderer.other(page))
        cells = "".join(f"<td>{values.get(name, '')}</td>" for name in headings)
        rows.append(f'<tr><td class="title"><a href="{page.file_name}">{html.escape(page.title)}</a></td>{cells}</tr>')
    heads = "".join(f'<th class="header">{name}</th>' for name in [param(element, "firstcolumn"), *headings])
    return (
        '<div class="table-wrap"><table class="aui metadata-summary-macro null" data-count-of-total="'
        f'{len(rows)}"><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _properties(renderer: "Renderer") -> dict[str, str]:
    rows = renderer.root.findall(f".//{{{AC}}}structured-macro[@{{{AC}}}name='details']//tr")
    return {"".join(row[0].itertext()).strip(): renderer.inner(row[1]) for row in rows}
