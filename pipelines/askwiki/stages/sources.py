"""The links of an answer: events before the text, the list after it. Made by code, never by a model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from askwiki.data import Chunk, Passage, Source
from askwiki.stages.citations.cited import WINDOW, shown_part
from askwiki.stages.citations.links import escape, link
from askwiki.texts import Texts

DAYS_OF_MONTH, DAYS_OF_YEAR = 30.44, 365.25


def source_of(passage: Passage) -> Source:
    """A passage as the chat shows it; its id names the page without being an address."""
    return Source(
        number=passage.number,
        id=f"wiki-{passage.number}-{passage.page_id}",
        title=label_of(passage),
        url=passage.url,
        text=shown_part(passage.text, passage.cited_for, WINDOW),
        updated=passage.updated,
        score=passage.score,
    )


def label_of(place: Passage | Chunk) -> str:
    """«Title › Heading»; a heading that repeats the title says nothing."""
    heading = place.headings[-1] if place.headings else ""
    return place.title if heading in ("", place.title) else f"{place.title} › {heading}"


def source_list(passages: Sequence[Passage], *, title: str, texts: Texts, language: str, now: datetime) -> str:
    """``1. [Title › Heading](url) · updated …`` under a bold line; the numbers are those of the text."""
    if not passages:
        return ""
    lines = [_line(passage, texts, language, now) for passage in passages]
    return "\n\n" + f"**{title}**\n\n" + "\n".join(lines)


def link_list(passages: Sequence[Passage], *, texts: Texts, language: str, now: datetime) -> str:
    """The same links without numbers, for pages that are near but do not answer."""
    return "\n".join("- " + _line(passage, texts, language, now).split(" ", 1)[1] for passage in passages)


def _line(passage: Passage, texts: Texts, language: str, now: datetime) -> str:
    further = (each for each in passage.also if each.url != passage.url)
    sections = [link((each.headings or (each.title,))[-1], each.url) for each in further]
    label = ", ".join((link(label_of(passage), passage.url), *dict.fromkeys(sections)))
    if not label.startswith("["):
        label += f" ({escape(' / '.join(passage.path))})" if passage.path else ""  # then the way is what leads there
    told = [age_of(passage.updated, texts, language, now)]
    told += [texts.say("is_comment", language)] if passage.content == "comments" else []
    told += [texts.say(f"state_{passage.state}", language)] if passage.state else []
    return " · ".join((f"{passage.number}. {label}", *filter(None, told)))


def age_of(updated: str, texts: Texts, language: str, now: datetime) -> str:
    """«обновлено 3 мес. назад»; empty when the date is not known."""
    try:
        then = datetime.fromisoformat(updated)
    except ValueError:
        return ""
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    days = (now - then).total_seconds() / 86_400
    if days < 1:
        return texts.say("updated_today", language)
    if days < 2 * DAYS_OF_MONTH:
        return texts.say("updated_days", language, count=int(days))
    if days < 2 * DAYS_OF_YEAR:
        return texts.say("updated_months", language, count=int(days / DAYS_OF_MONTH))
    return texts.say("updated_years", language, count=int(days / DAYS_OF_YEAR))
