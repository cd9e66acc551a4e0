"""What of a source reached its Markdown: each thing and each word is looked for there, whoever says it was written.

A thing is accounted for when it is found in the Markdown, or when the conversion said what stands for it (a mark) or
why it is left out. A word is lost when the Markdown has it less often and no other division of its letters is left.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lxml.etree import _Element

from askwiki.data import Count, Loss
from indexer.confluence.measure.source import MeasuredBody
from indexer.confluence.parse.text import clean
from indexer.confluence.render.macro import attribute
from indexer.confluence.render.markdown import Renderer, tag_name

WORD = re.compile(r"[^\W_]+")
NOT_LETTERS = re.compile(r"[\W_]+")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
DESTINATION = re.compile(r"\]\(([^()\s]*+)\)")
BOX = re.compile(r"\[[ x]\] ")
SQUEEZED = re.compile(r"<br>|[\s`\\|>]+")
NAMES = {
    "cards": "card", "cells": "cell", "code": "code", "extensions": "macro", "images": "image", "links": "link",
    "macros": "macro", "plantuml": "plantuml", "signs": "sign", "tables": "table", "tasks": "task",
}  # fmt: skip
LONGEST_NAME = 60  # characters of a thing that is named in a loss


def measure(source: MeasuredBody, renderer: Renderer, markdown: str) -> tuple[tuple[Count, ...], tuple[Loss, ...]]:
    """Counts of source against Markdown, and what is in neither way accounted for."""
    arrived = Arrived(markdown)
    counts: list[Count] = []
    losses: list[Loss] = []
    for kind, nodes in sorted(source.things.items()):
        if kind == "rows":
            counts.append(Count(kind, len(nodes), min(renderer.made[kind], len(nodes))))
            continue
        told = {node: renderer.accounts[kind, node] for node in nodes if (kind, node) in renderer.accounts}
        found = arrived.found(kind, [one.said for one in told.values() if one.how == "shown"])
        marked = arrived.told([one.said for one in told.values() if one.how == "marked"])
        dropped = sum(one.how == "dropped" for one in told.values())
        counts.append(Count(kind, len(nodes), found, marked, dropped))
        if missing := len(nodes) - found - marked - dropped:
            unnamed = [_name(node) for node in nodes if node not in told]
            losses.append(
                Loss(NAMES[kind], ", ".join(dict.fromkeys(unnamed))[:LONGEST_NAME], missing, "not accounted for")
            )
    words = WORD.findall(clean(source.text))
    lost = lost_words(words, markdown)
    letters = sum(map(len, words))
    gone = sum(len(word) * times for word, times in lost.items())
    counts.append(Count("characters", letters, letters - gone))
    if gone:
        losses.append(Loss("text", "characters", gone, ", ".join(list(lost)[:8])))
    return tuple(counts), tuple(losses)


class Arrived:
    """The things that a Markdown text holds, found by its own marks."""

    def __init__(self, markdown: str) -> None:
        self._markdown = markdown
        self._destinations = Counter(DESTINATION.findall(markdown))
        self._boxes = len(BOX.findall(markdown))
        self._letters = NOT_LETTERS.sub("", clean(markdown))
        self._squeezed = SQUEEZED.sub("", markdown)

    def found(self, kind: str, said: Sequence[str]) -> int:
        """How many of the things that were written as ``said`` are there."""
        if kind in ("links", "cards", "images"):
            return self._led(said)
        if kind == "tasks":
            return min(len(said), self._boxes)
        if kind in ("code", "plantuml", "signs"):
            return self._count(self._squeezed, (SQUEEZED.sub("", text) for text in said))
        return self.told(said)

    def told(self, said: Iterable[str]) -> int:
        """How many of these texts are there, by their letters; one without any needs nothing to stand there."""
        return self._count(self._letters, (NOT_LETTERS.sub("", clean(text)) for text in said))

    def _count(self, markdown: str, said: Iterable[str]) -> int:
        wanted = Counter(said)
        return sum(min(times, markdown.count(text)) if text else times for text, times in wanted.items())

    def _led(self, said: Iterable[str]) -> int:
        found = 0
        for url, times in Counter(said).items():
            there = self._destinations[url]
            if there < times:  # an address that is its own text stands alone
                there += self._markdown.count(url) - there
            found += min(times, there)
        return found


def lost_words(words: Sequence[str], markdown: str) -> Counter[str]:
    """Those of the source that the Markdown does not have, with how many times they are missing."""
    plain = clean(ESCAPE.sub(r"\1", markdown))
    found = Counter(WORD.findall(plain))
    wanted = Counter(words)
    rare = Counter({word: times - found[word] for word, times in wanted.items() if times > found[word]})
    if not rare:
        return rare
    # Markup divides a word, or joins two: then pieces of other lengths are left over in the Markdown.
    left = Counter({word: times - wanted[word] for word, times in found.items() if times > wanted[word]})
    run = NOT_LETTERS.sub("", plain)
    return Counter({word: times for word, times in rare.items() if not _divided(word, left, run)})


def _divided(word: str, left: Mapping[str, int], run: str) -> bool:
    """Whether the word stands there in pieces that are left over, or as a piece of a longer word that is."""
    if word not in run:
        return False
    if any(word in longer for longer in left):
        return True
    pieces = [piece for piece in left if piece in word]
    ends = {0}  # places up to which the word is made of pieces
    for start in range(len(word)):
        if start in ends:
            ends |= {start + len(piece) for piece in pieces if word.startswith(piece, start)}
    return len(word) in ends


def _name(node: _Element) -> str:
    name = attribute(node, "name") if tag_name(node).startswith("ac:") else ""
    target = node.get("href") or node.get("src") or ""
    return name or target or " ".join("".join(node.itertext()).split())[:LONGEST_NAME] or tag_name(node)
