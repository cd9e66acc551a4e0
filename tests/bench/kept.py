"""How much gold judge and passages keep, and what the judging costs: a scripted judge that knows the gold.

    ASKWIKI_STORE__PATH=STORE python -m tests.bench.kept QUESTIONS.jsonl …

The judge says yes to what holds a gold snippet, and errs in a share of its verdicts; or it is generous and lets the
first five others, or all, through. Tokens are counted by the bound of ``llm.characters_per_token``.
"""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from askwiki.configuration import load_configuration
from askwiki.data import Candidate, Identity, Question, Rights
from askwiki.evaluate.matching import gold_of
from askwiki.evaluate.questions import Gold, load_questions
from askwiki.flow.ask import retrieve
from askwiki.kit import Kit, build_kit
from askwiki.language.wording import asks_for_all
from askwiki.llm.context import UNSAID
from askwiki.llm.port import Message, Reply, Role
from askwiki.llm.tokens import make_counter
from askwiki.stages.answer import room_for_passages
from askwiki.stages.passages.assemble import make_passages
from askwiki.stages.passages.reading import as_read
from askwiki.stages.relevance import judge
from tests.support.scripted import ScriptedLlm

T = TypeVar("T")
LONG = 16_384  # tokens that a model of today takes at least, where its server says it
NOISE = (0.0, 0.05, 0.1, 0.2)  # share of wrong verdicts
Found = tuple[Question, tuple[Gold, ...], Sequence[Candidate]]


class Oracle(ScriptedLlm):
    """Knows which fragments hold gold; ``asked`` counts the tokens of its prompts."""

    def __init__(self, gold: Iterable[str], noise: float, seed: str, count: Callable[[str], int]) -> None:
        super().__init__()
        self.asked_tokens = 0
        self._gold, self._noise, self._count = list(gold), noise, count
        self._random = random.Random(seed)

    def submit(self, owner: Hashable, call: Callable[[], T]) -> Future[T]:
        """At once: the errors are the same in every run."""
        future: Future[T] = Future()
        future.set_result(call())
        return future

    def complete(self, role: Role, messages: Sequence[Message], *, cancel: threading.Event | None = None) -> Reply:
        self.asked_tokens += sum(self._count(message.content) for message in messages)
        fragments = messages[-1].content.partition("\n<<")[2].split("\n<<end ")[:-1]
        return Reply("".join(str(int(self._says(fragment))) for fragment in fragments))

    def _says(self, fragment: str) -> bool:
        right = any(text in fragment for text in self._gold)
        return right if self._random.random() >= self._noise else not right


def found_for(kit: Kit, file: str) -> list[Found]:
    questions = [question for question in load_questions(Path(file)) if question.gold]
    traces = [retrieve(question.turns, Identity(), kit=kit) for question in questions]
    return [(trace.question, question.gold, trace.gated) for trace, question in zip(traces, questions, strict=True)]


def holds(candidate: Candidate, gold: Sequence[Gold]) -> bool:
    return bool(gold_of(candidate.chunk, gold)[0])


def kept(kit: Kit, question: Question, chosen: Sequence[Candidate], gold: Sequence[Gold], context: int) -> set[int]:
    """The gold entries in the passages made of these for a model of this context."""
    count, settings = make_counter(kit.settings.llm), kit.settings
    room = room_for_passages(question, kit=kit, count=count, context=context, answer=settings.llm.answer.max_tokens)
    wide = asks_for_all(question.text)
    cut = make_passages(
        chosen, Rights(), reader=kit.reader, count=count, settings=settings.passages, tokens=room, wide=wide
    )
    return {number for passage in cut.passages for number in gold_of(passage, gold)[0]}


def judged(kit: Kit, found: Found, noise: float, first: int) -> tuple[set[int], int]:
    """(gold entries in the passages, tokens of the judging) with a judge of this noise."""
    question, gold, candidates = found
    settings = replace(kit.settings.relevance, first=first)
    texts = [as_read(each.chunk.text, each.chunk.url) for each in candidates if holds(each, gold)]
    oracle = Oracle(
        [text[: settings.characters] for text in texts], noise, question.text, make_counter(kit.settings.llm)
    )
    work: Any = judge(candidates, question, kit=replace(kit, llm=oracle), settings=settings)
    while True:
        try:
            next(work)
        except StopIteration as end:
            relevant = [each for each in end.value if each.verdict == "yes"]
            return kept(kit, question, relevant, gold, LONG), oracle.asked_tokens


def generous(kit: Kit, found: Found, others: int, context: int) -> set[int]:
    question, gold, candidates = found
    loose = [each for each in candidates if not holds(each, gold)][:others]
    chosen = [replace(each, verdict="yes") for each in candidates if each in loose or holds(each, gold)]
    return kept(kit, question, chosen, gold, context)


def main() -> None:
    kit = build_kit(load_configuration(os.environ))
    for file in sys.argv[1:]:
        all_found = found_for(kit, file)
        reach = [
            {number for each in candidates for number in gold_of(each.chunk, gold)[0]}
            for _, gold, candidates in all_found
        ]
        print(f"{file}: {len(all_found)} questions")
        for context, others in product((UNSAID, LONG), (5, 50)):
            kept_of = [generous(kit, found, others, context) for found in all_found]
            whole = sum(got >= wanted for got, wanted in zip(kept_of, reach, strict=True))
            print(f"  gold + {others} others, context {context}: all that was found in the passages {whole}")
        for first in (0, kit.settings.relevance.first):
            for noise in NOISE:
                results = [judged(kit, found, noise, first) for found in all_found]
                whole = [got >= wanted for (got, _), wanted in zip(results, reach, strict=True)]
                tokens = sorted(spent for _, spent in results)
                print(f"  first {first}, noise {noise}: kept {sum(whole)}, tokens {tokens[len(tokens) // 2]} (median)")


if __name__ == "__main__":
    main()
