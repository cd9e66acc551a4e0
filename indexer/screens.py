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
_MENU_PATH = re.compile(
    r"(?<!\w)[A-ZА-ЯЁ][\w -]{1,40}[*»\"”]{0,2}[ \t]*(?:→|➔|›|[ \t]->|[ \t]&?gt;|[ \t]>)[ \t]*[*«\"“]{0,2}[A-ZА-ЯЁ]"
)
_CODE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_CONTROL = re.compile(
    r"\b(?:нажмит\w*|нажат\w*|кликнит\w*|щ[её]лкнит\w*|кнопк\w*|пол(?:е|я|ей|ю|ем|ях)|вкладк\w*|меню|флаж\w*|чекбокс\w*|"
    r"переключател\w*|выпадающ\w*|раскрывающ\w*|диалогов\w*|окн[оае]|иконк\w*|значок\w*|"
    r"click\w*|press(?:ed)?|buttons?|fields?|tabs?|menus?|checkbox\w*|drop-?down\w*|dialogs?|toggles?|icons?)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


def screen_rule(text: str, headings: Sequence[str], labels: Sequence[str], screen_labels: Sequence[str]) -> str:
    """The name of the first rule that makes it a screen text, empty when none does."""
    if {label.casefold() for label in labels} & {label.casefold() for label in screen_labels}:
        return "label"  # the author said so
    text = _CODE.sub(" ", text)  # a program's own fields and arrows are no screen
    if _FIELD_COLUMNS.search(text):
        return "table of fields"  # its first column names controls
    if len(_MENU_PATH.findall(text)) >= 2 and _CONTROL.search(text):
        return "menu paths"  # "Settings > Users": the way through a screen
    controls = len(_CONTROL.findall(text))
    if controls >= LEAST_CONTROLS and controls * 100 >= CONTROLS_PER_HUNDRED * len(_WORD.findall(text)):
        return "words of controls"
    if controls and headings and _HEADING.search(headings[-1]):
        return "heading"  # "Form of a request": named after the screen, and a control is mentioned
    return ""
