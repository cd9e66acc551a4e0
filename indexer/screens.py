"""Does a text describe a screen (fields, buttons, menus) or explain something? Decided by rules.

A question about a field wants the field's description, a question about a concept the concept; the
search prefers its kind (see ``Question.intent``). Each rule has a name, so that a person can see why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Words of controls per hundred words: an explanation that mentions a button stays below.
CONTROLS_PER_HUNDRED = 6
LEAST_CONTROLS = 4  # in a short text one or two mean little

_FIELD_COLUMNS = re.compile(
    r"^[ \t]*\|?[ \t*_]*(?:названи[ея] |имя |наименование )?"
    r"(?:пол[ея]|элемент(?:ы)?(?: интерфейса| экрана| формы)?|кнопк[аи]|реквизит|"
    r"вкладк[аи]|пункт(?:ы)? меню|колонк[аи]|иконк[аи]|флажок|field|button|control|ui element|element|"
    r"menu item|tab|column|icon)(?: name)?[ \t*_]*\|",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(
    r"\b(?:экран\w*|форм[аы]|окн[оа]|диалог\w*|интерфейс\w*|поля|кнопк[аи]|меню|вкладк[аи]|панел[ьи]|"
    r"screen|form|dialog|window|fields|buttons|menu|toolbar|user interface|ui)\b",
    re.IGNORECASE,
)
# "Monitoring → Alerts", "Settings > Users": names with capitals, marked or not. Not code's a -> b.
_ARROWS = ("→", "➔", "›", " -> ", " > ", "&gt;")
_MENU_PATH = re.compile(r"(?:→|➔|›|(?<=\s)->|(?<=\s)>|&gt;)[ \t]*[*«\"“]{0,2}[A-ZА-ЯЁ]")
_CODE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)|`[^`\n]*`", re.DOTALL | re.MULTILINE)
# Controls and what one does to them: beginnings of words, and whole words where a beginning would
# catch others («вклад» is a deposit, "check" a check).
_CONTROL = re.compile(
    r"(?:нажми|нажат|кликн|щ[её]лкн|кнопк|флаж[ко]|чекбо|выпад|диало|иконк|знач[ок]к|click|butto|dropd|dialo|toggl)\w*"
    r"|пол(?:е|я|ей|ю|ем|ях)|вкладк\w*|вкладок|меню|окн(?:о|а|е|ах)|переключател[ьяи]|press(?:ed)?|fields?|tabs?|menus?"
    r"|checkbox(?:es)?|icons?"
)
# No control without one of these in the text: told quickly, and usually it is the end of it.
_SIGNS = (
    *("поле", "поля", "полю", "кноп", "меню", "вклад", "наж", "клик", "лкн", "окн", "флаж", "чекб", "выпад", "диало"),
    *("икон", "знач", "переключ", "field", "butt", "menu", "tab", "click", "press", "checkb", "drop", "icon", "toggl"),
)
_WORD = re.compile(r"\w+")


def is_labelled(labels: Sequence[str], screen_labels: str) -> bool:
    """Whether the page's author said so: one of the comma-separated ``screen_labels``, in any letter case."""
    known = {label.strip().casefold() for label in screen_labels.split(",")}
    return any(label.casefold() in known for label in labels)


def screen_rule(text: str, headings: Sequence[str]) -> str:
    """The name of the first rule that makes it a screen text, empty when none does."""
    if "`" in text or "~~~" in text:
        text = _CODE.sub(" ", text)  # a program's own fields and arrows are no screen
    if "|" in text and _FIELD_COLUMNS.search(text):
        return "table of fields"  # its first column names controls
    lowered = text.lower()
    if not any(map(lowered.__contains__, _SIGNS)):
        return ""
    words = _WORD.findall(lowered)
    controls = sum(map(bool, map(_CONTROL.fullmatch, words)))
    if not controls:
        return ""
    if any(arrow in text for arrow in _ARROWS) and len(_MENU_PATH.findall(text)) >= 2:
        return "menu paths"  # "Settings > Users": the way through a screen
    if controls >= LEAST_CONTROLS and controls * 100 >= CONTROLS_PER_HUNDRED * len(words):
        return "words of controls"
    if headings and _HEADING.search(headings[-1]):
        return "heading"  # "Form of a request": named after the screen, and a control is mentioned
    return ""
