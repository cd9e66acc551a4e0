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
LEAST_PATHS = 2  # one arrow may mean anything

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
# Controls and what one does to them, as they occur inside words; a blank in front or behind where the
# letters alone would catch others («поле» in «полезный», "tab" in "table"). Counted as plain text:
# patterns over words took most of the time of cutting a page.
_CONTROLS = (
    *("нажмите", "нажать", "нажат", "кликн", "щелкн", "щёлкн", "кнопк", "кнопок", "вкладк", "вкладок", "меню", "флаж"),
    *(" поле ", " поля ", " полей ", " полях", " полем ", "чекбокс", "переключател", "выпадающ", "диалогов"),
    *(" окно", " окна", " окне ", "иконк", "значок", "click", "button", " field", " tab ", " tabs", "menu", "checkbox"),
    *("dropdown", "dialog", "toggle", " icon"),
)


def is_labelled(labels: Sequence[str], screen_labels: str) -> bool:
    """Whether the page's author said so: one of the comma-separated ``screen_labels``, in any letter case."""
    known = {label.strip().casefold() for label in screen_labels.split(",")}
    return any(label.casefold() in known for label in labels)


def screen_rule(text: str, headings: Sequence[str]) -> str:
    """The name of the first rule that makes it a screen text, empty when none does."""
    if "|" in text and _FIELD_COLUMNS.search(text):
        return "table of fields"  # its first column names controls
    if not _controls(text):
        return ""  # the usual case, told quickly
    text = _CODE.sub(" ", text) if "`" in text or "~~~" in text else text
    controls = _controls(text)  # a program's own fields and arrows are no screen
    if not controls:
        return ""
    if sum(map(text.count, _ARROWS)) >= LEAST_PATHS and len(_MENU_PATH.findall(text)) >= LEAST_PATHS:
        return "menu paths"  # "Settings > Users": the way through a screen
    if controls >= LEAST_CONTROLS and controls * 100 >= CONTROLS_PER_HUNDRED * len(text.split()):
        return "words of controls"
    if headings and _HEADING.search(headings[-1]):
        return "heading"  # "Form of a request": named after the screen, and a control is mentioned
    return ""


def _controls(text: str) -> int:
    return sum(map(f" {text} ".lower().count, _CONTROLS))
