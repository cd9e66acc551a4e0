"""The few knobs an admin turns in Open WebUI while people chat, in a form that can always be saved.

The panel has its ways (observed with Open WebUI 0.12): an empty text blocks saving, an error of
validation reads "Pipeline not found", an invalid saved value keeps the whole server from starting. So
switches are ``bool`` with the default in force, everything else may be unset (= as in the settings),
and a wrong value never fails: it falls back and is told with the next answer. No secrets here: the
panel shows every value in clear.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, Field, PrivateAttr, create_model

from askwiki.configuration import replace_setting
from askwiki.errors import SettingsError
from askwiki.settings import Settings

UNSET = "as in settings"
ORIGIN = "the valves of Open WebUI"
Valves = TypeVar("Valves", bound="Knobs")


class Knobs(BaseModel):
    """A set of valves. ``SETTINGS`` = valve -> (setting it stands for, lowest, highest value)."""

    SETTINGS: ClassVar[dict[str, tuple[str, float, float]]] = {}
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
        super().__init__(**kept)
        self._problems = tuple(problems)

    @property
    def problems(self) -> tuple[str, ...]:
        """ "title: value" of each valve that was wrong and fell back."""
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
        "passages": ("passages.count", 1, 50),
        "answer_model": ("llm.answer.model", 0, 0),
        "answer_temperature": ("llm.answer.temperature", 0, 2),
        "relevance_seconds": ("relevance.total_timeout", 1, 300),
    }

    relevance_filter: bool = Field(
        default=True,
        title="Relevance filter",
        description="Let the language model check every passage found before answering.",
    )
    list_all_sources: bool = Field(
        default=True,
        title="List all sources",
        description="When the answer cites nothing, list every page it was given.",
    )
    language: Literal["as in settings", "ru", "en"] = Field(
        default="as in settings", title="Language", description="Language of progress lines and notes."
    )
    candidates: int | None = Field(default=None, title="Candidates", description="Chunks found by search (1 to 200).")
    passages: int | None = Field(
        default=None, title="Passages", description="Most passages the answer is written from (1 to 50)."
    )
    answer_model: str | None = Field(default=None, title="Answer model", description="Model that writes the answer.")
    answer_temperature: float | None = Field(default=None, title="Temperature", description="Of the answer (0 to 2).")
    relevance_seconds: float | None = Field(
        default=None,
        title="Seconds for the relevance filter",
        description="Passages not checked by then count as unchecked.",
    )


class CondenseValves(Knobs):
    """Knobs of the filter. ``pipelines`` and ``priority`` are read by the Pipelines server itself."""

    SETTINGS: ClassVar[dict[str, tuple[str, float, float]]] = {
        "condense": ("condense.enabled", 0, 1),
        "turns": ("condense.turns", 1, 100),
        "condense_model": ("llm.condense.model", 0, 0),
    }

    pipelines: list[str] = Field(
        default=["wiki_answer"],
        title="Pipelines",
        description="Models this filter works for; * = all, titles of other models too.",
    )
    priority: int = Field(default=0, title="Priority", description="Order among filters, lowest first.")
    condense: bool = Field(
        default=True, title="Rewrite follow-ups", description="Turn a follow-up question into one that stands alone."
    )
    turns: int | None = Field(default=None, title="Turns", description="Last messages that are read (1 to 100).")
    condense_model: str | None = Field(default=None, title="Model", description="Model that rewrites the question.")

    def _other(self, name: str, value: Any) -> Any:
        if name == "priority":
            return int(value)
        listed = [value] if isinstance(value, str) else value
        named = [text.strip() for text in listed if isinstance(text, str) and text.strip()]
        if not named or len(named) != len(listed):
            raise ValueError(name)
        return named


def starting_valves(valves: type[Valves], settings: Settings) -> Valves:
    """The valves before anybody turned one: every switch stands, and falls back, as the settings have it."""
    fields: dict[str, Any] = {}
    for name, field in valves.model_fields.items():
        if field.annotation is bool:
            default = _setting(settings, valves.SETTINGS[name][0])
            fields[name] = bool, Field(default, title=field.title, description=field.description)
    return create_model(valves.__name__, __base__=valves, **fields)()


def _setting(settings: Settings, key: str) -> Any:
    value: Any = settings
    for step in key.split("."):
        value = getattr(value, step)
    return value
