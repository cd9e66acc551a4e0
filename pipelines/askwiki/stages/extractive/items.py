"""Long items of a list, each cut to its beginning and to what in it is nearest to the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from askwiki.markdown.block_parser_lines import ITEM, item_text
from askwiki.stages.extractive.choosing import length_of, shown_of
from askwiki.stages.extractive.groups import Group, groups_of
from askwiki.stages.extractive.pieces import Piece, Unit, pieces_of
from askwiki.stages.extractive.scoring import best_unit
from askwiki.stages.extractive.written import GAP, Count, Part, write

LONG = 600  # characters of an item that is cut
KEPT = 400  # of it that are kept, about


def with_short_items(pieces: Sequence[Piece], weights: Mapping[str, float], count: Count) -> list[Piece]:
    """The same pieces, their long items cut with a line «…» wherever something of them is left out."""
    return [_shortened(piece, weights, count) if piece.kind == "list" else piece for piece in pieces]


def _shortened(piece: Piece, weights: Mapping[str, float], count: Count) -> Piece:
    if all(len(unit.text) <= LONG for unit in piece.units):
        return piece
    units = tuple(unit if len(unit.text) <= LONG else _cut(unit, weights, count) for unit in piece.units)
    text = ("\n\n" if piece.apart else "\n").join(unit.text for unit in units)
    return piece._replace(units=units, text=text, onward=piece.leads)


def _cut(unit: Unit, weights: Mapping[str, float], count: Count) -> Unit:
    first, *rest = unit.text.split("\n")
    item = ITEM.match(first)
    if item is None:
        return unit
    column, head = item_text(first, item)
    inner = pieces_of("\n".join((head, *(line[_blanks(line, column) :] for line in rest))))
    groups = groups_of(inner)
    if len(inner) < 2 or not groups or groups[0].first:
        return unit
    parts = _parts(inner, groups, weights)
    text = write(inner, parts, None, count)
    if text.startswith(GAP):
        return unit  # it would not begin as the page has it
    if parts[-1][0] < len(inner) - 1:
        text += f"\n\n{GAP}"
    lines = text.split("\n")
    mark = first[: len(first) - len(head)]
    below = (" " * column + line if line.strip() else line for line in lines[1:])
    return unit._replace(text="\n".join((mark + lines[0], *below)))


def _parts(inner: Sequence[Piece], groups: Sequence[Group], weights: Mapping[str, float]) -> list[Part]:
    """The beginning of the item, the group in it that is nearest to the question, and what leads on from its end."""
    scored = [best_unit(inner, group, weights) for group in groups]
    best = max(scored, key=lambda each: each.words)
    shown = shown_of(inner, scored[0], KEPT if best is scored[0] else KEPT // 4)
    if inner[max(shown)].leads and best is scored[0] and len(scored) > 1:  # «Выполните:» above «**Windows**»
        best = scored[1]
    if best is not scored[0]:
        left = max(KEPT - length_of(inner, shown), KEPT // 2)
        shown |= {place: [0] for place in (best.group.subheading,) if place is not None} | shown_of(inner, best, left)
    if inner[-1].leads:
        last = len(inner) - 1
        shown[last] = sorted({*shown.get(last, ()), len(inner[last].units) - 1})
    return sorted(shown.items())


def _blanks(line: str, most: int) -> int:
    return min(len(line) - len(line.lstrip(" \t")), most)
