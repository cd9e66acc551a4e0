"""Words of an answer written again in the one way that all readers of Markdown understand alike.

What a reader takes for a picture, a link or a tag depends on signs far before it: a formula may swallow a backtick, a
backslash another. So nothing is left to that: every sign that could open something is written again as a whole that
is closed, or as one that opens nothing. Then a code span is a code span in every reader, and only there a foreign
address may stand.
"""

from __future__ import annotations

import re

from askwiki.stages.citations.pieces import JOINER, KEPT, Line, Piece, Writing

_TELLING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f`\[\]<\\$~@\u2060]|//|www\.|:::|\{\{", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u2060]")
_BACKTICKS = re.compile(r"`++")
_FORMULA = re.compile(r"(?<![^\s(«*|])(\${1,2}+)(?!\s)([^$`\[\]~@\x00\n]{1,400})(?<!\s)\1(?=[\s.,;:!?)*|]|\Z)")
_NO_FORMULA = re.compile(r"//|www\.|<[a-z/!?$@#]|:::|\\[()]|\\(?:ce|pu|begin)|\\\Z", re.IGNORECASE)
_DESTINATION = re.compile(
    r"\(\s*+(?:<([^<>\n]*+)>|([^\s()<>]*+(?:\([^\s()<>]*+\)[^\s()<>]*+)*+))"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?\s*+\)"
)
_BRACKET = re.compile(r"(\\.)|(!?)\[|\]", re.DOTALL)
_AUTOLINK = re.compile(r"<((?:https?|ftp)://[^<>\s]*+|mailto:[^<>\s]*+)>", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:(?:https?|ftp)://|www\.|(?<![:/])//(?=[\w-]++\.|localhost))[^\s`<>\"'|\[\]\\\x00]*+|(?<![\w.+-])[\w.+-]++@(?=[\w-]++\.\w)[\w.-]++",
    re.IGNORECASE,
)
_BREAK = re.compile(r"<br\s*+/?>", re.IGNORECASE)
_TAG = re.compile(r"<((?!\s)[^<>\n]*+)>")
_BRACKETED = re.compile(r"\\\[([^\[\]\\\n]{0,200}+)\\\]")
_SIGNS = re.compile(
    r"(?P<own>\\?\{\{(?=char|user|video_|html_))|(?P<escape>\\.)|(?P<end>\\\Z)|~~(?P<gone>(?![\s~])[^~|\x00]++(?<!\s))~~(?!~)|(?P<sign>[~$])"
    r"|(?P<join>\](?=\\?\())|(?P<defines>\]:)|(?P<colons>:::)",
    re.DOTALL | re.IGNORECASE,
)
_KEPT_ESCAPES = frozenset("\\!\"#$%&'*+,-./:;=?@^_{|}~>")


def harmless(text: str, hosts: frozenset[str], line: Line | None = None) -> str:
    """``text`` (of one line at most) with foreign addresses as code, foreign pictures as their name, and no HTML."""
    if not _TELLING.search(text):
        return text
    writing = Writing(hosts, line or Line())
    text = _spans(_CONTROL.sub("", text), writing)
    text = _FORMULA.sub(lambda match: _formula(match, writing), text)
    text = _links(text, writing)
    text = _AUTOLINK.sub(lambda match: f" {match[1]} ", text)
    text = _ADDRESS.sub(writing.address, text)
    text = _tags(text, writing)
    text = _BRACKETED.sub(lambda match: f"({match[1]})" if match[1][:1] in "0123456789^" else f"[{match[1]}]", text)
    text = _SIGNS.sub(lambda match: _sign(match, writing), text)
    return _restored(text, writing)


def _spans(text: str, writing: Writing) -> str:
    """Code spans as all readers see them; a backtick that opens none as an apostrophe. One pass from the right."""
    runs = list(_BACKTICKS.finditer(text))
    last: dict[int, int] = {}
    closes: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        length = len(runs[number].group())
        if length in last:
            closes[number] = last[length]
        last[length] = number
    out, place, number = [], 0, 0
    while number < len(runs):
        run = runs[number]
        out.append(text[place : run.start()])
        place = run.end()
        if number in closes:
            closing = runs[closes[number]]
            if out[-1].endswith("\\") and not out[-1].endswith("\\\\"):
                out.append("\\")  # a backslash before code is one to be seen
            out.append(writing.code(text[run.end() : closing.start()]))
            place, number = closing.end(), closes[number] + 1
        else:
            out.append("'" if len(run.group()) < 3 else "")
            number += 1
    return "".join([*out, text[place:]])


def _formula(match: re.Match[str], writing: Writing) -> str:
    body = match[2]
    if _NO_FORMULA.search(body):
        return match.group().replace("$", "\\$")
    writing.line.clipped = writing.line.clipped or "\\b" in body
    shown = body.replace("<", r" \lt ")  # a bracket could pair with one in a later code span
    return writing.keep(f"{match[1]}{shown}{match[1]}", body)


def _links(text: str, writing: Writing) -> str:
    """Links and pictures, also one in the other, in one pass with a stack; a bracket without a partner stays."""
    opened: list[tuple[str, list[str]]] = [("", [])]
    place = 0
    while match := _BRACKET.search(text, place):
        opened[-1][1].append(text[place : match.start()])
        place = match.end()
        if match[1] is not None:
            opened[-1][1].append(match[1])
        elif match.group().endswith("["):
            opened.append((match[2], []))
        elif len(opened) == 1:
            opened[-1][1].append("]")
        else:
            picture, parts = opened.pop()
            label = "".join(parts)
            if goal := _DESTINATION.match(text, place):
                place = goal.end()
                opened[-1][1].append(writing.link(picture, label, goal[1] if goal[1] is not None else goal[2]))
            else:
                opened[-1][1].append(f"{picture}[{label}]")
    opened[-1][1].append(text[place:])
    return "".join("".join([f"{picture}[" if number else "", *parts]) for number, (picture, parts) in enumerate(opened))


def _tags(text: str, writing: Writing) -> str:
    """No HTML: angle brackets as quotation marks. A line break stays where it cannot begin a block of HTML."""
    if "<" not in text:
        return text

    def line_break(match: re.Match[str]) -> str:
        before = _BREAK.sub("", text[text.rfind("\n", 0, match.start()) + 1 : match.start()])
        return writing.keep("<br>", " ") if any(sign.isalpha() or sign == "|" for sign in before) else " "

    return _TAG.sub(r"‹\1›", _BREAK.sub(line_break, text)).replace("<", "＜")


def _sign(match: re.Match[str], writing: Writing) -> str:
    if match["own"] is not None:
        return "{ {"
    if match["escape"] is not None:
        sign = match["escape"][1]
        if sign in _KEPT_ESCAPES or sign.isspace():
            return match["escape"]
        return {"[": "(", "]": ")", "(": "(", ")": ")", "<": "‹", "‹": "‹", "＜": "＜"}.get(sign, f"\\\\{sign}")
    if match["gone"] is not None:
        inner = _SIGNS.sub(lambda within: _sign(within, writing), match["gone"])
        return f"~~{inner}~~"
    if match["sign"] is not None:
        return f"\\{match['sign']}"
    if match["join"] is not None:
        return "] "
    if match["defines"] is not None:
        return "]\\:"
    if match["colons"] is not None:
        return f"::{JOINER}:"
    return "\\\\"


def _restored(text: str, writing: Writing) -> str:
    """What was kept, in its place again; two code spans side by side would be none."""
    out: list[str] = []
    for number, part in enumerate(KEPT.split(text)):
        kept = writing.kept[int(part)] if number % 2 else Piece(part, part)
        piece = writing.span(kept.shown) if kept.kind == "code" else kept.shown
        if piece.startswith("`") and out and out[-1].endswith(("`", "~")):
            out.append(" ")
        if piece:
            out.append(piece)
    return "".join(out)
