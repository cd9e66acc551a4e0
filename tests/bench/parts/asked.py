"""Questions of a file, or made of the index itself, ready to be put to it: with the chunks that hold what they need."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from askwiki.data import Chunk, Question
from askwiki.evaluate.matching import gold_of
from askwiki.evaluate.questions import GoldQuestion, load_questions
from askwiki.language.stems import telling_stems
from askwiki.language.transliteration import is_transliteration, transliterated
from askwiki.language.wording import intent_of
from askwiki.markdown.plain_text import plain_text
from askwiki.settings import CondenseSettings
from askwiki.stages.condense import by_rule
from tests.bench.parts.memory import MemoryIndex

SEED = 20_261
LABELS = ("яблоко", "груша", "слива", "вишня", "айва")
LEFT_OUT = 0.5  # of a sentence's words
LEAST_WORDS = 6  # of a sentence that is left to half of itself
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"\w[\w.\-/]*")


@dataclass(frozen=True, slots=True)
class Asked:
    """``holding``: for each thing that is needed the ids of the chunks that hold it; ``pages``: of its page."""

    id: str
    kind: str
    question: Question
    holding: tuple[frozenset[str], ...]
    pages: tuple[frozenset[str], ...]
    group: str  # questions of one group are never in both halves of a division


def of_file(file: Path, chunks: Sequence[Chunk]) -> list[Asked]:
    """Those with an answer, as the flow would understand them without a language model."""
    return [_asked(each, chunks) for each in load_questions(file) if each.answerable]


def _asked(gold: GoldQuestion, chunks: Sequence[Chunk]) -> Asked:
    question = by_rule(gold.turns, CondenseSettings())
    if is_transliteration(question.text):
        typed = tuple(dict.fromkeys(question.text.split()))
        question = Question(transliterated(question.text), question.original, terms=typed, intent=question.intent)
    found = [(chunk, *gold_of(chunk, gold.gold)) for chunk in chunks]
    entries = range(len(gold.gold))
    return Asked(
        id=gold.id,
        kind=gold.kind,
        question=question,
        holding=tuple(frozenset(chunk.id for chunk, snippets, _ in found if entry in snippets) for entry in entries),
        pages=tuple(frozenset(chunk.page_id for chunk, _, pages in found if entry in pages) for entry in entries),
        group=gold.gold[0].places[0].page,
    )


def of_headings(chunks: Sequence[Chunk], most: int) -> list[Asked]:
    """A heading with its page's title is asked for the chunks below it."""
    below: dict[tuple[str, str, str], list[Chunk]] = {}
    for chunk in chunks:
        if chunk.headings:
            below.setdefault((chunk.page_id, chunk.title, chunk.headings[-1]), []).append(chunk)
    made = [_made("heading", f"{heading} {title}", of) for (_, title, heading), of in below.items()]
    return _some(made, most)


def of_kinds(chunks: Sequence[Chunk], most: int) -> list[Asked]:
    """A chunk's heading asked for as a screen or as a concept, whichever the chunk is taken for."""
    made = []
    for chunk in chunks:
        form = "где на экране {}" if chunk.screen else "что такое {}"
        asked = _made("kind", form.format(chunk.headings[-1] if chunk.headings else chunk.title), [chunk])
        made.append(replace(asked, question=replace(asked.question, intent=intent_of(asked.question.text))))
    screens = [each for each in made if each.question.intent == "screen"]
    return [*screens, *_some([each for each in made if each.question.intent == "concept"], most)]


def of_sentences(chunks: Sequence[Chunk], most: int) -> list[Asked]:
    """Half of a sentence's words, in their order, for the chunks that hold the sentence."""
    chance = random.Random(SEED)
    places: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        for sentence in _sentences(chunk):
            places.setdefault(sentence, []).append(chunk)
    made = []
    for sentence, of in places.items():
        words = _WORD.findall(sentence)
        kept = sorted(chance.sample(range(len(words)), round(len(words) * (1 - LEFT_OUT))))
        made.append(_made("sentence", " ".join(words[at] for at in kept), of))
    return _some(made, most)


def of_labels(asked: Sequence[Asked], index: MemoryIndex) -> tuple[list[Asked], MemoryIndex]:
    """The questions with «с меткой …» behind them, over the index with one of five labels dealt out to each page.

    No wiki at hand has labels that its questions name; these stand in no text, so only the boost can know them.
    """
    chance = random.Random(SEED)
    labels = {page: chance.choice(LABELS) for page in sorted({chunk.page_id for chunk in index.chunks})}
    made = [
        replace(each, question=replace(each.question, text=f"{each.question.text} с меткой «{labels[next(iter(of))]}»"))
        for each in asked
        if not each.question.previous and len(of := frozenset[str]().union(*each.pages)) == 1
    ]
    labelled = [chunk._replace(labels=(labels[chunk.page_id],)) for chunk in index.chunks]
    return made, replace(index, chunks=labelled)


def of_changes(asked: Sequence[Asked], most: int) -> list[Asked]:
    """Questions behind one about another page, as the rule joins a follow-up to what was before it."""
    chance = random.Random(SEED)
    alone = [each for each in asked if not each.question.previous]
    made = []
    for each in _some(list(alone), most):
        before = chance.choice([other for other in alone if other.group != each.group]).question.text
        question = replace(each.question, text=f"{before} {each.question.text}", previous=before)
        made.append(replace(each, id=f"change {each.id}", kind="change", question=question))
    return made


def _sentences(chunk: Chunk) -> Iterator[str]:
    for sentence in _SENTENCE.split(plain_text(chunk.text)):
        if len(set(telling_stems(sentence))) >= LEAST_WORDS and len(_WORD.findall(sentence)) <= 4 * LEAST_WORDS:
            yield sentence.strip()


def _made(kind: str, text: str, holding: Sequence[Chunk]) -> Asked:
    ids, pages = frozenset(chunk.id for chunk in holding), frozenset(chunk.page_id for chunk in holding)
    return Asked(f"{kind} {text}", kind, Question(text, text), (ids,), (pages,), holding[0].page_id)


def _some(made: list[Asked], most: int) -> list[Asked]:
    return random.Random(SEED).sample(made, min(most, len(made)))
