"""What a chunk is about and where in the page it stands, in a few sentences: the second dense vector.

A language model writes it from the page and the chunk (Anthropic, "Introducing Contextual Retrieval", 2024). Where
one of its calls fails, a template stands in: path, neighbouring headings and the first sentence. Without a model there
is none: as a vector the template found no answer more (docs/measurements.md) and took a tenth of the disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from askwiki.data import Chunk, Page
from askwiki.llm.port import Llm, Message, Role
from askwiki.markdown.blocks import parse_blocks
from askwiki.markdown.plain_text import plain_text
from askwiki.settings import ContextSettings
from indexer.chunking.breadcrumb import SEPARATOR, breadcrumb
from indexer.chunking.chunks import with_context
from indexer.chunking.sections import plain
from indexer.chunking.sentences import language_of, sentence_ends, word_ends
from indexer.chunking.token_limit import Count
from indexer.enrich.asking import Counters, Desk, ask_all
from indexer.enrich.cache import content_key

ROLE: Role = "context"
SENTENCE_CHARACTERS = 300  # of the template's first sentence
OUTLINE_CHARACTERS = 4000  # of the headings that stand in for a page longer than the window

_PICTURE = re.compile(r"\[?!\[[^\[\]\n]*\]\([^()\n]*\)(?:\]\([^()\n]*\))?|</?(?:a|p|br|div|img)\b[^<>\n]*>")
_TEMPLATES = {
    "ru": ("{way}.", " После раздела «{0}».", " Перед разделом «{0}».", " Часть {0} из {1}.", " {0}"),
    "en": ("{way}.", " After the section “{0}”.", " Before the section “{0}”.", " Part {0} of {1}.", " {0}"),
}


def describe(
    page: Page, chunks: Sequence[Chunk], *, desk: Desk, settings: ContextSettings, count: Count, limit: int
) -> list[Chunk]:
    """The chunks with their contexts, none longer than ``limit`` tokens; without a model they are empty.

    The LLM's words are kept by the content they were written from (chunk, its place, the page's
    headings), so that a second run and an edit elsewhere on the page call nothing. They stay when only
    the model changes; deleting the cache has them written anew.
    """
    if desk.llm is None or not settings.llm:
        return [with_context(chunk, "") for chunk in chunks]
    language = language_of(page.markdown)
    templates = [template(chunk, before, after, language) for chunk, before, after in _neighbours(chunks)]
    written = _written(page, chunks, desk, settings.window, language)
    contexts = [words or fallback for words, fallback in zip(written, templates, strict=True)]
    contexts = _shortened(contexts, count, limit, language, desk.counters)
    return [with_context(chunk, context) for chunk, context in zip(chunks, contexts, strict=True)]


def template(chunk: Chunk, before: Chunk | None, after: Chunk | None, language: str) -> str:
    """Path, neighbouring headings and the first sentence."""
    way, previous, following, part, text = _TEMPLATES[language]
    words = way.format(way=breadcrumb(chunk.path, chunk.title, chunk.headings))
    if chunk.parts > 1:
        words += part.format(chunk.part, chunk.parts)
    if before and before.headings and before.headings != chunk.headings:
        words += previous.format(before.headings[-1])
    if after and after.headings and after.headings != chunk.headings:
        words += following.format(after.headings[-1])
    if sentence := _first_sentence(chunk.text[chunk.overlap :], language):
        words += text.format(sentence)
    return words


def _neighbours(chunks: Sequence[Chunk]) -> list[tuple[Chunk, Chunk | None, Chunk | None]]:
    return list(zip(chunks, [None, *chunks[:-1]], [*chunks[1:], None], strict=True))


def _first_sentence(text: str, language: str) -> str:
    for block in parse_blocks(text):
        if block.kind in ("heading", "rule"):
            continue
        if words := plain(plain_text(text[block.start : block.end])):
            end = sentence_ends(words, language)[0]
            return words[: word_ends(words[:end], SENTENCE_CHARACTERS)[0]].strip()
    return ""


def _written(page: Page, chunks: Sequence[Chunk], desk: Desk, window: int, language: str) -> list[str]:
    """The LLM's context of each chunk, empty where there is none."""
    prompt = desk.prompts.get("context", language)
    outline = page_outline(chunks)
    way = breadcrumb(page.path, page.title, ())
    terms = desk.glossary.lines(f"{page.title}\n{page.markdown}")
    keys: list[str] = []
    calls: dict[str, Callable[[Llm], str]] = {}
    at = 0
    for chunk in chunks:
        own = chunk.text[chunk.overlap :]
        headings = SEPARATOR.join(chunk.headings)
        keys.append(
            content_key(
                f"{prompt.system}{prompt.user}{prompt.domain}",
                way,
                outline,
                headings,
                desk.glossary.lines(chunk.text),
                chunk.text,
            )
        )
        if says_something(own):
            system, user = prompt.render(
                path=way,
                page=page_window(page, outline, at + len(own) // 2, window),
                glossary=terms,
                headings=headings,
                chunk=chunk.text,
            )
            calls[keys[-1]] = _call(system, user)
        at += len(own)
    written = ask_all(desk, ROLE, calls)
    return [written.get(key, "") for key in keys]


def says_something(text: str) -> bool:
    """Whether it has words beside headings and pictures: a model that sees none can say nothing of a picture."""
    blocks = (block for block in parse_blocks(text) if block.kind not in ("heading", "rule"))
    return any(_PICTURE.sub("", text[block.start : block.end]).strip() for block in blocks)


def _call(system: str, user: str) -> Callable[[Llm], str]:
    messages = (Message("system", system), Message("user", user))
    return lambda llm: " ".join(llm.complete(ROLE, messages).text.split())


def page_outline(chunks: Sequence[Chunk]) -> str:
    """The page's headings in order, one a line, each once."""
    ways = dict.fromkeys(SEPARATOR.join(chunk.headings) for chunk in chunks if chunk.headings)
    return "\n".join(ways)


def page_window(page: Page, outline: str, middle: int, window: int) -> str:
    """The page, or its outline and the ``window`` characters around ``middle`` when it is longer.

    Windows begin at fixed steps, so that neighbouring chunks share the beginning of their prompts.
    """
    if len(page.markdown) <= window:
        return page.markdown
    step = max(window // 2, 1)
    start = max(0, middle // step * step - window // 4)
    return f"{outline[:OUTLINE_CHARACTERS]}\n\n[…]\n\n{page.markdown[start : start + window]}\n\n[…]"


def _shortened(contexts: list[str], count: Count, limit: int, language: str, counters: Counters) -> list[str]:
    """Cut at a sentence's end, else between words, until each fits."""
    shorter = list(contexts)
    over = [number for number, tokens in enumerate(count(contexts)) if tokens > limit]
    counters.add("context.shortened", len(over))
    while over:
        for number in over:
            shorter[number] = _half_or_sentence_less(shorter[number], language)
        counted = count([shorter[number] for number in over])
        over = [number for number, tokens in zip(over, counted, strict=True) if tokens > limit and shorter[number]]
    return shorter


def _half_or_sentence_less(context: str, language: str) -> str:
    ends = sentence_ends(context, language)
    if len(ends) > 1 and ends[-2] > len(context) // 2:
        return context[: ends[-2]].rstrip()
    return context[: word_ends(context, max(len(context) * 3 // 4, 1))[0]].rstrip() if len(context) > 1 else ""
