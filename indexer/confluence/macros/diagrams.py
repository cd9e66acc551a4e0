"""Diagrams: PlantUML and Mermaid letter for letter, drawings by name, picture and (where the file is there) content."""

from __future__ import annotations

from lxml.etree import _Element

from indexer.confluence.macros.drawings import drawing_to_plantuml
from indexer.confluence.macros.plantuml import UnreadableDiagram, decode_data, plain_source
from indexer.confluence.parse.links import PICTURE_ENDINGS, attachment_url, image, link
from indexer.confluence.parse.text import clean, escape
from indexer.confluence.render.code import fence
from indexer.confluence.render.macro import Macro, attribute
from indexer.confluence.render.markdown import NOTHING, Renderer

SOURCES = ("diagram", "source", "code", "umldefinition")  # parameters that hold the text of a diagram


def plantuml(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """A plain body, a JSON body, an encoded parameter, or the name of an attachment."""
    body = (
        macro.plain if macro.plain is not None else ("".join(macro.rich.itertext()) if macro.rich is not None else "")
    ) or macro.get(*SOURCES)
    if body.strip():
        renderer.account("plantuml", macro.node, plain_source(body))
        return source_block(renderer, plain_source(body), "plantuml", tags, escape(clean(macro.get("title"))))
    if macro.get("data") or macro.name == "plantumlcloud":
        packed = macro.get("data"), macro.get("compressed"), macro.get("filename")
        return encoded_plantuml(renderer, macro.node, packed, tags)
    return _from_file(renderer, macro, tags, "plantuml")


def encoded_plantuml(renderer: Renderer, node: _Element, packed: tuple[str, str, str], tags: frozenset[str]) -> str:
    """The decoded source; of a payload (data, compressed or not, file) that cannot be read a mark and the picture."""
    data, compressed, filename = packed
    try:
        source = decode_data(data, compressed.lower() == "true")
        if not source.strip():
            raise UnreadableDiagram("empty")
    except UnreadableDiagram as error:
        renderer.lose("plantuml", filename or "plantumlcloud", str(error))
        text = _unread(renderer, "PlantUML", filename, tags)
        renderer.account("plantuml", node, text, "marked")
        return text
    renderer.account("plantuml", node, source)
    return source_block(renderer, source, "plantuml", tags)


def source_block(renderer: Renderer, source: str, language: str, tags: frozenset[str], title: str = "") -> str:
    """A fence; of a diagram in a table cell, where no fence can stand, below the table, and its name in the cell."""
    held = "_cell" in tags or {"_inline", "table"} <= tags  # the second is a name beside its value
    if not held or not source.strip():
        return fence(source, language, tags, title)
    number = renderer.seen["_held"] = renderer.seen["_held"] + 1
    name = renderer.word(f"Diagram {number}", f"Диаграмма {number}")
    renderer.held.append(fence(source, language, NOTHING, f"{name}: {title}" if title else name))
    return renderer.word(f"{name} (below the table)", f"{name} (под таблицей)")


def mermaid(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    body = macro.plain if macro.plain and macro.plain.strip() else macro.get(*SOURCES)
    if body:
        return source_block(renderer, body, "mermaid", tags, escape(clean(macro.get("title"))))
    return _from_file(renderer, macro, tags, "mermaid")


def other_source(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    if macro.plain and macro.plain.strip():
        language = "dot" if macro.name != "flowchart" else ""
        return source_block(renderer, macro.plain, language, tags, escape(clean(macro.get("title"))))
    return _from_file(renderer, macro, tags, "dot")


def drawing(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """draw.io, Gliffy: the picture ``NAME.png`` by link; nodes and edges when the export holds the source."""
    name = clean(macro.get("diagramname", "name", "diagramdisplayname", "displayname", "filename", ""))
    shown = clean(macro.get("diagramdisplayname", "displayname")) or name
    owner = macro.get("pageid", "page-id")
    if not name:
        renderer.lose("diagram", macro.name, "its name is not said")
        return f"\n\n{renderer.mark(macro.name)}\n\n"
    page_id = owner if owner.isdigit() else renderer.context.page_id
    title = renderer.word(f"Diagram {shown}", f"Диаграмма {shown}")
    picture = image(title, attachment_url(renderer.context.base, page_id, f"{name}.png"))
    alone = picture if tags & {"p", "_inline"} else f"\n\n{picture}\n\n"
    data = _stored(renderer, page_id, name)
    if data is None:
        renderer.lose("diagram", name, "only its picture is linked, its source is not in the export")
        return alone
    try:
        source = drawing_to_plantuml(data)
    except (UnreadableDiagram, RecursionError) as error:
        renderer.lose("diagram", name, str(error))
        return alone
    return f"\n\n{picture}\n\n{fence(source, 'plantuml', tags).strip()}\n\n"


def _stored(renderer: Renderer, page_id: str, name: str) -> bytes | None:
    for ending in ("", ".drawio", ".xml", ".gliffy"):
        if (data := renderer.context.wiki.attachment(page_id, name + ending)) is not None:
            return data
    return None


def _from_file(renderer: Renderer, macro: Macro, tags: frozenset[str], language: str) -> str:
    """The source in an attachment: its text when the export holds it, else its name and address."""
    target = macro.element("ri:attachment")
    name = (
        attribute(target, "filename") if target is not None else macro.get("attachment", "filename", "file", "name", "")
    )
    page = macro.element("ri:page")
    title = attribute(page, "content-title") if page is not None else macro.get("page")
    context = renderer.context
    page_id = context.wiki.page_id(context.space, clean(title)) if title else context.page_id
    data = context.wiki.attachment(page_id, name) if name and not name.lower().endswith(PICTURE_ENDINGS) else None
    if data is not None:
        text = data.decode("utf-8", "replace").lstrip("\ufeff")
        renderer.account(language, macro.node, text)
        return source_block(renderer, text, language, tags)
    renderer.lose(language, name or macro.name, "its source is in no body and no file of the export")
    text = _unread(renderer, {"plantuml": "PlantUML", "mermaid": "Mermaid"}.get(language, language), name, tags)
    renderer.account(language, macro.node, text, "marked")
    return text


def _unread(renderer: Renderer, kind: str, name: str, tags: frozenset[str]) -> str:
    """What stands for a diagram whose source cannot be read: that there is one, and its file."""
    title = renderer.word(f"{kind} diagram", f"Диаграмма {kind}")
    shown = f"{title} {clean(name)}" if name else title
    if name.lower().endswith(PICTURE_ENDINGS):
        text = image(shown, attachment_address(renderer, name))
    else:
        text = link(escape(shown), attachment_address(renderer, name)) if name else f"\\[{title}]"
    return text if "_inline" in tags else f"\n\n{text}\n\n"


def attachment_address(renderer: Renderer, name: str) -> str:
    return attachment_url(renderer.context.base, renderer.context.page_id, name)
