"""Ratings given in Open WebUI, joined with the question, the answer and its sources.

The export holds a copy of the whole chat as the browser saw it. Of that only the rated pair is kept;
who rated becomes a hash, and addresses and telephone numbers in a person's own words are masked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from askwiki.data import Turn
from askwiki.language.wording import leans_on_dialogue

HASH_DIGITS = 12  # ids in Open WebUI are random: a hash of one cannot be found by trying
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"(?<![\w-])(?:\+7|8|7)[\s(-]*\d{3}[\s)-]*\d{3}[\s-]*\d{2}[\s-]*\d{2}(?!\w)")
_SPACE = re.compile(r"/(?:display|spaces)/(?P<space>~?[\w.-]+)")
NO_SPACE = "–"


@dataclass(frozen=True, slots=True)
class RatedSource:
    """A source as the chat showed it under the answer."""

    title: str
    url: str

    @property
    def space(self) -> str:
        """The key of its space, as far as the address tells it."""
        found = _SPACE.search(self.url)
        return found["space"] if found else NO_SPACE


@dataclass(frozen=True, slots=True)
class Rating:
    """One rated answer. ``good`` = thumb up; ``score`` 1 to 10 when the person gave one."""

    id: str
    time: str  # ISO 8601, UTC
    user: str
    model: str
    good: bool
    score: int | None
    reason: str
    comment: str
    tags: tuple[str, ...]
    question: str
    answer: str
    sources: tuple[RatedSource, ...]
    refused: str  # why the assistant refused, as it said itself
    request: str  # number of the question in the assistant's log
    settings: str  # digest of the settings in force, when the assistant sent it
    history: tuple[Turn, ...] = ()  # only what a follow-up cannot be understood without

    @property
    def week(self) -> str:
        return f"{datetime.fromisoformat(self.time):%G-W%V}"

    @property
    def space(self) -> str:
        """The space of the first source."""
        return self.sources[0].space if self.sources else NO_SPACE


def read_ratings(export: Sequence[Any], *, people: bool) -> tuple[list[Rating], list[str]]:
    """(ratings in order of time, one sentence for each entry that could not be joined).

    ``people`` keeps user ids, addresses and telephone numbers as they are.
    """
    ratings: list[Rating] = []
    faults: list[str] = []
    for entry in export:
        if not isinstance(entry, dict) or entry.get("type") != "rating":
            continue
        try:
            ratings.append(_rating(entry, people))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            faults.append(f"Rating {entry.get('id', '?')} could not be joined with its chat: {error!r}.")
    return sorted(ratings, key=lambda rating: (rating.time, rating.id)), faults


def mask(text: str) -> str:
    """``text`` without e-mail addresses and telephone numbers."""
    return _PHONE.sub("[телефон]", _EMAIL.sub("[e-mail]", text))


def _rating(entry: Mapping[str, Any], people: bool) -> Rating:
    data, meta = entry["data"], entry["meta"]
    messages: Mapping[str, Any] = entry["snapshot"]["chat"]["chat"]["history"]["messages"]
    answer = messages[meta["message_id"]]
    asked = messages[answer["parentId"]]
    hide = str if people else mask
    question = hide(_words(asked))
    ours = (answer.get("usage") or {}).get("askwiki") or {}
    score = (data.get("details") or {}).get("rating")
    return Rating(
        id=str(entry["id"]),
        time=datetime.fromtimestamp(int(entry["created_at"]), UTC).isoformat(),
        user=str(entry["user_id"]) if people else _hashed(str(entry["user_id"])),
        model=str(data.get("model_id") or meta.get("model_id") or ""),
        good=_thumb(data["rating"]),
        score=int(score) if score is not None else None,
        reason=str(data.get("reason") or ""),
        comment=hide(str(data.get("comment") or "")),
        tags=tuple(str(tag) for tag in data.get("tags") or ()),
        question=question,
        answer=_words(answer),
        sources=tuple(_source(source) for source in answer.get("sources") or ()),
        refused=str(ours.get("refused") or ""),
        request=str(ours.get("request") or ""),
        settings=str(ours.get("settings") or ""),
        history=tuple(_before(asked, messages, hide)) if leans_on_dialogue(question) else (),
    )


def _thumb(rating: object) -> bool:
    if rating not in (1, -1, "1", "-1"):
        raise ValueError(f"the rating is {rating!r}, not 1 or -1")
    return int(str(rating)) > 0


def _before(asked: Mapping[str, Any], messages: Mapping[str, Any], hide: Any) -> list[Turn]:
    """The turns above the question in its branch of the chat, oldest first."""
    turns: list[Turn] = []
    parent: Any = asked.get("parentId")
    seen: set[str] = set()
    while parent in messages and parent not in seen:
        seen.add(parent)
        message = messages[parent]
        words = _words(message)
        turns.insert(0, Turn(str(message["role"]), hide(words) if message["role"] == "user" else words))
        parent = message.get("parentId")
    return turns


def _words(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
    return str(content).strip()


def _source(source: Mapping[str, Any]) -> RatedSource:
    of = source.get("source") or {}
    named = next((item.get("name") for item in source.get("metadata") or () if item.get("name")), None)
    return RatedSource(str(named or of.get("name") or of.get("id") or ""), str(of.get("url") or ""))


def _hashed(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:HASH_DIGITS]
