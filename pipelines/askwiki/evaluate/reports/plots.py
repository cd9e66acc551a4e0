"""Small plots as SVG text: no plotting library, the same file in the browser, in Markdown and in an editor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 720  # pixels; wide enough for a page, narrow enough for a wiki's column
LABEL = 170  # pixels of the names at the left
ROW = 26  # pixels of a bar with its gap
TOP = 34  # pixels of the title
BEHIND = 120  # pixels for what is written behind the longest bar
GRADE_COLOURS = {"2": "#2e7d32", "1": "#f0a30a", "0": "#c62828"}
BAR, INK, GRID = "#3b6ea8", "#333333", "#dddddd"
LINES = ("#333333", "#3b6ea8", "#b0413e", "#2e7d32", "#f0a30a")
HEIGHT = 200  # pixels of a plot over time
LEGEND = 130  # pixels of a series in the legend


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its value, and optionally its interval and a text other than the number."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    text: str = ""


def bars(title: str, rows: Sequence[Bar], *, maximum: float | None = None) -> str:
    """Horizontal bars with intervals as whiskers; ``maximum`` = the right end of the axis."""
    top = maximum or max((row.high or row.value for row in rows), default=1.0) or 1.0
    drawn = []
    for number, row in enumerate(rows):
        y = TOP + number * ROW
        drawn.append(_name(row.name, y))
        drawn.append(_box(0, min(row.value / top, 1), y, BAR))
        if row.low is not None and row.high is not None:
            drawn.append(_whisker(row.low / top, min(row.high / top, 1), y))
        drawn.append(_value(row.text or f"{row.value:.3f}", max(row.value, row.high or 0) / top, y))
    return _svg(title, TOP + len(rows) * ROW, drawn)


def stacked(title: str, rows: Mapping[str, Mapping[str, float]], colours: Mapping[str, str]) -> str:
    """One bar of shares a row, parts in the order of ``colours``; what a row lacks is 0."""
    drawn = []
    for number, (name, shares) in enumerate(rows.items()):
        y, start = TOP + number * ROW, 0.0
        drawn.append(_name(name, y))
        for part, colour in colours.items():
            share = shares.get(part, 0.0)
            drawn.append(_box(start, share, y, colour))
            if share >= 0.06:  # narrower parts cannot hold their number
                drawn.append(_inside(f"{share:.0%}", start + share / 2, y))
            start += share
    floor = TOP + len(rows) * ROW + 4
    legend = [_legend(part, colour, LABEL + place * 60, floor) for place, (part, colour) in enumerate(colours.items())]
    return _svg(title, TOP + len(rows) * ROW + 22, [*drawn, *legend])


def lines(title: str, names: Sequence[str], series: Mapping[str, Sequence[float | None]]) -> str:
    """Shares over time, one line a series, a gap where a series has no value; the axis runs from 0 to 1."""
    left, right, floor = 60, WIDTH - 40, TOP + HEIGHT
    step = (right - left) / max(len(names) - 1, 1)
    drawn = [
        f'<line x1="{left}" x2="{right}" y1="{floor - share * HEIGHT:.1f}" y2="{floor - share * HEIGHT:.1f}" '
        f'stroke="{GRID}"/><text x="4" y="{floor - share * HEIGHT + 4:.1f}">{share:.0%}</text>'
        for share in (0, 0.25, 0.5, 0.75, 1)
    ]
    every = max(1, len(names) // 8)  # more names would run into each other
    drawn += [
        f'<text x="{left + number * step:.1f}" y="{floor + 18}" text-anchor="middle">{escape(name)}</text>'
        for number, name in enumerate(names)
        if number % every == 0
    ]
    for place, (name, values) in enumerate(series.items()):
        colour = LINES[place % len(LINES)]
        there = [
            (left + number * step, floor - value * HEIGHT) for number, value in enumerate(values) if value is not None
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in there)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in there]
        drawn.append(_legend(name, colour, left + place * LEGEND, floor + 32))
    return _svg(title, floor + 52, drawn)


def _svg(title: str, height: float, drawn: Sequence[str]) -> str:
    body = "\n".join(drawn)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'height="{height:.0f}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="{INK}">\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="4" y="18" font-size="15" font-weight="600">{escape(title)}</text>\n{body}\n</svg>\n'
    )


def _legend(name: str, colour: str, x: float, y: float) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/>'
        f'<text x="{x + 17}" y="{y + 10}">{escape(name)}</text>'
    )


def _x(share: float) -> float:
    return LABEL + share * (WIDTH - LABEL - BEHIND)


def _name(name: str, y: float) -> str:
    return f'<text x="{LABEL - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>'


def _box(start: float, share: float, y: float, colour: str) -> str:
    width = _x(start + share) - _x(start)
    return f'<rect x="{_x(start):.1f}" y="{y + 2}" width="{width:.1f}" height="{ROW - 8}" fill="{colour}"/>'


def _whisker(low: float, high: float, y: float) -> str:
    middle = y + (ROW - 4) / 2
    return (
        f'<path d="M{_x(low):.1f} {middle}H{_x(high):.1f}M{_x(low):.1f} {middle - 4}v8M{_x(high):.1f} {middle - 4}v8" '
        f'stroke="{INK}" fill="none"/>'
    )


def _value(text: str, share: float, y: float) -> str:
    return f'<text x="{_x(min(share, 1)) + 6:.1f}" y="{y + 15}">{escape(text)}</text>'


def _inside(text: str, share: float, y: float) -> str:
    return f'<text x="{_x(share):.1f}" y="{y + 15}" text-anchor="middle" fill="#ffffff">{escape(text)}</text>'
