"""Hostile compositions: pieces that readers of Markdown understand differently, put into each other at random."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

EVIL = ("https://evil.example/a", "//evil.example/a", "http://evil.example", "www.evil.com/x", "ftp://evil.example/f")
EVIL += ("https://wiki.example.com@evil.example/", "javascript:alert(1)", "mailto:a@evil.example", "data:text/html,x")
EVIL += ("/api/v1/auths/signout", "https:\\\\evil.example", "HTTPS://EVIL.EXAMPLE/A", "https://evil.example/`a`|$~*_")
OURS = ("https://wiki.example.com/p/1", "https://wiki.example.com/~ivan/a_b*c", "https://wiki.example.com/x`y|z$")
WORDS = (
    "Лимит",
    "a_b",
    "x",
    "да.",
    "Нет. ",
    "10 %",
    "я",
    "C++",
    "\\",
    "\\\\",
    "`",
    "``",
    "```",
    "$",
    "$$",
    "~",
    "~~",
    "|",
)
WORDS += (
    "*",
    "_",
    "**",
    "[",
    "]",
    "(",
    ")",
    "!",
    "<",
    ">",
    "&lt;",
    "&#91;",
    "\\`",
    "\\[",
    "\\]",
    "\\(",
    "\\)",
    "\\ce{",
    "}",
)
WORDS += (
    "[1]",
    "[2](",
    "](",
    "]:",
    ":::x",
    ":::",
    "<br>",
    "<br/>",
    "\u200b",
    "\x00",
    "\u00a0",
    "\t",
    "  ",
    "\n",
    "\n\n",
    "---",
)
WORDS += (
    "===",
    "{{VIDEO_FILE_ID_a1}}",
    "{{user}}",
    "a@evil.com",
    "<@U:1>",
    "<#C:1|x>",
    "[^1]",
    "\\begin{equation}",
    "\\$",
    "\r\n",
)
LINES = ("- ", "* ", "1. ", "> ", "   ", "    ", "\t", "# ", "| ", ">", "10) ", "- [ ] ", "> [!NOTE]\n> ", "")
INFO = ("", "html", "mermaid", "text", "svg", "bash", "vega", "JS", "python x", "mermaid x", "xml")
TAGS = (
    "img src={}",
    "a href='{}'",
    "video poster={}",
    'iframe src="{}"',
    "details",
    "/details",
    "u",
    "/u",
    "!-- ",
    "?x",
    "script",
)

Maker = Callable[[Random, int], str]


def composed(random: Random, depth: int = 3) -> str:
    """Some lines of hostile Markdown."""
    return "".join(_block(random, depth) for _ in range(random.randint(1, 4)))


def label(random: Random) -> str:
    """A hostile name of a page: one line, mostly."""
    return "".join(_inline(random, 2) for _ in range(random.randint(1, 3)))


def _pick(random: Random, many: tuple[str, ...]) -> str:
    return many[random.randrange(len(many))]


def _address(random: Random) -> str:
    return _pick(random, EVIL if random.random() < 0.75 else OURS)


def _inline(random: Random, depth: int) -> str:
    if depth <= 0 or random.random() < 0.3:
        return _pick(random, WORDS)
    inner = _run(random, depth - 1)
    makers: tuple[Callable[[], str], ...] = (
        lambda: f"![{inner}]({_address(random)})",
        lambda: f"[{inner}]({_address(random)})",
        lambda: f'[{inner}](<{_address(random)}> "t")',
        lambda: f"![{inner}][r]",
        lambda: _address(random),
        lambda: f"<{_address(random)}>",
        lambda: f"`{inner}`",
        lambda: f"``{inner}``",
        lambda: f"`{_address(random)}`",
        lambda: f"<{_pick(random, TAGS).format(_address(random))}>{inner}",
        lambda: f"${inner}$",
        lambda: f"\\({inner}\\)",
        lambda: f"\\href{{{_address(random)}}}{{x}}",
        lambda: f"~~{inner}~~",
        lambda: f"*{inner}*",
        lambda: f"_{inner}_",
        lambda: f"\\{inner}",
        lambda: f"[{inner}",
        lambda: f"{inner}]({_address(random)})",
        lambda: f"!\\[{inner}\\]({_address(random)})",
        lambda: f"[1]({_address(random)})",
        lambda: f"я{_address(random)}",
        lambda: f"_{_address(random)}_",
    )
    return makers[random.randrange(len(makers))]()


def _run(random: Random, depth: int) -> str:
    return _pick(random, ("", " ")).join(_inline(random, depth) for _ in range(random.randint(1, 3)))


def _block(random: Random, depth: int) -> str:
    lead = "".join(_pick(random, LINES) for _ in range(random.randint(0, 2)))
    kind = random.randrange(9)
    if kind == 0:
        mark = random.choice("`~") * random.randint(3, 5)
        close = random.choice(("", "  ", "    ", "> ", lead)) + mark + random.choice(("", "`", "~", " x", "\t", "~~~"))
        body = "\n".join(lead * random.randint(0, 1) + _run(random, depth) for _ in range(random.randint(0, 3)))
        return f"{lead}{mark}{_pick(random, INFO)}\n{body}\n{close}\n"
    if kind == 1:
        cells = [_run(random, depth) for _ in range(4)]
        return f"| {cells[0]} | {cells[1]} |\n|---|---|\n| {cells[2]} | {cells[3]} |\n"
    if kind == 2:
        return f"{lead}[r]: {_address(random)}\n\n"
    if kind == 3:
        return f"{lead}$$\n{_run(random, depth)}\n$$\n"
    if kind == 4:
        return f'<details type="x">\n<summary>{_run(random, 1)}</summary>\n{_run(random, depth)}\n</details>\n'
    if kind == 5:
        return f":::note\n{_run(random, depth)}\n:::\n"
    if kind == 6:
        return f"{lead}<{_pick(random, TAGS).format(_address(random))}>\n{_run(random, depth)}\n"
    return f"{lead}{_run(random, depth)}{random.choice((chr(10), chr(10) * 2, ' '))}"
