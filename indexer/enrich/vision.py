"""Pictures that are diagrams become PlantUML, so that their boxes and arrows can be found and reasoned on.

What a vision model reads off a picture is marked as recovered, with a link to the picture, and stands
behind the block that shows it. Screenshots and photographs stay links.
"""

from __future__ import annotations

import base64
import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from askwiki.data import Attachment, Page
from askwiki.errors import AskWikiError, ModelError
from askwiki.llm.port import Llm, Message, Role
from askwiki.markdown.blocks import Block, parse_blocks
from askwiki.markdown.fences import fence_around
from indexer.chunking.breadcrumb import SEPARATOR
from indexer.chunking.sentences import language_of
from indexer.enrich.asking import Desk, ask_all
from indexer.enrich.cache import content_key
from indexer.enrich.pictures import Picture, guess, read_picture
from indexer.enrich.plantuml import find_source, syntax_error

ROLE: Role = "vision"
NO_DIAGRAM = "NO DIAGRAM"  # what the model says of other pictures; kept, so that it is asked once
MOST_BYTES = 8_000_000  # of a picture: servers refuse larger requests

_IMAGE = re.compile(
    r"!\[(?P<alt>(?:[^\[\]\\]++|\\.)*+)\]\("  # ![Схема \[1\]](
    r"(?:<(?P<pointed>[^<>]*+)>"  # <a picture.png>
    r"|(?P<bare>(?:[^()\s]|\([^()]*+\))++))"  # picture(1).png
    r"(?:[^()]++|\([^()]*+\))*+\)"  # "its title (old)")
)
_NOTES = {
    "ru": "*Схема восстановлена моделью с рисунка [{name}]({target}):*",
    "en": "*Diagram recovered by a model from the picture [{name}]({target}):*",
}


class _Shown(NamedTuple):
    """A picture of the page that may be a diagram, and the block that shows it."""

    name: str
    target: str
    block: Block
    picture: Picture
    data: bytes


def recover_diagrams(
    page: Page, *, desk: Desk, read: Callable[[Attachment], bytes], check: Callable[[str], str] = syntax_error
) -> Page:
    """The page with a PlantUML block behind every picture that is a diagram.

    ``read`` gives a picture's bytes, ``check`` says what is wrong with a PlantUML source. Answers are
    kept by the picture's own hash. A call that fails leaves the picture as it is and is counted.
    """
    shown = list(_pictures(page, desk, read))
    if not shown:
        return page
    language = language_of(page.markdown)
    prompt = desk.prompts.get(ROLE, language)
    terms = desk.glossary.lines(page.markdown)
    calls: dict[str, Callable[[Llm], str]] = {}
    keys = []
    for one in shown:
        keys.append(content_key(prompt.system, one.data))
        system, user = prompt.render(path=SEPARATOR.join((*page.path, page.title)), glossary=terms, name=one.name)
        calls[keys[-1]] = _call(system, user, one, desk, check)
    sources = ask_all(desk, ROLE, calls)
    found = [(one, sources.get(key, "")) for one, key in zip(shown, keys, strict=True)]
    return _inserted(page, [(one, source) for one, source in found if source not in ("", NO_DIAGRAM)], language)


def _inserted(page: Page, diagrams: Sequence[tuple[_Shown, str]], language: str) -> Page:
    """Each diagram behind the block that shows its picture, once."""
    parts: list[str] = []
    at = 0
    seen: set[str] = set()
    for one, source in diagrams:
        if one.target in seen:
            continue
        seen.add(one.target)
        before = page.markdown[at : one.block.end]
        gap = "" if not before or before.endswith("\n\n") else "\n" if before.endswith("\n") else "\n\n"
        name = re.sub(r"([\[\]\\])", r"\\\1", one.name)
        target = f"<{one.target}>" if re.search(r"[\s()]", one.target) else one.target
        mark = fence_around(source)
        parts += [before, gap, _NOTES[language].format(name=name, target=target)]
        parts.append(f"\n\n{mark}plantuml\n{source}\n{mark}\n\n")
        at = one.block.end
    return dataclasses.replace(page, markdown="".join([*parts, page.markdown[at:]])) if parts else page


def _pictures(page: Page, desk: Desk, read: Callable[[Attachment], bytes]) -> Iterator[_Shown]:
    """Pictures worth a question, in page order; those that have their diagram behind them are left out."""
    if "![" not in page.markdown:
        return
    blocks = parse_blocks(page.markdown)
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block.kind in ("fence", "code") or _is_diagram(page, following):
            continue
        for image in _IMAGE.finditer(page.markdown, block.start, block.end):
            target = image["pointed"] or image["bare"] or ""
            attachment = _attachment(page, target)
            if attachment is None or not attachment.file:
                continue
            try:
                data = read(attachment)
            except AskWikiError:
                desk.counters.add("vision.unreadable")
                continue
            picture = read_picture(data) if len(data) <= MOST_BYTES else None
            if picture and guess(attachment.name, image["alt"], picture) != "other":
                yield _Shown(attachment.name, target, block, picture, data)


def _is_diagram(page: Page, block: Block | None) -> bool:
    opening = page.markdown[block.start : block.end].lstrip() if block and block.kind == "fence" else ""
    return opening.lstrip("`~ ").startswith(("plantuml", "mermaid", "puml"))


def _attachment(page: Page, target: str) -> Attachment | None:
    name = unquote(target.partition("?")[0].rpartition("/")[2])
    same = [one for one in page.attachments if one.url == target]
    return next(iter(same or [one for one in page.attachments if one.name == name]), None)


def _call(system: str, user: str, one: _Shown, desk: Desk, check: Callable[[str], str]) -> Callable[[Llm], str]:
    image = f"data:{one.picture.media_type};base64,{base64.b64encode(one.data).decode()}"
    asked = (Message("system", system), Message("user", user, (image,)))

    def call(llm: Llm) -> str:
        reply = llm.complete(ROLE, asked).text
        source, fault = _read_reply(reply, check)
        if fault:
            desk.counters.add("vision.calls")
            again = (*asked, Message("assistant", reply), Message("user", fault))
            source, fault = _read_reply(llm.complete(ROLE, again).text, check)
            if fault:
                raise ModelError(f"The picture {one.name} could not be turned into PlantUML: {fault}")
            desk.counters.add("vision.repaired")
        return source

    return call


def _read_reply(reply: str, check: Callable[[str], str]) -> tuple[str, str]:
    """(source, what is wrong with it)."""
    source = find_source(reply)
    if not source and NO_DIAGRAM in reply.upper():
        return NO_DIAGRAM, ""
    return source, check(source)
