"""What the scripted language model says in the chat's scenes: it reads the prompts as a model would.

The role is told by the model's name (``ENVIRONMENT``), the scene by the question in the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.support.scripted import Asking, Saying

ROLES = ("condense", "relevance", "answer")
ENVIRONMENT = {f"ASKWIKI_LLM__{role.upper()}__MODEL": role for role in ROLES} | {"ASKWIKI_RELEVANCE__GROUP": "1"}
_QUESTION = re.compile(r"## Вопрос\n(.*?)\n(?:\n|##)", re.DOTALL)
_PASSAGE = re.compile(r"<<(\d+) \w+>>\n(.+)")
_PLACE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Scene:
    """One question: the titles that are relevant to it, and the answer. ``{Title}`` in it becomes ``[number]``."""

    question: str
    titles: tuple[str, ...]
    answer: str
    pause: float = 0.02  # seconds between the words of the answer
    standalone: str = ""  # what a follow-up question is condensed to
    judging: float = 0.1  # seconds a verdict takes


@dataclass(frozen=True, slots=True)
class Script:
    """The rule of a ``ScriptedServer``."""

    scenes: Sequence[Scene]

    def __call__(self, asking: Asking) -> Saying | str:
        role = asking.body["model"]
        if role == "condense":
            return _condensed(asking, self.scenes)
        scene = self._scene(asking)
        if role == "relevance":
            relevant = any(title in asking.text.split("<<1 ", 1)[1].split("\n")[1] for title in scene.titles)
            return Saying("1" if relevant else "0", delay=scene.judging)
        numbers: dict[str, str] = {}  # the first of a page: its files, whose way holds its title, come behind it
        for number, place in _PASSAGE.findall(asking.text):
            numbers.setdefault(place, number)

        def cited(match: re.Match[str]) -> str:
            return "".join(f"[{number}]" for place, number in numbers.items() if match[1] in place)[:3]

        return Saying(_PLACE.sub(cited, scene.answer), pause=scene.pause)

    def _scene(self, asking: Asking) -> Scene:
        asked = _QUESTION.findall(asking.text)[-1]
        return next(scene for scene in self.scenes if (scene.standalone or scene.question) in asked)


def _condensed(asking: Asking, scenes: Sequence[Scene]) -> str:
    """A title where one is asked for, else the follow-up question as it stands alone."""
    if "title" in (asking.schema or {}).get("properties", {}):
        return json.dumps({"title": "Название от модели"}, ensure_ascii=False)
    scene = next(scene for scene in scenes if scene.standalone and scene.question in asking.text)
    said = {"question": scene.standalone, "need": "search", "intent": "unclear", "terms": []}
    return json.dumps(said, ensure_ascii=False)
