"""Sentence-passage pairs, honest and broken, made by script from a wiki's pages: do markers stand right?

Each pair is an answer of one sentence with its markers, put through the gate that every answer passes. Pages are
divided once by the hash of their name: one half to look at while rules are written, the other only to measure.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from askwiki.language.stems import telling_stems
from askwiki.markdown.plain_text import plain_text
from tests.bench import support_changes as changes

SECTION = 1_800  # characters of a passage, about; whole paragraphs
LEAST_WORDS, MOST_WORDS = 5, 40  # telling words of a sentence that is made a pair of
MOST_SENTENCES = 4  # of a passage, of which all kinds are made; numbers and names are changed in all of them
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[А-ЯЁA-Z«])")
_CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Pair:
    """``answer`` holds markers; ``right`` = those that should stay, by passage number."""

    kind: str
    answer: str
    passages: Mapping[int, str]
    right: frozenset[int]
    page: str
    title: str = ""
    question: str = ""

    @property
    def held_out(self) -> bool:
        return held_out(self.page)


def held_out(page: str) -> bool:
    return hashlib.sha256(page.encode()).digest()[0] % 2 == 1


def sections_of(markdown: str) -> list[str]:
    """A page in passages of about ``SECTION`` characters, cut at empty lines."""
    found, held = [], ""
    for block in re.split(r"\n\n+", re.sub(r"(?s)\A---\n.*?\n---\n|```.*?```", "", markdown)):
        if held and (len(held) + len(block) > SECTION or (block.startswith("#") and len(held) > SECTION / 3)):
            found.append(held)
            held = ""
        held += f"{block}\n\n"
    return [*found, held] if held.strip() else found


def sentences_of(section: str) -> list[str]:
    """Prose sentences of a passage that say enough to be cited."""
    blocks = re.split(r"\n(?:[ >]*\n|(?=[ >]*(?:[-*|#]|\d+\.)))", section)
    lines = [" ".join(plain_text(block).split()).lstrip("> -*") for block in blocks if "|" not in block]
    found = [sentence for line in lines for sentence in _SENTENCE.split(re.sub(r"\A\d+\. ", "", line))]
    found = [one for one in found if re.match(r"[А-ЯЁA-Z«]", one) and not re.search(r"https?:|\]\(|\[[^\]]*\]:", one)]
    return [one for one in found if one.endswith(".") and LEAST_WORDS <= len(telling_stems(one)) <= MOST_WORDS]


def rows_of(section: str) -> Iterator[str]:
    """Rows of tables as a model tells them: the row's name, then what stands in the other columns."""
    head: list[str] = []
    for line in section.split("\n"):
        cells = [" ".join(plain_text(cell).split()) for cell in _CELL.split(line.strip())[1:-1]]
        if not line.strip().startswith("|") or not any(cells):
            head = []
        elif not head:
            head = cells
        elif not set("".join(cells)) <= set(":- ") and len(cells) == len(head) and cells[0]:
            told = [f"{name} — {cell}" for name, cell in zip(head[1:], cells[1:], strict=True) if name and cell]
            sentence = f"{cells[0]}: {', '.join(told)}."
            if told and LEAST_WORDS <= len(telling_stems(sentence)) <= MOST_WORDS and "http" not in sentence:
                yield sentence


def pairs_of(pages: Mapping[str, str]) -> Iterator[Pair]:
    """Pairs of all kinds of every page; the same pages give the same pairs."""
    texts = {page: sections_of(text) for page, text in pages.items()}
    every = sorted(texts)
    for at, page in enumerate(every):
        draw = random.Random(page)
        sections = texts[page]
        near = [one for one in texts[every[(at + 1) % len(every)]] if len(one) > 300]
        for number, section in enumerate(sections):
            elsewhere = [*sections[:number], *sections[number + 1 :], *near]
            told = sentences_of(section)
            chosen = draw.sample(told, min(len(told), MOST_SENTENCES))
            others = draw.sample(elsewhere, min(3, len(elsewhere)))
            passages = {1: section, **dict(enumerate(others, 2))}
            for sentence in chosen:
                yield from _of_sentence(sentence, passages, page, draw)
            rows = list(dict.fromkeys(rows_of(section)))
            yield from _of_facts([*told, *rows], rows, passages, page, draw)


def _pair(kind: str, said: str, passages: Mapping[int, str], right: bool, page: str) -> Pair:
    return Pair(kind, f"{said.rstrip('.')} [1].", passages, frozenset({1} if right else ()), page)


def _of_sentence(sentence: str, passages: Mapping[int, str], page: str, draw: random.Random) -> Iterator[Pair]:
    yield _pair("honest: copied", sentence, passages, True, page)
    if (said := changes.reordered(sentence)) != sentence:
        yield _pair("honest: reordered", said, passages, True, page)
    if said := changes.turned(sentence):
        yield _pair("broken: polarity", said, passages, False, page)
    for place, other in list(passages.items())[1:]:
        if told := sentences_of(other):
            second = draw.choice(told)
            answer = f"{sentence.rstrip('.')} [1], {second.rstrip('.')} [{place}]."
            yield Pair("honest: two sources", answer, passages, frozenset({1, place}), page)
            if not set(telling_stems(sentence)) <= set(telling_stems(other)):
                yield Pair("broken: other passage", f"{sentence.rstrip('.')} [{place}].", passages, frozenset(), page)
            break


def _of_facts(
    told: Sequence[str], rows: Sequence[str], passages: Mapping[int, str], page: str, draw: random.Random
) -> Iterator[Pair]:
    """Pairs that few sentences are good for: of all sentences and rows of a passage."""
    text = plain_text(passages[1])
    for row in draw.sample(rows, min(len(rows), MOST_SENTENCES)):
        yield _pair("honest: table row", row, passages, True, page)
    for sentence in told:
        if (said := changes.spoken(sentence)) != sentence:
            yield _pair("honest: number words", said, passages, True, page)
        if (said := changes.inflected(sentence)) != sentence:
            yield _pair("honest: inflected names", said, passages, True, page)
        for said in changes.swapped(sentence, text, changes.NUMBER, draw, most=2):
            yield _pair("broken: other number", said, passages, False, page)
        for said in changes.swapped(sentence, text, changes.NAME, draw):
            yield _pair("broken: other name", said, passages, False, page)
        if said := changes.without_exception(sentence):
            yield _pair("broken: exception dropped", said, passages, False, page)


def reference_pairs(questions: Path, pages: Mapping[str, str]) -> Iterator[Pair]:
    """Reference answers of a question file, each sentence cited to the sections that hold its snippets."""
    for line in questions.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not row["gold"] or not all(gold["page"] in pages for gold in row["gold"]):
            continue
        found = []
        for gold in row["gold"]:
            snippet = " ".join(gold["snippet"].split())
            found += [one for one in sections_of(pages[gold["page"]]) if snippet in " ".join(one.split())][:1]
        found = list(dict.fromkeys(found))
        if not found:
            continue
        draw = random.Random(row["id"])
        rest = [one for one in sections_of(pages[row["gold"][0]["page"]]) if one not in found]
        passages = dict(enumerate([*found, *draw.sample(rest, min(2, len(rest)))], 1))
        right = frozenset(range(1, len(found) + 1))
        marks = "".join(f"[{number}]" for number in sorted(right))
        for sentence in _SENTENCE.split(row["answer"]):
            if len(telling_stems(sentence)) >= 2:
                yield Pair(
                    "honest: reference answer", f"{sentence.rstrip('.')} {marks}.", passages, right,
                    row["gold"][0]["page"], row["gold"][0]["heading"], row.get("standalone") or row["question"],
                )  # fmt: skip


def paragraph_pages(squad: Path) -> dict[str, str]:
    """The articles of a file in the form of SQuAD as pages, paragraph after paragraph."""
    articles = json.loads(squad.read_text(encoding="utf-8"))["data"]
    return {
        f"{squad.name}-{number}": "\n\n".join(paragraph["context"] for paragraph in article["paragraphs"])
        for number, article in enumerate(articles)
    }
