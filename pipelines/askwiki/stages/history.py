"""An earlier answer comes back only while the person may read what it was made of.

What was said stays in the chat, also when rights were taken since. So that it does not reach a prompt
again, an answer counts only if every page in its list of links is still visible; an answer whose list
cannot be read counts only for who may read all that is in the index.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from urllib.parse import unquote

from askwiki.access.rights_age import current_rights
from askwiki.data import Identity, Rights, Turn
from askwiki.errors import StoreError
from askwiki.settings import AccessSettings
from askwiki.stages.dialogue import source_list
from askwiki.store.port import Reader

logger = logging.getLogger(__name__)

_ITEM = re.compile(r"\s*(?:\d+\.|-) ")
_LINK = re.compile(r"\]\(<?(?P<url>[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?\)")
_OF_LETTERS = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")  # escapes that a link adds to letters of other alphabets


def still_readable(
    turns: Sequence[Turn], identity: Identity, *, reader: Reader, settings: AccessSettings
) -> tuple[Turn, ...]:
    """The dialogue without what this person may not read; without any answer while the store cannot say."""
    if not any(turn.role == "assistant" for turn in turns):
        return tuple(turns)
    try:
        return readable(turns, current_rights(identity, reader, settings), reader=reader)
    except StoreError as error:
        logger.warning("history: earlier answers are left out: %s", error)
        return tuple(turn for turn in turns if turn.role != "assistant")


def readable(turns: Sequence[Turn], rights: Rights, *, reader: Reader) -> tuple[Turn, ...]:
    """The dialogue without answers that the person could not get any more."""
    linked = {place: links(turn.content) for place, turn in enumerate(turns) if turn.role == "assistant"}
    asked = {form for found in linked.values() for url in found for form in _forms(url)}
    visible = reader.visible_urls(asked, rights) if asked else frozenset()
    sees_all = not all(linked.values()) and rights.sources is None and rights.keys >= reader.conjunctions().keys()
    hidden = {
        place
        for place, found in linked.items()
        if not (sees_all if not found else all(any(form in visible for form in _forms(url)) for url in found))
    }
    return tuple(turn for place, turn in enumerate(turns) if place not in hidden)


def links(answer: str) -> frozenset[str]:
    """The addresses in the list that an answer of ours ends with; none when one of its lines has no address."""
    items = [line for line in source_list(answer).splitlines() if _ITEM.match(line)]
    found = [_LINK.search(line) for line in items]
    return frozenset(match["url"] for match in found if match) if all(found) else frozenset()


def _forms(url: str) -> tuple[str, ...]:
    """How the index may have written the address that a link shows."""
    return url, _OF_LETTERS.sub(lambda match: unquote(match.group()), url), unquote(url)
