"""Puts every question to the flow, in parallel, and keeps what came of it so that a run can go on."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from askwiki.errors import AskWikiError, SourceError
from askwiki.evaluate.outcome import Outcome, from_line, to_line
from askwiki.evaluate.questions import GoldQuestion
from askwiki.evaluate.running.observe import blank

log = logging.getLogger(__name__)

DIGEST_LENGTH = 16  # hexadecimal digits; enough to tell one run's settings from another's


def digest(question: GoldQuestion, settings: Mapping[str, Any]) -> str:
    """What makes two outcomes interchangeable: the question's line and all settings in force."""
    text = json.dumps([asdict(replace(question, line=0)), settings], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def run_all(
    questions: Sequence[GoldQuestion],
    ask: Callable[[GoldQuestion, Outcome], Outcome],
    *,
    settings: Mapping[str, Any],
    done: Mapping[str, Outcome],
    parallel: int,
) -> Iterator[Outcome]:
    """Outcomes as they come; those in ``done`` that belong to this run are given back unasked.

    ``ask`` completes a blank outcome. What it raises of ours becomes the outcome's ``fault``.
    """
    open_questions = []
    for question in questions:
        run = digest(question, settings)
        kept = done.get(question.id)
        if kept is not None and kept.run == run and not kept.fault:
            yield kept
        else:
            open_questions.append((question, blank(question, run)))
    pool = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="eval")
    try:
        tasks = [pool.submit(_guarded, ask, question, outcome) for question, outcome in open_questions]
        for task in as_completed(tasks):
            yield task.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _guarded(ask: Callable[[GoldQuestion, Outcome], Outcome], question: GoldQuestion, outcome: Outcome) -> Outcome:
    try:
        return ask(question, outcome)
    except AskWikiError as error:
        log.warning("question %s: %s", question.id, error)
        return replace(outcome, fault=str(error))


def read_outcomes(file: Path) -> dict[str, Outcome]:
    """Question id -> outcome, later lines win; a last line cut short by a stop is left out."""
    if not file.exists():
        return {}
    outcomes: dict[str, Outcome] = {}
    lines = file.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            outcome = from_line(line)
        except (ValueError, KeyError, TypeError) as error:
            if number >= len(lines):  # without its line feed: the run was stopped while writing
                continue
            raise SourceError(f"Line {number} of {file} is no line of a run: {error}.") from error
        outcomes[outcome.id] = outcome
    return outcomes


def append_outcomes(file: Path, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Write each outcome as it comes, so that nothing is asked twice after a stop."""
    _end_last_line(file)
    with file.open("a", encoding="utf-8", newline="\n") as stream:
        for outcome in outcomes:
            stream.write(to_line(outcome) + "\n")
            stream.flush()
            yield outcome


def write_outcomes(file: Path, outcomes: Iterable[Outcome]) -> None:
    """The whole file anew, in the order given, put in place in one step."""
    part = file.with_name(file.name + ".part")
    part.write_text("".join(to_line(outcome) + "\n" for outcome in outcomes), encoding="utf-8", newline="\n")
    part.replace(file)


def _end_last_line(file: Path) -> None:
    if file.exists() and (content := file.read_bytes()) and not content.endswith(b"\n"):
        file.write_bytes(content[: content.rfind(b"\n") + 1])
