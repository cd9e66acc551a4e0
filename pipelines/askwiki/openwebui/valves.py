"""The few knobs an admin turns in Open WebUI while people chat, in a form that can always be saved.

The panel has its ways (observed with Open WebUI 0.12): an empty text blocks saving, an error of
validation reads "Pipeline not found", an invalid saved value keeps the whole server from starting. So
switches are ``bool`` with the default in force, everything else may be unset (= as in the settings),
and a wrong value never fails: the last good one stays, and the admin is told. No secrets here: the
panel shows every value in clear. And nothing about rights: who may read what is decided by the wiki and the settings
of the server, so that nobody opens a page with a click.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, Field, PrivateAttr, create_model

from askwiki.configuration import replace_setting
from askwiki.errors import SettingsError
from askwiki.settings import Settings

UNSET = "—"  # of a drop-down: a sign and no word, so that a saved form outlives a change of language
ORIGIN = "the valves of Open WebUI"
Valves = TypeVar("Valves", bound="Knobs")


class Knobs(BaseModel):
    """A set of valves. ``SETTINGS`` = valve -> (setting it stands for, lowest, highest value).

    ``good`` = the values in force, of the class that one plugin has for itself: the server makes a new object from
    what the panel posts and knows nothing of the one before.
    """

    SETTINGS: ClassVar[dict[str, tuple[str, float, float]]] = {}
    good: ClassVar[dict[str, Any]] = {}
    _problems: tuple[str, ...] = PrivateAttr(default=())

    def __init__(self, **values: Any) -> None:
        kept, problems = {}, []
        for name, value in values.items():
            if name not in type(self).model_fields or value is None or value in ("", UNSET):
                continue  # unset: the default
            try:
                kept[name] = self._checked(name, value)
            except (SettingsError, TypeError, ValueError):
                problems.append(f"{type(self).model_fields[name].title or name}: {str(value)[:40]}")
                if name in self.good:
                    kept[name] = self.good[name]
        super().__init__(**kept)
        self._problems = tuple(problems)
        type(self).good = kept

    @property
    def problems(self) -> tuple[str, ...]:
        """ "title: value" of each valve that was wrong: the last good value stays."""
        return self._problems

    def apply(self, settings: Settings) -> Settings:
        """The settings with every valve that is set."""
        for name, (key, _, _) in self.SETTINGS.items():
            value = getattr(self, name)
            if value is not None and value != UNSET:
                settings = replace_setting(settings, key, value, ORIGIN)
        return settings

    def _checked(self, name: str, value: Any) -> Any:
        if name not in self.SETTINGS:
            return self._other(name, value)
        key, low, high = self.SETTINGS[name]
        changed = _setting(replace_setting(Settings(), key, value, ORIGIN), key)
        if isinstance(changed, (int, float)) and not isinstance(changed, bool) and not low <= changed <= high:
            raise ValueError(f"{name} must be between {low} and {high}")
        return changed

    def _other(self, name: str, value: Any) -> Any:
        raise ValueError(name)


class AnswerValves(Knobs):
    """Knobs of the pipe."""

    SETTINGS: ClassVar[dict[str, tuple[str, float, float]]] = {
        "relevance_filter": ("relevance.enabled", 0, 1),
        "list_all_sources": ("sources.list_all", 0, 1),
        "language": ("language", 0, 0),
        "candidates": ("search.candidates", 1, 200),
        "intent": ("search.boost_intent", 0, 1),
        "context_leg": ("search.weight_context", 0, 2),
        "minimum_similarity": ("rerank.minimum", 0, 1),
        "minimum_rerank": ("rerank.strict_minimum", 0, 20),  # logits or shares, as the cross-encoder gives them
        "after_gates": ("rerank.cap", 1, 200),
        "relevance_group": ("relevance.group", 1, 12),
        "relevance_model": ("llm.relevance.model", 0, 0),
        "siblings": ("passages.siblings", 0, 1),
        "passages": ("passages.count", 1, 50),
        "answer_model": ("llm.answer.model", 0, 0),
        "answer_temperature": ("llm.answer.temperature", 0, 2),
        "relevance_seconds": ("relevance.total_timeout", 1, 300),
        "domain": ("wiki.domain", 0, 0),
    }

    relevance_filter: bool = True
    list_all_sources: bool = True
    language: str = Field(default=UNSET, json_schema_extra={"enum": [UNSET, "ru", "en"]})  # shown as a drop-down
    candidates: int | None = None
    intent: float | None = None
    context_leg: float | None = None
    minimum_similarity: float | None = None
    minimum_rerank: float | None = None
    after_gates: int | None = None
    relevance_group: int | None = None
    relevance_model: str | None = None
    siblings: bool = True
    passages: int | None = None
    answer_model: str | None = None
    answer_temperature: float | None = None
    relevance_seconds: float | None = None
    domain: str | None = None


class CondenseValves(Knobs):
    """Knobs of the filter. ``pipelines`` and ``priority`` are read by the Pipelines server itself."""

    SETTINGS: ClassVar[dict[str, tuple[str, float, float]]] = {
        "condense": ("condense.enabled", 0, 1),
        "turns": ("condense.turns", 1, 100),
        "condense_model": ("llm.condense.model", 0, 0),
        "domain": ("wiki.domain", 0, 0),
    }

    pipelines: list[str] = ["wiki_answer"]
    priority: int = 0
    condense: bool = True
    turns: int | None = None
    condense_model: str | None = None
    domain: str | None = None

    def _other(self, name: str, value: Any) -> Any:
        if name == "priority":
            return int(value)
        listed = [value] if isinstance(value, str) else value
        named = [text.strip() for text in listed if isinstance(text, str) and text.strip()]
        if not named or len(named) != len(listed):
            raise ValueError(name)
        return named


def starting_valves(
    valves: type[Valves],
    settings: Settings,
    say: Callable[[str], str] | None = None,
    good: Mapping[str, Any] | None = None,
) -> Valves:
    """The valves before anybody turned one: every switch stands, and falls back, as the settings have it.

    ``say`` gives the sentences of config/texts: ``valve_NAME``, a field's label, and ``valve_NAME_about``.
    ``good`` = values that were in force before a restart: a saved one that is wrong falls back to them.
    """
    fields: dict[str, Any] = {}
    for name, field in valves.model_fields.items():
        default = _setting(settings, valves.SETTINGS[name][0]) if field.annotation is bool else field.default
        title, about = (say(f"valve_{name}"), say(f"valve_{name}_about")) if say else (None, None)
        extra = field.json_schema_extra
        fields[name] = field.annotation, Field(default, title=title, description=about, json_schema_extra=extra)
    kind = create_model(valves.__name__, __base__=valves, **fields)
    start = kind()
    kind.good = dict(kind(**good).good) if good else {}
    return start


def _setting(settings: Settings, key: str) -> Any:
    value: Any = settings
    for step in key.split("."):
        value = getattr(value, step)
    return value
