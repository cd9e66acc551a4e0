"""Tables that stay readable piece by piece: rectangular, every value under its own header.

A key/value table becomes a list of ``**key:** value``, a table that only arranges text becomes that
text, a caption across the whole width stands between two tables that both have the header.
"""

from __future__ import annotations

from collections.abc import Sequence

from lxml.etree import _Element

from indexer.confluence.parse.text import bold
from indexer.confluence.render.grid import (
    Grid,
    Slot,
    below,
    captions_above,
    has_blocks,
    header_count,
    outside_cells,
    read_grid,
    spans_all,
)
from indexer.confluence.render.lists import indent
from indexer.confluence.render.markdown import Renderer, tag_name

KEY_LENGTH = 80  # characters; a longer left cell is no name of a value
Row = tuple[Slot, ...]


def table(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """A table, and below it what none of its cells can hold."""
    if "_cell" in tags:
        return _table(renderer, node, tags)
    outer, renderer.held = renderer.held, []
    text = _table(renderer, node, tags)
    following, renderer.held = renderer.held, outer
    return "\n\n" + "\n\n".join(one.strip("\n") for one in (text, *following)) + "\n\n" if following else text


def _table(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    grid = read_grid(node)
    renderer.account("tables", node, "")
    renderer.made["rows"] += len(grid.rows)
    inside = renderer.within(tags, "table")
    caption = "".join(
        renderer.process_text(piece, tags) if isinstance(piece, str) else renderer.process_tag(piece, tags)
        for piece in outside_cells(node)
    )
    caption += "".join(
        f"\n\n{renderer.inner(child, inside).strip()}"
        for child in node
        if isinstance(child.tag, str) and tag_name(child) == "caption"
    )
    if not grid.rows:
        return caption + "".join(
            renderer.process_tag(child, tags) for child in node if tag_name(child) in ("tbody", "thead", "tfoot", "tr")
        )
    heads = header_count(grid)
    if "_cell" in tags or "_inline" in tags:
        return caption + nested(renderer, grid, heads, inside)
    if not heads and is_layout(grid):
        return caption + layout(renderer, grid, tags)
    pairs = None if heads else key_columns(grid)
    if pairs:
        return caption + key_values(renderer, grid, pairs, inside)
    titles = 0 if heads else captions_above(grid)
    if titles:
        caption += captions(renderer, grid.rows[:titles], inside)
        grid = below(grid, titles)
        heads = header_count(grid)
    return caption + pipes(renderer, grid, heads, inside)


def is_layout(grid: Grid) -> bool:
    """No header, one row or one column, and more than words inside: columns of text, not data."""
    slots = [slot for row in grid.rows for slot in row]
    if grid.width == 1 or len(slots) == 1:
        return not any(slot.header for slot in slots) or len(slots) == 1
    return (
        len(grid.rows) == 1 and not any(slot.header for slot in slots) and any(has_blocks(slot.node) for slot in slots)
    )


def layout(renderer: Renderer, grid: Grid, tags: frozenset[str]) -> str:
    pieces = []
    for row in grid.rows:
        for slot in row:
            if slot.starts and slot.node is not None:
                renderer.start_line()
                pieces.append(renderer.inner(slot.node, tags).strip("\n "))
    text = "\n\n".join(piece for piece in pieces if piece)
    return f"\n\n{text}\n\n" if text else ""


def key_columns(grid: Grid) -> tuple[int, ...] | None:
    """The columns that name the value right of them, None when the table is no list of values."""
    width = grid.width
    rows = [row for row in grid.rows if not spans_all(row)]
    if width < 2 or width % 2 or not rows:
        return None
    keys = tuple(range(0, width, 2))
    marked = all(
        row[key].header and not row[key + 1].header for row in rows for key in keys if row[key].node is not None
    )
    if marked:
        return keys
    plain = width == 2 and not any(row[1].header for row in rows)
    return keys if plain and all(_is_name(row[0].node) and row[0].node is not row[1].node for row in rows) else None


def _is_name(node: _Element | None) -> bool:
    if node is None or has_blocks(node):
        return False
    return 0 < len("".join(node.itertext()).strip()) <= KEY_LENGTH


def key_values(renderer: Renderer, grid: Grid, keys: Sequence[int], tags: frozenset[str]) -> str:
    lines: list[str] = []
    texts: dict[tuple[_Element | None, bool], str] = {}
    inside = renderer.within(tags, "li", "_box")

    def text_of(slot: Slot, key: bool) -> str:
        if slot.node is None:
            return ""
        if (slot.node, key) not in texts:
            texts[slot.node, key] = renderer.inner(slot.node, renderer.within(tags, "h6") if key else inside).strip(
                " \n"
            )
        return texts[slot.node, key]

    for row in grid.rows:
        if spans_all(row):
            lines.append(_caption(text_of(row[0], False)))
            continue
        for column in keys:
            line = _pair(text_of(row[column], True), text_of(row[column + 1], False))
            if line:
                lines.append(line)
    return "\n\n" + "\n".join(lines) + "\n\n" if lines else ""


def _pair(key: str, value: str) -> str:
    key = " ".join(key.split())
    if not key and not value:
        return ""
    name = bold(key if key.endswith((":", "?")) else key + ":") if key else ""
    if "\n" in value:
        return f"- {name}\n{indent(value, '  ')}"
    return f"- {name} {value}".rstrip() if name else f"- {value}"


def _caption(text: str) -> str:
    """A line of its own between lists or tables, bold when it is only words."""
    if not text:
        return ""
    plain = "\n" not in text and "*" not in text and "](" not in text
    return f"\n**{text}**\n" if plain else f"\n{text}\n"


def captions(renderer: Renderer, rows: Sequence[Sequence[Slot]], tags: frozenset[str]) -> str:
    """Rows of one cell, each as a paragraph."""
    cells = Cells(renderer, tags)
    return "".join(f"\n\n{_title(text)}" for row in rows if (text := cells.lines(row[0])))


def _title(lines: Sequence[str]) -> str:
    return _caption(lines[0]).strip() if len(lines) == 1 else "\n\n".join(lines)


def pipes(renderer: Renderer, grid: Grid, heads: int, tags: frozenset[str]) -> str:
    """Pipe tables: the header once above each run of rows between two captions."""
    cells = Cells(renderer, tags)
    names = [_joined([cells.flat(row[column]) for row in grid.rows[:heads]]) for column in range(grid.width)]
    head = [_line(names), _line(["---"] * grid.width)]
    mixed = heads > 0 and not all(slot.header for row in grid.rows[heads:] for slot in row)
    lines: list[str] = []
    place, shown = 0, not any(names)  # where the header in force belongs, and whether a row has shown it
    for number, row in enumerate(grid.rows[heads:], start=heads + 1):
        headed = mixed and all(slot.header for slot in row) and number < len(grid.rows) and not spans_all(row)
        if headed and lines and lines[-1]:
            head = [_line([cells.flat(slot) for slot in row]), head[1]]  # a new header for what follows
            lines.append("")
            place, shown = len(lines), False
            continue
        if spans_all(row):
            text = cells.lines(row[0])
            lines += ["", _title(text), ""] if text else []
            continue
        texts = [cells.text(slot) for slot in row]
        if any(texts):
            if not lines or lines[-1] == "":
                lines += head
                shown = True
            lines.append(_line(texts))
    if not shown:  # only captions stand below it
        lines[place:place] = head
    return "\n\n" + "\n".join(lines).strip("\n") + "\n\n" if lines else ""


def _joined(parts: Sequence[str]) -> str:
    """ "A / B" for a header in two rows; a merged header cell is said once."""
    distinct: list[str] = []
    for part in parts:
        if part and (not distinct or distinct[-1] != part):
            distinct.append(part)
    return " / ".join(distinct)


def _line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(texts) + " |"


def nested(renderer: Renderer, grid: Grid, heads: int, tags: frozenset[str]) -> str:
    """A table inside a cell: each row on a line of its own, each value with its header."""
    cells = Cells(renderer, tags)
    names = [
        _joined(["; ".join(cells.lines(row[column])) for row in grid.rows[:heads]]) for column in range(grid.width)
    ]
    pairs = None if heads else key_columns(grid)
    lines = []
    for row in grid.rows[heads:]:
        texts = ["; ".join(line.lstrip().removeprefix("- ") for line in cells.lines(slot)) for slot in row]
        if spans_all(row):
            lines.append(texts[0])
        elif pairs:
            lines += [f"{texts[key].rstrip(':')}: {texts[key + 1]}" for key in pairs if texts[key] or texts[key + 1]]
        else:
            lines.append(
                "; ".join(f"{name}: {text}" if name else text for name, text in zip(names, texts, strict=True) if text)
            )
    told = "\n".join(lines)
    lines += [name for name in dict.fromkeys(names) if name and name not in told]  # a column without any value
    return "\n\n" + "\n".join(line for line in lines if line) + "\n\n"


class Cells:
    """The text of each cell, rendered once however many places it covers."""

    def __init__(self, renderer: Renderer, tags: frozenset[str]) -> None:
        self._renderer = renderer
        self._tags = renderer.within(tags, "_cell")
        self._lines: dict[_Element, list[str]] = {}

    def lines(self, slot: Slot) -> list[str]:
        if slot.node is None:
            return []
        found = self._lines.get(slot.node)
        if found is None:
            self._renderer.start_line()
            text = self._renderer.inner(slot.node, self._tags)
            found = self._lines[slot.node] = [line.rstrip() for line in text.split("\n") if line.strip()]
            if found:
                found[0] = found[0].lstrip()
        return found

    def text(self, slot: Slot) -> str:
        """One line for a pipe table; every pipe is escaped, in code too (GFM takes the mark off)."""
        return "<br>".join(self.lines(slot)).replace("|", "\\|")

    def flat(self, slot: Slot) -> str:
        """The same for a header, without breaks."""
        return " ".join(map(str.strip, self.lines(slot))).replace("|", "\\|")
