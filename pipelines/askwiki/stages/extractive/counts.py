"""How much of a table or list is shown, in words: «показаны 3 строки из 9»."""

from __future__ import annotations

from askwiki.stages.extractive.written import Count
from askwiki.texts import Texts


def counted_in(texts: Texts, language: str) -> Count:
    """The sentence for a part (row, item, line), how many are shown, of how many; its noun in the number's form."""

    def say(part: str, shown: int, total: int) -> str:
        return texts.say(f"extract_{part}_{_form(shown)}", language, shown=shown, total=total)

    return say


def _form(number: int) -> str:
    """one | few | many, the plural forms of Russian (unicode.org, CLDR plural rules)."""
    if number % 10 == 1 and number % 100 != 11:
        return "one"
    return "few" if number % 10 in (2, 3, 4) and number % 100 not in (12, 13, 14) else "many"
