"""``python -m askwiki eval``: check questions, run them, review, compare."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from askwiki.configuration import load_configuration
from askwiki.data import Identity, Page
from askwiki.errors import AskWikiError, SourceError
from askwiki.evaluate import tables
from askwiki.evaluate.check import faults_of
from askwiki.evaluate.outcome import Outcome
from askwiki.evaluate.questions import GoldQuestion, load_questions, read_questions
from askwiki.evaluate.report import Report, retrieval_report
from askwiki.evaluate.run import run_all, write_outcomes

FINE, FAULTS = 0, 1


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="FILE", help="a file of questions, or a subcommand and its files")
    parser.add_argument("--retrieval", action="store_true", help="measure the search only; needs no LLM")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where report, answers and review sheets go")
    parser.add_argument("--user", default="", metavar="EMAIL", help="ask as this person; without, what is public")
    parser.add_argument("--groups", default="", metavar="A,B", help="the person's groups")
    parser.add_argument("--parallel", type=int, default=1, help="questions at once; 1 gives true times (default)")
    parser.add_argument("--source", metavar="KIND:PATH", help="check: the wiki that the gold pages must be in")


def run(options: argparse.Namespace) -> int:
    word, *rest = options.words
    if word in SUBCOMMANDS:
        return SUBCOMMANDS[word](options, rest)
    return measure(options, [word, *rest])


def measure(options: argparse.Namespace, files: Sequence[str]) -> int:
    """Run every question of one file."""
    file = _only_file(files, "eval FILE")
    questions = load_questions(file)
    from askwiki.evaluate.asking import searcher, settings_in_force  # the models: not for `eval check`
    from askwiki.evaluate.visibility import unseen
    from askwiki.kit import build_kit

    kit = build_kit(load_configuration(os.environ))
    identity = _identity(options)
    settings = settings_in_force(kit, kit.settings)
    ask = searcher(kit, identity, kit.settings)
    asked = run_all(questions, ask, settings=settings, done={}, parallel=options.parallel)
    outcomes = _in_order(questions, tqdm(asked, total=len(questions), unit="question", file=sys.stderr))
    report = retrieval_report(outcomes, settings, str(file))
    gold = unseen(questions, outcomes, kit=kit, identity=identity)
    report["unseen"] = {"hidden": list(gold.hidden), "missing": list(gold.missing)}
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        write_outcomes(options.out / "answers.jsonl", outcomes)
        (options.out / "report.json").write_text(json.dumps(report, ensure_ascii=False, indent=2), encoding="utf-8")
    _print_retrieval(report)
    return FAULTS if report["questions"]["failed"] else FINE


def check(options: argparse.Namespace, files: Sequence[str]) -> int:
    """Look at the questions themselves: no store, no models."""
    file = _only_file(files, "eval check FILE")
    questions, faults = read_questions(file)
    pages = _pages(options.source) if options.source else None
    faults += faults_of(questions, pages)
    for fault in faults:
        print(fault)
    if not questions and not faults:
        raise SourceError(f"{file} holds no questions; each line must be one JSON object.")
    print(f"{file}: {len(questions)} questions, {len(faults)} faults.", file=sys.stderr)
    return FAULTS if faults else FINE


SUBCOMMANDS: Mapping[str, Callable[[argparse.Namespace, Sequence[str]], int]] = {"check": check}


def _print_retrieval(report: Report) -> None:
    counts, gold = report["questions"], report["unseen"]
    print(
        f"{counts['all']} questions, {counts['answerable']} answerable; gold by snippet, by page, snippets by kind:\n"
    )
    print(tables.plain(tables.ranking_rows(report["retrieval"])))
    print("\n" + tables.plain(tables.seconds_rows(report["seconds"])))
    if counts["failed"]:
        print(f"\n{counts['failed']} questions failed and count as not found; see the log above.")
    if gold["hidden"]:
        print(f"\n{_pages_word(gold['hidden'])} may not be read by this person and count as not found: use --user.")
    if gold["missing"]:
        print(f"\n{_pages_word(gold['missing'])} not in the index and count as not found.")


def _pages_word(pages: Sequence[str]) -> str:
    shown = ", ".join(pages[:3]) + (", …" if len(pages) > 3 else "")
    return f"{len(pages)} gold pages ({shown})"


def _pages(spec: str) -> Iterator[Page]:
    """The pages of a source; those that cannot be converted are missing, which the check will say."""
    import importlib

    try:
        sources = importlib.import_module("indexer.sources")
    except ModuleNotFoundError as error:
        raise AskWikiError("--source needs the package indexer, which is not installed here.") from error
    source = sources.open_source(spec, load_configuration(os.environ))
    return (page for page in source.pages() if isinstance(page, Page))


def _identity(options: argparse.Namespace) -> Identity:
    groups = tuple(group.strip() for group in options.groups.split(",") if group.strip())
    return Identity(id=options.user, email=options.user, groups=groups, known=bool(options.user))


def _in_order(questions: Sequence[GoldQuestion], outcomes: Iterable[Outcome]) -> list[Outcome]:
    by_id = {outcome.id: outcome for outcome in outcomes}
    return [by_id[question.id] for question in questions]


def _only_file(files: Sequence[str], usage: str) -> Path:
    if len(files) != 1:
        raise AskWikiError(f"Usage: {usage}. Got {len(files)} files.")
    return Path(files[0])
