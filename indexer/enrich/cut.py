"""A language model chooses where complete thoughts end; it never says what the text is.

It reads a section as numbered sentences and blocks and returns numbers. The code cuts, so that no
letter can change; what it cannot use it mends or leaves to the rule cut, and counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from askwiki.data import Page
from askwiki.errors import ModelError
from askwiki.llm.port import Llm, Message, Role
from askwiki.markdown.blocks import blocks_of_part, parse_blocks
from indexer.chunking.breadcrumb import breadcrumb
from indexer.chunking.cuts import PageSpan, Thought
from indexer.chunking.sentences import language_of
from indexer.chunking.units import INTRODUCTION, PageUnit, number_units
from indexer.enrich.asking import Desk, ask_all
from indexer.enrich.cache import content_key

ROLE: Role = "cut"
SENTENCES = 10  # a thought has 5 to 10: a shorter section is one already
LEAST_CHARACTERS = 120  # of a thought; a shorter one is read with the one before it
PROMPT_CHARACTERS = 16_000  # of numbered text in one call: models lose count in longer ones

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "ends": {"type": "array", "items": {"type": "integer"}},
        "screens": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["ends", "screens"],
    "additionalProperties": False,
}


def cut_by_meaning(page: Page, spans: Sequence[PageSpan], *, desk: Desk) -> list[list[Thought]]:
    """The thoughts of every span in order, the last one ending where the span ends.

    All calls of the page run in parallel. A call that fails leaves its text in one piece, for the rule.
    """
    if not page.markdown:
        return [[Thought(span.end)] for span in spans]
    prompt = desk.prompts.get(ROLE, language_of(page.markdown))
    blocks = parse_blocks(page.markdown)
    batches: list[list[tuple[str, list[PageUnit]]]] = []
    calls: dict[str, Callable[[Llm], str]] = {}
    for span in spans:
        batches.append([])
        units = number_units(page.markdown, blocks_of_part(page.markdown, blocks, span.start, span.end))
        for batch in _batches(units) if len(units) > SENTENCES else [units]:
            text = "\n".join(
                f"[{number}] {page.markdown[unit.start : unit.end].strip()}" for number, unit in enumerate(batch, 1)
            )
            terms = desk.glossary.lines(text)
            way = breadcrumb(page.path, page.title, span.headings)
            key = content_key(prompt.system, prompt.user, prompt.domain, way, terms, text)
            batches[-1].append((key, batch))
            if len(batch) > SENTENCES:
                system, user = prompt.render(path=way, glossary=terms, text=text)
                calls[key] = _call(system, user, batch, desk)
    answers = ask_all(desk, ROLE, calls)
    return [[thought for key, batch in some for thought in _thoughts(answers.get(key, ""), batch)] for some in batches]


def _batches(units: Sequence[PageUnit]) -> list[list[PageUnit]]:
    """Stretches that fit into one call."""
    batches: list[list[PageUnit]] = [[]]
    characters = 0
    for unit in units:
        length = unit.end - unit.start
        if batches[-1] and characters + length > PROMPT_CHARACTERS and unit.price < INTRODUCTION:
            batches.append([])
            characters = 0
        batches[-1].append(unit)
        characters += length
    return batches


def _call(system: str, user: str, units: list[PageUnit], desk: Desk) -> Callable[[Llm], str]:
    messages = (Message("system", system), Message("user", user))

    def call(llm: Llm) -> str:
        said = llm.decide(ROLE, messages, SCHEMA)
        ends, screens = mend(said, units)
        if not ends:
            raise ModelError("The model named no border that the text has.")
        desk.counters.add("cut.repaired", ends != said["ends"])
        return json.dumps({"ends": ends, "screens": screens})

    return call


def mend(said: dict[str, Any], units: Sequence[PageUnit]) -> tuple[list[int], list[int]]:
    """(ends, screens) that hold: in range, in order, the last one the last; nothing usable = no ends.

    No thought ends after a heading or after "as follows:", and none is a scrap.
    """
    count = len(units)
    named = sorted({end for end in said["ends"] if 1 <= end <= count})
    if not named:
        return [], []
    ends: list[int] = []
    start = 0
    for end in dict.fromkeys([*named, count]):
        last = end == count
        tied = not last and units[end].price >= INTRODUCTION
        scrap = units[end - 1].end - units[start].start < LEAST_CHARACTERS
        if scrap and last and ends:
            ends[-1] = count
        elif last or not (tied or scrap):
            ends.append(end)
            start = end
    screens = [end for begin, end in pairwise([0, *ends]) if any(begin < screen <= end for screen in said["screens"])]
    return ends, screens


def _thoughts(answer: str, units: Sequence[PageUnit]) -> list[Thought]:
    if not answer:
        return [Thought(units[-1].end)]
    said = json.loads(answer)
    return [Thought(units[end - 1].end, end in said["screens"]) for end in said["ends"]]
