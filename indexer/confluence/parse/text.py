"""Cleaning of text that came out of a wiki, and the escapes that keep it text in Markdown.

Escapes are set only where CommonMark would really read a mark: identifiers such as ``snake_case``
stay as they are, because they are searched for.
"""

from __future__ import annotations

import re
import unicodedata

# Forbidden in XML 1.0; they occur in real exports (U+001C and others).
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
CONTROL_BLANKS = "\x0b\x0c\x1c\x1d\x1e\x1f"  # those among them that stand between words
# Soft hyphen, zero-width characters, direction marks, BOM: a word with one of them is not found.
# A joiner before a pictograph stays, it holds an emoji together.
INVISIBLE = re.compile(
    "[\u00ad\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]|\u200d(?![\u2600-\u27bf\U0001f000-\U0001faff])"
)
# Every kind of blank that is to be one plain blank.
BLANKS = re.compile("[\\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
NEEDS_CLEANING = re.compile("[\u00a0\u00ad\u0300-\u036f\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]")

TAG_LIKE = re.compile(r"<(?=[A-Za-z/!?]|$)")
ENTITY_LIKE = re.compile(r"&(?=#\d+;|#[xX][0-9a-fA-F]+;|[A-Za-z][A-Za-z0-9]*;)")
BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~]|\s*$)")
# From the run's first sign, or behind a letter from its second: not from each, which would be tried to the run's end.
OPENING_UNDERSCORE = re.compile(r"(?:(?<!\w)|(?<=[^\W_]_))_++(?=\S)")
CLOSING_UNDERSCORE = re.compile(r"(?<=[^\s_])_+(?![^\W_])")
STAR = re.compile(r"(?<=\S)\*|\*(?=\S)")
LINE_START = re.compile(
    r"^(\s*+)(?:(#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|=++\s*+$|-{2,}+\s*+$|(?:_\s*+){3,}+$|~{3,}|\[[ xX]\]\s|\[[^\]]+\]:"
    r"|\|?\s*+:?-++:?\s*+\|[\s|:-]*+$)|(\d{1,9})([.)](?:\s|$)))"
)
SPECIAL = re.compile(r"[\\<&`\]_*~]")
# In a piece that is bold as a whole a star is only a star; what is escaped or code stays as it is.
OTHER_STAR = re.compile(r"(\\.|`[^`]*`)|\*")


def permitted(text: str) -> str:
    """Without the characters that XML forbids; separators among them become blanks."""
    if not FORBIDDEN.search(text):
        return text
    return FORBIDDEN.sub(lambda match: " " if match.group() in CONTROL_BLANKS else "", text)


def clean(text: str) -> str:
    """Plain blanks, no invisible characters, composed letters ("й" as one character)."""
    if not NEEDS_CLEANING.search(text):
        return BLANKS.sub(" ", text)
    text = INVISIBLE.sub("", text)
    return unicodedata.normalize("NFC", BLANKS.sub(" ", text))


def escape(text: str) -> str:
    """Text such that Markdown shows exactly these characters."""
    if not SPECIAL.search(text):
        return text
    text = BACKSLASH.sub(r"\\\\", text)
    text = text.replace("`", "\\`")
    text = TAG_LIKE.sub(r"\\<", text)
    text = ENTITY_LIKE.sub(r"\\&", text)
    text = text.replace("](", r"\](")
    text = text.replace("~~", r"\~\~")
    return _escape_emphasis(text)


def escape_line_start(text: str) -> str:
    """The text as the beginning of a paragraph: neither a heading nor a list, quote or fence."""
    match = LINE_START.match(text)
    if not match:
        return text
    blank, mark, number, _ = match.groups()
    place = len(blank) + len(number or "")
    return f"{text[:place]}\\{text[place:]}" if mark or number else text


def bold(text: str) -> str:
    """Markdown of one line, without marks of its own, as a bold title or label."""
    return f"**{plain_stars(text)}**"


def plain_stars(text: str) -> str:
    """Markdown whose stars are to be stars."""
    return OTHER_STAR.sub(_plain_star, text) if "*" in text else text


def has_lone_star(text: str) -> bool:
    return "*" in text and sum(match[1] is None for match in OTHER_STAR.finditer(text)) == 1


def _plain_star(match: re.Match[str]) -> str:
    return match[1] or "\\*"


def _escape_emphasis(text: str) -> str:
    if text.count("_") > 1:
        opening = OPENING_UNDERSCORE.search(text)
        if opening and CLOSING_UNDERSCORE.search(text, opening.end()):
            text = OPENING_UNDERSCORE.sub(_backslashes, text)
            text = re.sub(r"(?<=[^\s_\\])_+(?![^\W_])", _backslashes, text)
    if len(STAR.findall(text)) > 1:
        text = STAR.sub(r"\\*", text)
    return text


def _backslashes(match: re.Match[str]) -> str:
    return "".join("\\" + character for character in match.group())
