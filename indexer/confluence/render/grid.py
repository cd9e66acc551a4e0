"""A table as a rectangle: every merged cell stands in each place that it covers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml.etree import _Element

from indexer.confluence.render.markdown import tag_name

MAXIMUM_SPAN = 400  # columns that one cell may cover; more is a mistake
MAXIMUM_PLACES = 2_000_000  # of one table that merged cells may fill; more is an attack on the memory
BLOCK_CONTENT = frozenset(
    {"ul", "ol", "pre", "table", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "script"}
    | {"ac:task-list", "ac:plain-text-body", "ac:rich-text-body"}
)
TABLE_PARTS = frozenset({"caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"})
BOLD = frozenset({"b", "strong"})
TRANSPARENT = frozenset({"p", "div", "span", "br", "u", "em", "i", "colgroup"})


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of the rectangle; ``starts`` where the cell itself begins (elsewhere it is repeated)."""

    node: _Element | None
    header: bool = False
    starts: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    rows: tuple[tuple[Slot, ...], ...]
    head: int  # rows inside <thead>

    @property
    def width(self) -> int:
        return len(self.rows[0]) if self.rows else 0


EMPTY = Slot(None)


def read_grid(table: _Element) -> Grid:
    """The rectangle of a ``table``; rows of tables inside its cells are not among its rows."""
    sources = table_rows(table)
    places: list[dict[int, Slot]] = [{} for _ in sources]
    left = MAXIMUM_PLACES
    for number, (row, _) in enumerate(sources):
        column = 0
        for cell in row:
            if not isinstance(cell.tag, str) or tag_name(cell) not in ("td", "th"):
                continue
            while column in places[number]:
                column += 1
            left -= _place(places, number, column, cell, left)
            column += 1
    kept = sorted({column for row in places for column, slot in row.items() if slot.starts})
    rows = tuple(tuple(row.get(column, EMPTY) for column in kept) for row in places if row)
    head = sum(1 for (_, in_head), row in zip(sources, places, strict=True) if in_head and row)
    return Grid(rows, head)


def table_rows(table: _Element) -> list[tuple[_Element, bool]]:
    """(row, whether it is in the head) in the order of the page."""
    found: list[tuple[_Element, bool]] = []
    for child in table:
        if not isinstance(child.tag, str):
            continue
        name = tag_name(child)
        if name == "tr":
            found.append((child, False))
        elif name in ("thead", "tbody", "tfoot"):
            found += [(row, name == "thead") for row in child if isinstance(row.tag, str) and tag_name(row) == "tr"]
    return found


def outside_cells(table: _Element) -> Iterator[_Element | str]:
    """What broken markup put between the rows or the cells of a table; a browser shows it above the table."""
    for row, _ in [(table, False), *table_rows(table)]:
        if row.text and row.text.strip():
            yield row.text
        for child in row:
            if isinstance(child.tag, str) and tag_name(child) not in TABLE_PARTS:
                yield child
            if child.tail and child.tail.strip():
                yield child.tail


def header_count(grid: Grid) -> int:
    """How many rows are the header: those of the head, else leading rows that are all header cells."""
    if grid.head and grid.head < len(grid.rows):
        return grid.head
    rows = grid.rows
    count = 0
    while count < len(rows) and all(slot.header for slot in rows[count] if slot.node is not None):
        count += 1
    if count == len(rows):  # all of them are header cells: the first row heads the others
        return 1 if len(rows) > 1 else 0
    if count and any(slot.node is not None and not slot.header for slot in rows[count]):
        count = max(count, _covered(rows, count))
    if count == 0 and _bold_head(grid):
        return 1
    return count


def captions_above(grid: Grid) -> int:
    """How many leading rows of one cell over the whole width stand above a header of their own."""
    count = 0
    while count < len(grid.rows) and spans_all(grid.rows[count]) and not grid.rows[count][0].header:
        count += 1
    return count if count and header_count(below(grid, count)) else 0


def below(grid: Grid, count: int) -> Grid:
    """The grid without its first ``count`` rows."""
    return Grid(grid.rows[count:], max(grid.head - count, 0))


def _covered(rows: tuple[tuple[Slot, ...], ...], count: int) -> int:
    """A merged header cell that reaches one row further, beside a header cell over several columns."""
    above, below = rows[count - 1], rows[count]
    reaches = [a.node is not None and a.node is b.node for a, b in zip(above, below, strict=True)]
    spans = any(
        not slot.starts and slot.node is not None and not reach for slot, reach in zip(above, reaches, strict=True)
    )
    return count + 1 if any(reaches) and spans and count + 1 < len(rows) else count


def _bold_head(grid: Grid) -> bool:
    """A first row that is bold throughout over rows that are not: authors without header cells."""
    if len(grid.rows) < 2 or grid.width < 2 or any(slot.header for row in grid.rows for slot in row):
        return False
    first, second = grid.rows[0], grid.rows[1]
    distinct = len({id(slot.node) for slot in first}) > 1
    return distinct and all(is_bold(slot.node) for slot in first) and not any(is_bold(slot.node) for slot in second)


def is_bold(node: _Element | None) -> bool:
    """All visible text of the cell is bold, and there is some."""
    return node is not None and bool("".join(node.itertext()).strip()) and not _plain_text(node)


def _plain_text(node: _Element) -> bool:
    if (node.text or "").strip():
        return True
    for child in node:
        if (child.tail or "").strip():
            return True
        if not isinstance(child.tag, str) or tag_name(child) in BOLD:
            continue
        if tag_name(child) not in TRANSPARENT or _plain_text(child):
            return True
    return False


def has_blocks(node: _Element | None) -> bool:
    if node is None:
        return False
    paragraphs = 0
    for inner in node.iterdescendants():
        if isinstance(inner.tag, str):
            name = tag_name(inner)
            paragraphs += name == "p"
            if name in BLOCK_CONTENT or paragraphs > 1:
                return True
    return False


def spans_all(row: tuple[Slot, ...]) -> bool:
    """One cell over the whole width: a caption inside the table."""
    return len(row) > 1 and row[0].node is not None and all(slot.node is row[0].node for slot in row)


def _place(places: list[dict[int, Slot]], number: int, column: int, cell: _Element, left: int) -> int:
    """Fill what the cell covers, give back how many places beyond its own that took."""
    header = tag_name(cell) == "th"
    width = min(_span(cell, "colspan", 1), MAXIMUM_SPAN)
    height = min(_span(cell, "rowspan", len(places) - number), len(places) - number)
    if width * height > max(left, 1):
        width = height = 1
    for row in range(number, number + height):
        for place in range(column, column + width):
            if place in places[row]:
                break
            places[row][place] = Slot(cell, header, row == number and place == column)
    return width * height - 1


def _span(cell: _Element, name: str, whole: int) -> int:
    """A span as a browser reads it: 0 rows = all that follow, nonsense = 1."""
    value = re.match(r"\s*(\d{1,6})", cell.get(name) or "")
    number = int(value[1]) if value else 1
    return number or whole
