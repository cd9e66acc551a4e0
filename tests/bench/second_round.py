"""What a second round of search brings to questions of several parts, and how often others pay for it.

    ASKWIKI_STORE__PATH=STORE python -m tests.bench.second_round QUESTIONS.jsonl …

The judge knows the gold: it finds relevant what holds a gold snippet (and errs in a share of its verdicts), and of a
question that may have parts it names the heading of a snippet that it has not been shown. A real one may also name what
is not missing; the share of questions that are held against what was found at all is the bound of that.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

from askwiki.configuration import load_configuration
from askwiki.data import Candidate, Identity, Rights, Status, Trace
from askwiki.evaluate.matching import gold_of, normalise
from askwiki.evaluate.questions import GoldQuestion, load_questions
from askwiki.flow.ask import retrieve
from askwiki.flow.parts import look_for_parts
from askwiki.flow.retrieve import check_relevance
from askwiki.flow.run import QuestionRun
from askwiki.kit import Kit, build_kit
from askwiki.llm.port import Message, Reply, Role
from askwiki.llm.tokens import make_counter
from askwiki.stages.passages.reading import as_read
from tests.bench.kept import LONG, Oracle, kept

NOISE = (0.0, 0.1)


class Missing(Oracle):
    """Names what it has not seen of the gold; ``held`` says whether it was asked to."""

    def __init__(self, question: GoldQuestion, trace: Trace, kit: Kit, noise: float) -> None:
        texts = (
            as_read(each.chunk.text, each.chunk.url) for each in trace.gated if gold_of(each.chunk, question.gold)[0]
        )
        snippets = [place.snippet for entry in question.gold for place in entry.places]
        super().__init__([*texts, *snippets], noise, question.id, make_counter(kit.settings.llm))
        self.held = False
        self._wanted = [entry.places for entry in question.gold]

    def complete(self, role: Role, messages: Sequence[Message], *, cancel: threading.Event | None = None) -> Reply:
        if messages[-1].pattern:
            return super().complete(role, messages, cancel=cancel)
        self.held = True
        self.asked_tokens += sum(self._count(message.content) for message in messages)
        shown = normalise(messages[-1].content)
        missing = [places[0] for places in self._wanted if not any(normalise(each.snippet) in shown for each in places)]
        return Reply(missing[0].heading or "0" if missing else "0")


def main() -> None:
    kit = build_kit(load_configuration(os.environ))
    for file in sys.argv[1:]:
        questions = [question for question in load_questions(Path(file)) if question.gold]
        traces = [retrieve(question.turns, Identity(), kit=kit) for question in questions]
        for noise in NOISE:
            told: Counter[tuple[str, str]] = Counter()
            tokens = []
            for question, trace in zip(questions, traces, strict=True):
                oracle = Missing(question, trace, kit, noise)
                told.update((question.kind, what) for what in asked(question, trace, replace(kit, llm=oracle)))
                told[question.kind, "held"] += oracle.held
                tokens.append(oracle.asked_tokens)
            print(f"{file}, noise {noise}: tokens {sorted(tokens)[len(tokens) // 2]} (median)")
            for kind in sorted({question.kind for question in questions}):
                figures = {what: told[kind, what] for what in ("all", "whole before", "whole", "held", "second round")}
                print(f"  {kind}: {figures}")


def asked(question: GoldQuestion, trace: Trace, kit: Kit) -> list[str]:
    """What is counted of one question: whether all of its gold is in the passages, without and with a second round."""
    run = QuestionRun(kit, kit.settings, None, trace.question.language)
    judged, _ = _ended(check_relevance(run, trace.question, trace.gated))
    more, said = _ended(look_for_parts(run, trace.question, Identity(), judged, Rights()))
    rounds = sum(status.step == "search" and not status.warning for status in said)
    counted = ["all", *["second round"] * rounds]
    for name, candidates in (("whole before", judged), ("whole", more)):
        relevant = [each for each in candidates if each.verdict == "yes"]
        if len(kept(kit, trace.question, relevant, question.gold, LONG)) == len(question.gold):
            counted.append(name)
    return counted


def _ended(work: Generator[Status, None, list[Candidate]]) -> tuple[list[Candidate], list[Status]]:
    said = []
    while True:
        try:
            said.append(next(work))
        except StopIteration as end:
            found: list[Candidate] = end.value
            return found, said


if __name__ == "__main__":
    main()
