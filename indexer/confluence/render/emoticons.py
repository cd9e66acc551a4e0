"""Emoticons as signs: in table cells they often are the whole value."""

from __future__ import annotations

import re

from indexer.confluence.parse.text import permitted

SIGNS = {
    "tick": "✅", "cross": "❌", "warning": "⚠️", "information": "ℹ️", "plus": "➕", "minus": "➖",
    "question": "❓", "light-on": "💡", "light-off": "🔅", "star": "⭐", "yellow-star": "⭐", "red-star": "🔴",
    "green-star": "🟢", "blue-star": "🔵", "thumbs-up": "👍", "thumbs-down": "👎", "smile": "🙂", "sad": "🙁",
    "cheeky": "😛", "laugh": "😃", "wink": "😉", "heart": "❤️", "broken-heart": "💔", "flag-on": "🚩", "flag-off": "🏳️",
}  # fmt: skip
# The same signs by the names of the emoji picker and of the old picture files.
OTHER_NAMES = {
    "check": "tick", "check_mark": "tick", "error": "cross", "cross_mark": "cross", "info": "information",
    "add": "plus", "forbidden": "minus", "help_16": "question", "question_mark": "question",
    "lightbulb_on": "light-on", "light_bulb_on": "light-on", "lightbulb": "light-off", "light_bulb_off": "light-off",
    "star_yellow": "yellow-star", "star_red": "red-star", "star_green": "green-star", "star_blue": "blue-star",
    "thumbsup": "thumbs-up", "thumbs_up": "thumbs-up", "thumbsdown": "thumbs-down", "thumbs_down": "thumbs-down",
    "tongue": "cheeky", "biggrin": "laugh", "broken_heart": "broken-heart", "flag": "flag-on", "flag_grey": "flag-off",
}  # fmt: skip
ANY_EMOJI = "blue-star"  # the name that the Cloud editor gives to every emoji without an old name
CODE_POINTS = re.compile(r"(?:[0-9a-fA-F]{4,5}|[0-9a-fA-F]{2}(?=-))(?:-[0-9a-fA-F]{4,5})*")
FILE = re.compile(r"icons/emoticons/([\w-]+)\.\w+")


def emoticon_sign(name: str, fallback: str = "", short: str = "", emoji: str = "", alternative: str = "") -> str:
    """The sign; an unknown one is named in parentheses rather than lost.

    ``emoji``: its code points in hexadecimal digits, or the id of one that the company made itself.
    """
    if fallback and not fallback.startswith(":") and not fallback.isascii():
        return fallback
    points = emoji.split("-") if CODE_POINTS.fullmatch(emoji) else ()
    if sign := permitted("".join(chr(int(digits, 16)) for digits in points)):
        return sign
    word = short.strip(":")
    if sign := _known(word) or ("" if word and name == ANY_EMOJI else _known(name)):
        return sign
    if alternative and not alternative.isascii() and not word:
        return alternative
    word = word or (alternative or fallback or name).strip(":()")
    return f"({word})" if word else ""


def named_by_file(source: str) -> str:
    """The name of an emoticon whose picture says nothing but its file (versions before 4)."""
    found = FILE.search(source)
    return found[1] if found else ""


def _known(name: str) -> str:
    return SIGNS.get(OTHER_NAMES.get(name, name), "")
