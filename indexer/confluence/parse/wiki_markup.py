"""Wiki markup of old exports -> storage format, so that one conversion serves both.

Headings, lists, tables, quotes, rules, code and boxes are understood; what is not stays as text.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict, deque
from collections.abc import Iterator

from lxml.etree import _Element

from indexer.confluence.parse.storage import parse_storage
from indexer.confluence.parse.text import permitted
from indexer.confluence.parse.wiki_inline import INLINE, SINGLE, inline, parameter_elements

RAW = ("code", "noformat", "plantuml", "mermaid", "html", "latex", "mathblock", "graphviz")
BOXES = (
    "panel", "info", "note", "tip", "warning", "expand", "excerpt", "section", "column", "quote", "details", "cloak",
    "deck", "card", "div", "toc-zone", "table-filter", "center", "tabs", "tab",
)  # fmt: skip
RAW_MACRO = re.compile(rf"\{{({'|'.join(RAW)})(?::([^{{}}\n]*+))?\}}(.*?)(?:\{{\1\}}|\Z)", re.DOTALL)
# A box of another name is one when it has parameters; without them braces may be only braces.
OTHER = rf"(?!(?:{'|'.join(sorted(SINGLE | INLINE))}):)[a-z][\w-]*(?=:)"
BOX_START = re.compile(rf"\{{({'|'.join(BOXES)}|{OTHER})(?::([^{{}}\n]*+))?\}}")
BOX_END = re.compile(r"\{([a-z][\w-]*+)\}")
HEADING = re.compile(r"\s*h([1-6])\.\s*(.*)")
ITEM = re.compile(r"\s*([*#]+|-{1,2})\s+(.*)")
QUOTE = re.compile(r"\s*bq\.\s*(.*)")
RULE = re.compile(r"\s*-{4,}\s*")
CELL = re.compile(r"\|\|?")
GROUPED = re.compile(
    r"\[[^\[\]\n]*\]"  # [text|Page]
    r"|\{\{(?:[^{}\n]|\{(?!\{)|\}(?!\}))*+\}\}"  # {{a|b}}
    r"|\{[^{}\n]*\}"  # {status:title=a|colour=b}
    r"|![^\s!|][^!\n]*!"  # !plan.png|width=300!
    r"|\\\|"  # \|
)
HELD = re.compile("\x01(\\d+)\x01")
LOOKS = re.compile(
    r"^[^\S\n]*+(?:"
    r"h[1-6]\. "  # h2. Heading
    r"|\|\|.*\|\|"  # ||Name||Price||
    r"|[*#]++ "  # ** item
    r")|\{(?:code|noformat|toc|panel|info|note)[:}]"  # {code:java}
    r"|\[[^\[\]\n|]++\|[^\[\]\n]+\]",  # [text|target]
    re.MULTILINE,
)
MAXIMUM_DEPTH = 20  # boxes inside boxes


def parse_wiki_markup(text: str) -> _Element:
    """The tree of storage format that the markup means."""
    return parse_storage(to_storage(text))[0]


def looks_like_wiki_markup(text: str) -> bool:
    """Text without tags in which some construct of the markup occurs."""
    return not re.search(r"</\w|/>", text) and bool(LOOKS.search(text))


def to_storage(text: str) -> str:
    held: list[str] = []
    text = permitted(text).replace("\r\n", "\n").replace("\r", "\n")

    def hold(match: re.Match[str]) -> str:
        body = html.escape(match[3].strip("\n"), quote=False)
        element = f"<ac:plain-text-body>{body}</ac:plain-text-body>"
        content = parameter_elements(match[2] or "") + element
        held.append(f'<ac:structured-macro ac:name="{match[1]}">{content}</ac:structured-macro>')
        return f"\x01{len(held) - 1}\x01"

    blocks = _blocks(RAW_MACRO.sub(hold, text), 0)
    return HELD.sub(lambda match: held[int(match[1])], blocks)


def _blocks(text: str, depth: int) -> str:
    """Boxes first (their content is markup again), then the lines between them."""
    pieces = []
    place = 0
    for start, end in _boxes(text) if depth < MAXIMUM_DEPTH else ():
        pieces.append(_lines(text[place : start.start()]))
        inner = f"<ac:rich-text-body>{_blocks(text[start.end() : end.start()], depth + 1)}</ac:rich-text-body>"
        tag = "blockquote" if start[1] == "quote" else ""
        parameters = parameter_elements(start[2] or "")
        macro = f'<ac:structured-macro ac:name="{start[1]}">{parameters}{inner}</ac:structured-macro>'
        pieces.append(f"<{tag}>{inner}</{tag}>" if tag else macro)
        place = end.end()
    pieces.append(_lines(text[place:]))
    return "".join(pieces)


def _boxes(text: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Beginning and end of each outermost box; the ends are found once, not from each beginning anew."""
    ends: dict[str, deque[re.Match[str]]] = defaultdict(deque)
    for end in BOX_END.finditer(text):
        ends[end[1]].append(end)
    place = 0
    for start in BOX_START.finditer(text):
        if start.start() < place:
            continue
        mine = ends[start[1]]
        while mine and mine[0].start() < start.end():
            mine.popleft()
        if mine:
            yield start, mine[0]
            place = mine[0].end()


def _lines(text: str) -> str:
    pieces: list[str] = []
    paragraph: list[str] = []
    items: list[tuple[str, list[str]]] = []
    rows: list[str] = []

    def flush() -> None:
        if paragraph:
            pieces.append(f"<p>{inline(chr(10).join(paragraph))}</p>")
        if items:
            pieces.append(_list(items))
        if rows:
            pieces.append(f"<table><tbody>{''.join(_row(row) for row in rows)}</tbody></table>")
        paragraph.clear()
        items.clear()
        rows.clear()

    for line in text.split("\n"):
        if not line.strip():
            flush()
        elif heading := HEADING.fullmatch(line):
            flush()
            pieces.append(f"<h{heading[1]}>{inline(heading[2])}</h{heading[1]}>")
        elif RULE.fullmatch(line):
            flush()
            pieces.append("<hr/>")
        elif quote := QUOTE.fullmatch(line):
            flush()
            pieces.append(f"<blockquote><p>{inline(quote[1])}</p></blockquote>")
        elif rows and not rows[-1].endswith("|"):  # the last cell goes on
            rows[-1] += "\n" + line.strip()
        elif (item := ITEM.fullmatch(line)) and (item[1] != "--" or items):
            if paragraph or rows:
                flush()
            items.append((item[1], [item[2]]))
        elif line.lstrip().startswith("|"):
            if paragraph or items:
                flush()
            rows.append(line.strip())
        elif items:
            items[-1][1].append(line.strip())
        else:
            if rows:
                flush()
            paragraph.append(line.strip())
    flush()
    return "".join(pieces)


def _list(items: list[tuple[str, list[str]]]) -> str:
    """``*``, ``**``, ``*#`` … : the length of the mark is the depth, its last sign the kind of list."""
    pieces: list[str] = []
    open_kinds: list[str] = []
    for mark, lines in items:
        while len(open_kinds) > len(mark) or (len(open_kinds) == len(mark) and open_kinds[-1] != _kind(mark)):
            pieces.append(f"</li></{open_kinds.pop()}>")
        if len(open_kinds) == len(mark):
            pieces.append("</li><li>")
        while len(open_kinds) < len(mark):
            open_kinds.append(_kind(mark[: len(open_kinds) + 1]))
            pieces.append(f"<{open_kinds[-1]}><li>")
        pieces.append(inline("\n".join(lines)))
    pieces += [f"</li></{kind}>" for kind in reversed(open_kinds)]
    return "".join(pieces)


def _kind(mark: str) -> str:
    return "ol" if mark.endswith("#") else "ul"


def _row(line: str) -> str:
    """Cells between bars; bars inside links, pictures and braces divide nothing."""
    groups: list[str] = []

    def hold(match: re.Match[str]) -> str:
        groups.append(match.group())
        return f"\x03{len(groups) - 1}\x03"

    held = GROUPED.sub(hold, line)
    cells = []
    bars = list(CELL.finditer(held))
    for bar, following in zip(bars, [*bars[1:], None], strict=True):
        text = held[bar.end() : following.start() if following else len(held)]
        if following is None and not text.strip():
            break
        tag = "th" if len(bar.group()) == 2 else "td"
        restored = re.sub("\x03(\\d+)\x03", lambda match: groups[int(match[1])], text).strip()
        listed = "\n" in restored and any(map(ITEM.fullmatch, restored.split("\n")))
        cells.append(f"<{tag}>{_lines(restored) if listed else inline(restored)}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>"
