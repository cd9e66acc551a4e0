"""``python -m askwiki ask "…"``: one question without a server."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from askwiki.configuration import load_configuration
from askwiki.data import Answer, Candidate, Identity, Passage, Status, Token, Trace, Turn
from askwiki.errors import AskWikiError
from askwiki.flow import ask as flow
from askwiki.kit import Kit, build_kit


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", help="the question, or the last message of the dialogue")
    parser.add_argument(
        "--history", type=Path, metavar="FILE", help="JSON or JSONL: a list of {role, content} before it"
    )
    parser.add_argument(
        "--user", default="", metavar="EMAIL", help="who asks; without it only public pages are visible"
    )
    parser.add_argument("--groups", default="", metavar="A,B", help="the groups of the person")
    parser.add_argument("--json", action="store_true", help="question, candidates, passages, answer, sources, timings")
    parser.add_argument("--retrieval", action="store_true", help="search only, no answer")


def run(options: argparse.Namespace) -> int:
    turns = (*read_history(options.history), Turn("user", options.question))
    identity = identity_of(options.user, options.groups)
    kit = build_kit(load_configuration(os.environ))
    if options.retrieval:
        trace = flow.retrieve(turns, identity, kit=kit)
        _print(trace_json(trace) | {"timings": rounded(trace.timings)}) if options.json else _list(trace.gated)
        return 0
    answer = _answer(turns, identity, kit, quiet=options.json)
    if not identity.known:
        print("… Only pages open to everybody were searched; --user and --groups say who asks.", file=sys.stderr)
    if options.json:
        _print(answer_json(answer))
    return 0


def identity_of(user: str, groups: str) -> Identity:
    """Somebody is known as soon as an address or a group is given."""
    names = tuple(name.strip() for name in groups.split(",") if name.strip())
    return Identity(id=user, email=user, name=user, groups=names, known=bool(user or names))


def read_history(file: Path | None) -> tuple[Turn, ...]:
    """The turns of a file; one sentence says what is wrong with it."""
    if file is None:
        return ()
    try:
        text = file.read_text(encoding="utf-8")
        said = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(line) for line in text.splitlines() if line]
        )
        return tuple(Turn(str(message["role"]), str(message["content"])) for message in said)
    except OSError as error:
        raise AskWikiError(f"--history: {file} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError):
        raise AskWikiError(f"--history: {file} must be a JSON list of objects with role and content.") from None


def _answer(turns: Sequence[Turn], identity: Identity, kit: Kit, *, quiet: bool) -> Answer:
    """Ask, with progress on stderr and the text on stdout as it comes."""
    in_text = False
    for event in flow.ask(turns, identity, kit=kit):
        if isinstance(event, Status):
            if in_text:  # a terminal shows both streams
                print(flush=True)
            print(f"… {event.text}", file=sys.stderr, flush=True)
            in_text = False
        elif isinstance(event, Token) and not quiet:
            print(event.text, end="", flush=True)
            in_text = True
        elif isinstance(event, Answer):
            answer = event
    return answer


def answer_json(answer: Answer) -> dict[str, Any]:
    """The whole way of one question as JSON types."""
    trace = trace_json(answer.trace) if answer.trace else {}
    return {
        **trace,
        "answer": answer.text,
        "refused": answer.refused,
        "sources": [asdict(source) for source in answer.sources],
        "degraded": list(answer.degraded),
        "tokens": dict(answer.tokens),
        "timings": rounded(answer.timings),
    }


def trace_json(trace: Trace) -> dict[str, Any]:
    """Candidates of each stage in its order, by id where the first stage has told the rest."""
    return {
        "question": asdict(trace.question),
        "candidates": {
            "found": [candidate_json(candidate) for candidate in trace.found],
            "gated": [{"id": each.chunk.id, "rerank": each.rerank} for each in trace.gated],
            "judged": [{"id": each.chunk.id, "verdict": each.verdict} for each in trace.judged],
        },
        "passages": [passage_json(passage) for passage in trace.passages],
    }


def passage_json(passage: Passage) -> dict[str, Any]:
    note = passage.note
    record = {**asdict(passage), "note": f"{note.kind}:{note.number}" if note else ""}
    del record["parts"]  # its text once more
    return record


def candidate_json(candidate: Candidate) -> dict[str, Any]:
    chunk = candidate.chunk
    return {
        "id": chunk.id,
        "page": chunk.page_id,
        "title": chunk.title,
        "path": list(chunk.path),
        "headings": list(chunk.headings),
        "url": chunk.url,
        "score": round(candidate.score, 4),
        "legs": {name: {"rank": hit.rank, "score": round(hit.score, 4)} for name, hit in candidate.legs.items()},
    }


def rounded(timings: Mapping[str, float]) -> dict[str, float]:
    return {name: round(seconds, 4) for name, seconds in timings.items()}


def _list(candidates: Sequence[Candidate]) -> None:
    for number, candidate in enumerate(candidates, 1):
        chunk = candidate.chunk
        print(f"{number:3}. {' / '.join((*chunk.path, chunk.title, *chunk.headings))}  {chunk.url}")


def _print(record: Mapping[str, Any]) -> None:
    print(json.dumps(record, ensure_ascii=False, indent=1))
