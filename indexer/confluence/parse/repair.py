"""Broken markup made whole: every tag is closed in the right order, what is no tag becomes text.

Only what the strict parser refuses comes here. Nothing is cut off: a lenient parser would drop all
that follows a stray "<".
"""

from __future__ import annotations

import re

# A value with "<" in it is bounded, so that no number of stray quotes makes the search quadratic.
TOKEN = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w.-]*(?::[\w.-]+)?)"
    r"(?P<attributes>(?:[\s/](?:[^<>\"']|\"[^\"<]*+\"|'[^'<]*+'|\"[^\"]{0,2000}\"|'[^']{0,2000}')*+)?)>"
)
# A word without a value is one too: else each of its letters would be tried as the beginning of a name.
ATTRIBUTE = re.compile(
    r"([A-Za-z_][\w.-]*+(?::[\w.-]++)?)"  # ac:name
    r"(?:\s*+=\s*+(?:"
    r"(?P<value>\"[^\"]*+\"|'[^']*+')"  # ="code", ='code'
    r"|(?P<bare>[^\s\"'<>]++)"  # =code
    r"))?"
)
TAGS = frozenset(
    re.findall(
        r"\w+",
        "a abbr acronym address article aside b bdo big blockquote body br caption center cite code col colgroup dd "
        "del details dfn div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header "
        "hr html i iframe img input ins kbd label legend li link main map mark meta nav noscript object ol optgroup "
        "option p param pre q s samp script section select small source span strike strong style sub summary sup svg "
        "table tbody td textarea tfoot th thead time title tr tt u ul var video wbr "
        "math semantics annotation mrow mi mn mo mtext mfrac msup msub msubsup msqrt mroot mtable mtr mtd ",
    )
)
VOID = frozenset({"br", "hr", "img", "col", "input", "meta", "link", "wbr"})
# A new one of these ends an open one, as in HTML; nothing is open across these borders.
ENDS = {
    "p": {"p"}, "li": {"li", "p"}, "tr": {"tr", "td", "th", "p"}, "td": {"td", "th", "p"}, "th": {"td", "th", "p"},
}  # fmt: skip
BORDERS = frozenset({"table", "ul", "ol", "ac:rich-text-body", "ac:layout-cell", "ac:structured-macro", "ac:task-body"})
DEEPEST = 300  # open elements; deeper tags are left out, their text stays. What reads the result stops at 110.


def mend(text: str) -> str:
    """Well-formed XML with the same text. CDATA, comments and named entities are already gone."""
    pieces: list[str] = []
    open_tags: list[str] = []
    place = left_out = 0
    for token in TOKEN.finditer(text):
        if ":" not in token["name"] and token["name"].lower() not in TAGS:
            continue  # words between angle brackets: ``Map<String, List>``
        pieces.append(_text(text[place : token.start()]))
        place = token.end()
        name = token["name"]
        if token["close"] and left_out:
            left_out -= 1
            continue
        if token["close"]:
            _close(name, open_tags, pieces)
            continue
        _end_siblings(name, open_tags, pieces)
        empty = token["attributes"].rstrip().endswith("/") or name.lower() in VOID
        if len(open_tags) >= DEEPEST and not empty:
            left_out += 1
            continue
        pieces.append(f"<{name}{_attributes(token['attributes'])}{'/' if empty else ''}>")
        if not empty:
            open_tags.append(name)
    pieces.append(_text(text[place:]))
    pieces += [f"</{name}>" for name in reversed(open_tags)]
    return "".join(pieces)


def _text(text: str) -> str:
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _attributes(text: str) -> str:
    """Each attribute once, quoted."""
    found: dict[str, str] = {}
    for match in ATTRIBUTE.finditer(text):
        quoted, bare = match["value"], match["bare"]
        if quoted or bare:
            value = quoted[1:-1] if quoted else bare
            found.setdefault(match[1].lower(), value.replace("<", "&lt;").replace('"', "&quot;"))
    return "".join(f' {name}="{value}"' for name, value in found.items())


def _close(name: str, open_tags: list[str], pieces: list[str]) -> None:
    """Close up to ``name``; an end without a beginning is dropped."""
    if name not in open_tags:
        return
    while open_tags:
        last = open_tags.pop()
        pieces.append(f"</{last}>")
        if last == name:
            return


def _end_siblings(name: str, open_tags: list[str], pieces: list[str]) -> None:
    ends = ENDS.get(name, set())
    for place in range(len(open_tags) - 1, -1, -1):
        if open_tags[place] in BORDERS:
            return
        if open_tags[place] in ends:
            while len(open_tags) > place:
                pieces.append(f"</{open_tags.pop()}>")
