"""What to ask next, for Open WebUI's suggestions below an answer: sections beside those that the answer cites.

No model: a suggestion is a heading of a cited page with the page's title before it, and it is made only when the
search, asked with it for this very person, finds that page among the first. So each one can be answered.
"""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Iterator, Sequence

from askwiki.access.rights_age import current_rights
from askwiki.data import Chunk, Identity, Turn
from askwiki.flow.ask import retrieve
from askwiki.kit import Kit
from askwiki.markdown.blocks import parse_blocks
from askwiki.markdown.plain_text import plain_text
from askwiki.settings import Settings
from askwiki.stages.citations.links import goal
from askwiki.stages.passages.spans import join_texts
from askwiki.stages.refusal import would_refuse

MOST_TRIED = 8  # headings put to the search, 0.1 s each
NEAR = 5  # the page must be among so many first chunks
LONGEST = 120  # characters of a suggestion: it stands on one line
_SPEAKER = re.compile(r"^(USER|ASSISTANT):[ \t]*", re.MULTILINE)


def follow_ups(
    prompt: str, identity: Identity, *, kit: Kit, settings: Settings, cancel: threading.Event
) -> tuple[str, ...]:
    """At most ``answer.follow_ups`` suggestions after the dialogue that ``prompt`` quotes; none after a refusal.

    Raises what the search raises.
    """
    turns = quoted_turns(prompt)
    if not settings.answer.follow_ups or not any(turn.role == "user" for turn in turns) or turns[-1].role == "user":
        return ()
    alone = dataclasses.replace(kit, llm=None)

    def search(said: Sequence[Turn]) -> tuple[list[Chunk], bool]:
        """What is found, and whether it would be quoted."""
        trace = retrieve(said, identity, kit=alone, settings=settings, cancel=cancel)
        refused = would_refuse(trace.confidence, trace.gated, trace.question, settings.answer)
        return [candidate.chunk for candidate in trace.gated], not refused

    found, _ = search(turns[:-1])
    cited = [chunk for chunk in found if chunk.url and goal(chunk.url) in turns[-1].content]
    told = {turn.content.casefold() for turn in turns}
    suggested: list[str] = []
    tries = 0
    for page, heading in _beside(cited, identity, kit, settings):
        said = heading if heading.endswith("?") else f"{page.title}: {_uncapitalised(heading)}"
        if len(said) > LONGEST or said.casefold() in told or said in suggested:
            continue
        tries += 1
        chunks, good = search((Turn("user", said),))
        if good and page.page_id in {chunk.page_id for chunk in chunks[:NEAR]}:
            suggested.append(said)
        if len(suggested) == settings.answer.follow_ups or tries == MOST_TRIED:
            break
    return tuple(suggested)


def quoted_turns(prompt: str) -> tuple[Turn, ...]:
    """The dialogue that Open WebUI's instruction quotes, as ``USER: …`` and ``ASSISTANT: …``."""
    _, found, quoted = prompt.partition("<chat_history>")
    quoted, closed, _ = quoted.rpartition("</chat_history>")
    if not found or not closed:
        return ()
    _, *parts = _SPEAKER.split(quoted)
    return tuple(Turn(who.lower(), said.strip()) for who, said in zip(parts[::2], parts[1::2], strict=True))


def _beside(cited: Sequence[Chunk], identity: Identity, kit: Kit, settings: Settings) -> Iterator[tuple[Chunk, str]]:
    """Headings of the cited pages, page by page: those nearest to a cited section first, cited ones left out."""
    rights = current_rights(identity, kit.reader, settings.access)
    pages = list(dict.fromkeys(chunk.page_id for chunk in cited))
    held = kit.reader.chunks_of(pages, rights)
    for page_id in pages:
        chunks = held.get(page_id, [])
        blocks = parse_blocks(join_texts(chunks)) if chunks else []
        headings = [plain_text(block.title).strip() for block in blocks if block.kind == "heading"]
        shown = {heading for chunk in cited if chunk.page_id == page_id for heading in chunk.headings[-1:]}
        places = [place for place, heading in enumerate(headings) if heading in shown] or [0]
        order = sorted(range(len(headings)), key=lambda place: min(abs(place - other) for other in places))
        for place in order:
            if headings[place] and headings[place] not in shown and headings[place] != chunks[0].title:
                yield chunks[0], headings[place]


def _uncapitalised(heading: str) -> str:
    """With a small first letter, unless the first word is a name or an abbreviation as far as its letters tell."""
    return heading if heading[1:2].isupper() else heading[:1].lower() + heading[1:]
