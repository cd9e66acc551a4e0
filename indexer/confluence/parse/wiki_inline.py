"""Words of old wiki markup -> storage format: emphasis, links, pictures, signs, macros in the line."""

from __future__ import annotations

import html
import re

from indexer.confluence.parse.text import clean

# Macros that stand in a line without a body; another name in braces is kept as the text it is.
SINGLE = frozenset(
    {"anchor", "attachments", "children", "contentbylabel", "excerpt-include", "gallery", "gliffy", "drawio", "include"}
    | {
        "jira",
        "jiraissues",
        "livesearch",
        "pagetree",
        "recently-updated",
        "status",
        "toc",
        "view-file",
        "viewpdf",
        "widget",
    }
    | {"blog-posts", "viewxls", "viewdoc", "viewppt", "search", "contributors", "detailssummary"}
)
INLINE = frozenset({"align", "color", "div", "span"})  # looks of the words between them
SIGNS = {
    "(/)": "tick", "(x)": "cross", "(!)": "warning", "(i)": "information", "(?)": "question", "(+)": "plus",
    "(-)": "minus", "(on)": "light-on", "(off)": "light-off", "(*)": "yellow-star", "(y)": "thumbs-up",
    "(n)": "thumbs-down",
}  # fmt: skip
TOKEN = re.compile(
    r"\\(?P<escaped>[{}\[\]*_+^~|!\-#?()])"  # \{
    r"|\{\{(?P<mono>(?:[^{}\n]|\{(?!\{)|\}(?!\}))++)\}\}"  # {{code}}
    r"|\[(?P<link>[^\[\]\n]+)\]"  # [text|Page#anchor]
    # !plan.png|width=300!
    r"|!(?P<image>[^\s!|<>][^!|\n<>]*\.\w{2,5}|https?://[^\s!|]+)(?:\|(?P<look>[^!\n]*))?!"
    r"|\{(?P<macro>[a-z][\w-]*)(?::(?P<parameters>[^{}\n]*))?\}"  # {toc:maxLevel=2}
    r"|(?P<sign>\((?:/|x|!|i|\?|\+|-|on|off|\*|y|n)\))"  # (/)
    r"|(?P<url>https?://[^\s|\]<>\"]+[^\s|\]<>\".,;:!?)])"  # https://x.example/a
)
MARKS = (("*", "strong"), ("_", "em"), ("-", "del"), ("+", "u"), ("??", "cite"))
STYLES = (
    *(
        (re.compile(rf"(?<![\w{m}\\]){m}(?=[^\s{m}])([^\n]{{0,300}}?[^\s{m}]){m}(?![\w{m}])"), tag)
        for m, tag in ((re.escape(mark), tag) for mark, tag in MARKS)
    ),
    (re.compile(r"\^(\S[^\^\n]*?)\^"), "sup"),
    (re.compile(r"~(\S[^~\n]*?)~"), "sub"),
)
FORCED = dict(MARKS)
BRACED = re.compile(r"\{([*_+-])\}(\S[^\n{}]*?)\{\1\}")  # a mark that is one even inside a word
ENTITY = re.compile(r"&amp;(#\d+;|#[xX][0-9a-fA-F]+;|[A-Za-z][A-Za-z0-9]*;)")
HELD = re.compile("\x02(\\d+)\x02")


def inline(text: str) -> str:
    """Storage format of one line (or of several, broken by line breaks)."""
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(_token(match))
        return f"\x02{len(held) - 1}\x02"

    def force(match: re.Match[str]) -> str:
        tag = FORCED[match[1]]
        held.append(f"<{tag}>{inline(match[2])}</{tag}>")
        return f"\x02{len(held) - 1}\x02"

    text = BRACED.sub(force, text.replace("\\\\", "\n"))
    text = ENTITY.sub(r"&\1", html.escape(TOKEN.sub(hold, text), quote=False))
    for pattern, tag in STYLES:
        text = pattern.sub(rf"<{tag}>\1</{tag}>", text)
    text = text.replace("\n", "<br/>").replace(" --- ", " — ").replace(" -- ", " – ")
    return HELD.sub(lambda match: held[int(match[1])], text)


def _token(match: re.Match[str]) -> str:
    kind = (
        match.lastgroup if match.lastgroup not in ("look", "parameters") else ("image" if match["image"] else "macro")
    )
    text = html.escape(match[kind] if kind else match.group(), quote=False)
    if kind == "mono":
        return f"<code>{text}</code>"
    if kind == "link":
        return link(match["link"])
    if kind == "image":
        return image(match["image"])
    if kind == "macro":
        return macro(match["macro"], match["parameters"] or "", match.group())
    if kind == "sign":
        return f'<ac:emoticon ac:name="{SIGNS[match["sign"]]}"/>'
    if kind == "url":
        return f'<a href="{html.escape(match["url"])}">{text}</a>'
    return text


def link(inside: str) -> str:
    """``[text|target|tip]``: pages, anchors, files, people and addresses."""
    parts = [part.strip() for part in inside.split("|")]
    said, target = (parts[0], parts[1]) if len(parts) > 1 and parts[1] else ("", parts[0])
    if re.match(r"(?:https?|ftp|mailto|file):|//|/", target):
        text = inline(said) if said else html.escape(target.removeprefix("mailto:"))
        return f'<a href="{html.escape(target)}">{text}</a>'
    body = f"<ac:link-body>{inline(said)}</ac:link-body>" if said else ""
    if target.startswith("~"):
        return f'<ac:link><ri:user ri:username="{html.escape(target[1:])}"/>{body}</ac:link>'
    if target.startswith("^"):
        return f'<ac:link><ri:attachment ri:filename="{html.escape(target[1:])}"/>{body}</ac:link>'
    page, _, anchor = target.partition("#")
    page, _, file = page.partition("^")
    space, colon, title = page.partition(":")
    if not colon:
        space, title = "", page
    anchored = f' ac:anchor="{html.escape(anchor)}"' if anchor else ""
    if not title:
        return f"<ac:link{anchored}>{body or f'<ac:link-body>{html.escape(anchor)}</ac:link-body>'}</ac:link>"
    keyed = f' ri:space-key="{html.escape(space)}"' if space else ""
    named = f'<ri:page{keyed} ri:content-title="{html.escape(title)}"/>'
    if file:
        named = f'<ri:attachment ri:filename="{html.escape(file)}">{named}</ri:attachment>'
    return f"<ac:link{anchored}>{named}{body}</ac:link>"


def image(name: str) -> str:
    if "://" in name:
        return f'<ac:image><ri:url ri:value="{html.escape(name)}"/></ac:image>'
    page, caret, file = name.partition("^")
    owner = f'<ri:page ri:content-title="{html.escape(page)}"/>' if caret else ""
    named = html.escape(file if caret else name)
    return f'<ac:image><ri:attachment ri:filename="{named}">{owner}</ri:attachment></ac:image>'


def macro(name: str, parameters: str, whole: str) -> str:
    if name not in SINGLE:
        return "" if name in INLINE else html.escape(whole, quote=False)
    return f'<ac:structured-macro ac:name="{name}">{parameter_elements(parameters)}</ac:structured-macro>'


def parameter_elements(parameters: str) -> str:
    """``a|title=b`` -> ``ac:parameter`` elements; what has no name gets the empty name."""
    found = []
    for part in parameters.split("|"):
        name, equals, value = part.partition("=")
        if not equals:
            name, value = "", part
        if value.strip():
            text = html.escape(clean(value).strip())
            found.append(f'<ac:parameter ac:name="{html.escape(name.strip())}">{text}</ac:parameter>')
    return "".join(found)
