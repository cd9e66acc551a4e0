"""How much of a page's source reached its Markdown, counted apart from the conversion that is measured.

The visible words of the source are gathered by a walk of its own; a word is lost when the Markdown
has it less often and its letters do not stand there in another division either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml.etree import _Element

from askwiki.data import Count, Loss
from indexer.confluence.parse.placeholders import TELLING, is_unloaded, says_unexported
from indexer.confluence.parse.text import clean
from indexer.confluence.render.formulas import DRAWINGS
from indexer.confluence.render.macro import CONTROLS, DROPPED_CLASSES, PLANTUML, attribute
from indexer.confluence.render.markdown import Renderer, tag_name

WORD = re.compile(r"[^\W_]+")
NOT_LETTERS = re.compile(r"[\W_]+")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
# Never shown to a reader, or shown as something else than their text.
INVISIBLE = frozenset(
    {"ac:parameter", "ac:default-parameter", "ac:placeholder", "ac:task-id", "ac:task-uuid", "ac:task-status"}
    | {"ac:adf-attribute", "ac:adf-fallback", "ac:emoticon", "time", "script", "style", "svg", "head", "title"}
    | {"noscript", "button", "select", "math"}
)
INVISIBLE_CLASSES = frozenset({*DROPPED_CLASSES, *DRAWINGS, "error", "issue-placeholder", "confluence-embedded-file"})
COUNTED = frozenset(
    {"table", "tr", "ac:structured-macro", "ac:macro", "pre", "script", "a", "ac:link", "ac:image", "img"}
)
CODE = ("code", "noformat")
RECODED_PARTS = ("plantuml", "html")  # in the names that other vendors give them
NOT_SHOWN = frozenset({*PLANTUML, *CONTROLS})  # macros whose rendering is a picture or no content of the page
RECODED = (*PLANTUML, "html")  # their bodies may be JSON or markup, which is not what a reader sees


@dataclass(frozen=True, slots=True)
class MeasuredBody:
    """What a body holds: constructs by kind, and its visible text."""

    constructs: Counter[str]
    text: str


def measure(source: MeasuredBody, renderer: Renderer, markdown: str) -> tuple[tuple[Count, ...], tuple[Loss, ...]]:
    """Counts of source against Markdown, and the loss of text if there is one."""
    constructs, words = source.constructs, WORD.findall(clean(source.text))
    lost = lost_words(words, markdown)
    letters = sum(map(len, words))
    gone = sum(len(word) * times for word, times in lost.items())
    counts = [Count(kind, constructs[kind], min(renderer.made[kind], constructs[kind])) for kind in sorted(constructs)]
    counts.append(Count("characters", letters, letters - gone))
    sample = ", ".join(list(lost)[:8])
    return tuple(counts), (Loss("text", "characters", gone, sample),) if gone else ()


def lost_words(words: Sequence[str], markdown: str) -> Counter[str]:
    """Those of the source that the Markdown does not have, with how many times they are missing."""
    plain = clean(ESCAPE.sub(r"\1", markdown))
    found = Counter(WORD.findall(plain))
    rare = Counter({word: times - found[word] for word, times in Counter(words).items() if times > found[word]})
    if not rare:
        return rare
    run = NOT_LETTERS.sub("", plain)
    return Counter({word: times for word, times in rare.items() if word not in run})


def look(body: _Element) -> MeasuredBody:
    """Count constructs and gather the visible text, without recursion: a page may be nested deeply."""
    source: Counter[str] = Counter()
    texts: list[str] = []
    waiting: list[_Element | str] = [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            if len(node) > TELLING or not says_unexported(node):
                texts.append(node)
            continue
        if not isinstance(node.tag, str):
            continue
        name = tag_name(node)
        macro = node.get("data-macro-name")
        if macro or name in COUNTED:
            source.update(_kinds(node, name, macro))
        if name in INVISIBLE or macro in NOT_SHOWN or _hidden(node, name):
            continue
        inside: list[_Element | str] = [node.text] if node.text else []
        for child in node:
            inside.append(child)
            if child.tail:
                inside.append(child.tail)
        waiting += reversed(inside)
    return MeasuredBody(source, " ".join(texts))


def _hidden(node: _Element, name: str) -> bool:
    if name in ("ac:structured-macro", "ac:macro"):
        macro = attribute(node, "name")
        return macro in RECODED or any(part in macro for part in RECODED_PARTS)
    classes = (node.get("class") or "").split()
    if "summary" in classes:
        above = next((one for one in node.iterancestors() if "jira-issue" in (one.get("class") or "").split()), None)
        return above is not None and is_unloaded(above)
    return not INVISIBLE_CLASSES.isdisjoint(classes)


def _kinds(node: _Element, name: str, rendered: str | None) -> Iterator[str]:
    if name == "table":
        yield "tables"
    elif name == "tr":
        yield "rows"
    elif name in ("ac:structured-macro", "ac:macro"):
        yield "macros"
        macro = attribute(node, "name")
        if macro in CODE:
            yield "code"
        elif macro in PLANTUML:
            yield "plantuml"
    elif rendered in PLANTUML:
        yield "plantuml"
    elif name == "pre" or (name == "script" and node.get("type") == "syntaxhighlighter"):
        yield "code"
    elif (name == "a" and _shown_link(node)) or (name == "ac:link" and _leads_somewhere(node)):
        yield "links"
    elif name == "ac:image" or (name == "img" and _shown_picture(node)):
        yield "images"


def _shown_link(node: _Element) -> bool:
    """An address with something to click on; names of people are no links of ours."""
    href = (node.get("href") or "").strip()
    nowhere = any(word in (node.get("class") or "") for word in ("confluence-userlink", "unresolved", "createlink"))
    return bool(href) and not nowhere and (len(node) > 0 or bool((node.text or "").strip()) or href.startswith("http"))


def _shown_picture(node: _Element) -> bool:
    source = node.get("src") or ""
    return "emoticon" not in (node.get("class") or "") and bool(source) and "images/icons/" not in source


def _leads_somewhere(node: _Element) -> bool:
    return any(
        isinstance(child.tag, str) and tag_name(child) in ("ri:page", "ri:attachment", "ri:url") for child in node
    )
