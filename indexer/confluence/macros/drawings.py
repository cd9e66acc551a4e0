"""draw.io and Gliffy files -> their nodes and edges as PlantUML, by code and without any picture."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import etree
from lxml.etree import _Element

from indexer.confluence.macros.plantuml import MAXIMUM_SOURCE, UnreadableDiagram, decode_data
from indexer.confluence.parse.html_tree import parse_fragment
from indexer.confluence.parse.text import clean

MAXIMUM_FILE = 20 << 20  # bytes of the attachment


@dataclass(slots=True)
class Graph:
    """Labels by id, the id of the box around each, and edges (from, to, label)."""

    labels: dict[str, str] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    edges: list[tuple[str, str, str]] = field(default_factory=list)


def drawing_to_plantuml(data: bytes) -> str:
    """PlantUML of a draw.io file (XML) or a Gliffy file (JSON); UnreadableDiagram says what is wrong."""
    if len(data) > MAXIMUM_FILE:
        raise UnreadableDiagram(f"larger than {MAXIMUM_FILE} bytes")
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    graphs = [_gliffy(data)] if start == b"{" else list(_drawio(data))
    texts = [text for graph in graphs if (text := to_plantuml(graph))]
    if not texts:
        raise UnreadableDiagram("holds no named shapes")
    return "\n".join(texts)


def to_plantuml(graph: Graph) -> str:
    """Boxes by nesting, then edges; shapes without a name are kept only where an edge needs them."""
    used = {end for source, target, _ in graph.edges for end in (source, target)}
    shown = {key for key, label in graph.labels.items() if label or key in used}
    if not any(graph.labels[key] for key in shown) and not any(label for _, _, label in graph.edges):
        return ""
    names = {key: f"n{number}" for number, key in enumerate((key for key in graph.labels if key in shown), start=1)}
    children: dict[str, list[str]] = {}
    for key in names:
        children.setdefault(_box(graph, key, names), []).append(key)
    lines = ["@startuml", *_boxes(graph, "", children, names, 0)]
    for source, target, label in graph.edges:
        if source in names and target in names:
            lines.append(f"{names[source]} --> {names[target]}" + (f" : {label}" if label else ""))
        elif label:
            lines.append(f"' {label}")
    return "\n".join([*lines, "@enduml"])


def _box(graph: Graph, key: str, names: dict[str, str]) -> str:
    """The nearest shown shape around ``key``; a circle of parents counts as none."""
    seen = {key}
    above = graph.parents.get(key, "")
    while above and above not in names and above not in seen:
        seen.add(above)
        above = graph.parents.get(above, "")
    chain, place = {key}, above
    while place in names and place not in chain:
        chain.add(place)
        place = graph.parents.get(place, "")
    return above if above in names and place != key else ""


def _boxes(
    graph: Graph, above: str, children: dict[str, list[str]], names: dict[str, str], depth: int
) -> Iterator[str]:
    blanks = "  " * depth
    for key in children.get(above, []):
        inner = children.get(key) and depth < 20
        yield f'{blanks}rectangle "{graph.labels[key]}" as {names[key]}' + (" {" if inner else "")
        if inner:
            yield from _boxes(graph, key, children, names, depth + 1)
            yield f"{blanks}}}"


def _drawio(data: bytes) -> Iterator[Graph]:
    root = _xml(data)
    if root.tag == "mxfile":
        for diagram in root.iter("diagram"):
            model = next(iter(diagram), None)
            yield _model(model if model is not None else _xml(decode_data(diagram.text or "", True).encode()))
    else:
        yield _model(root)


def _xml(data: bytes) -> _Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableDiagram("no XML") from error
    if root is None:
        raise UnreadableDiagram("no XML")
    return root


def _model(model: _Element) -> Graph:
    graph = Graph()
    edges: dict[str, list[str]] = {}
    for cell in model.iter("mxCell"):
        wrapper = cell.getparent()
        outer = wrapper if wrapper is not None and wrapper.tag in ("object", "UserObject") else cell
        key = outer.get("id") or ""
        label = plain_label(outer.get("label") or outer.get("value") or "")
        above = cell.get("parent") or ""
        if cell.get("edge") == "1":
            edges[key] = [cell.get("source") or "", cell.get("target") or "", label]
        elif above in edges:  # the label of an edge is a shape inside it
            edges[above][2] = " ".join(part for part in (edges[above][2], label) if part)
        elif cell.get("vertex") == "1":
            graph.labels[key] = label
            graph.parents[key] = above
    graph.edges = [(source, target, label) for source, target, label in edges.values()]
    return graph


def _gliffy(data: bytes) -> Graph:
    try:
        stage = json.loads(data)["stage"]
        objects = stage["objects"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableDiagram("no Gliffy file") from error
    graph = Graph()
    if isinstance(objects, list):
        _gliffy_objects(objects, "", graph, 0)
    return graph


def _gliffy_objects(objects: list[Any], above: str, graph: Graph, depth: int) -> None:
    for one in objects:
        if not isinstance(one, dict) or depth > 30:
            continue
        graphic = one.get("graphic") or {}
        key = str(one.get("id", ""))
        children = one.get("children") or []
        texts = " ".join(text for text in [_gliffy_text(one), *(_gliffy_text(child) for child in children)] if text)
        inner = [
            child
            for child in children
            if isinstance(child, dict) and (child.get("graphic") or {}).get("type") != "Text"
        ]
        if graphic.get("type") == "Line":
            ends = one.get("constraints") or {}
            source = ((ends.get("startConstraint") or {}).get("StartPositionConstraint") or {}).get("nodeId", "")
            target = ((ends.get("endConstraint") or {}).get("EndPositionConstraint") or {}).get("nodeId", "")
            graph.edges.append((str(source), str(target), texts))
        elif texts or graphic.get("type") in ("Shape", "Image", "Svg") or inner:
            graph.labels[key] = texts
            graph.parents[key] = above
        _gliffy_objects(inner, key, graph, depth + 1)


def _gliffy_text(one: Any) -> str:
    text = ((one.get("graphic") or {}).get("Text") or {}).get("html", "") if isinstance(one, dict) else ""
    return plain_label(text) if isinstance(text, str) else ""


def plain_label(value: str) -> str:
    """A label may be HTML; PlantUML wants one line without quotation marks."""
    value = value[:MAXIMUM_SOURCE]
    if "<" in value or "&" in value:
        value = " ".join(parse_fragment(re.sub(r"<(?:br|div|p|li)\b", r" \g<0>", value)).itertext())
    return " ".join(clean(value).split()).replace('"', "'")
