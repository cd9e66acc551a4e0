"""Emoticons as signs: in table cells they often are the whole value."""

from __future__ import annotations

SIGNS = {
    "tick": "✅", "cross": "❌", "warning": "⚠️", "information": "ℹ️", "plus": "➕", "minus": "➖",
    "question": "❓", "light-on": "💡", "light-off": "🔅", "star": "⭐", "yellow-star": "⭐", "red-star": "🔴",
    "green-star": "🟢", "blue-star": "🔵", "thumbs-up": "👍", "thumbs-down": "👎", "smile": "🙂", "sad": "🙁",
    "cheeky": "😛", "laugh": "😃", "wink": "😉", "heart": "❤️", "broken-heart": "💔", "flag-on": "🚩", "flag-off": "🏳️",
}  # fmt: skip
SHORT = {"check": "tick", "error": "cross", "lightbulb": "light-on", "lightbulb_on": "light-on", "add": "plus"}


def emoticon_sign(name: str, fallback: str, alternative: str) -> str:
    """The sign; an unknown one is named in parentheses rather than lost."""
    if fallback and not fallback.startswith(":") and not fallback.isascii():
        return fallback
    sign = SIGNS.get(SHORT.get(name, name))
    if sign:
        return sign
    if alternative and not alternative.isascii():
        return alternative
    word = (alternative or fallback or name).strip(":()")
    return f"({word})" if word else ""
