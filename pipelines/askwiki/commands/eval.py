"""``python -m askwiki eval``: check questions, put them to the flow, review, compare."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from askwiki.commands.eval_inputs import FAULTS, FINE, only_file, pages_of_source
from askwiki.errors import AskWikiError, SettingsError, SourceError
from askwiki.evaluate.check import faults_of
from askwiki.evaluate.compare import compare, comparison_json, comparison_rows
from askwiki.evaluate.outcome import read_outcomes
from askwiki.evaluate.questions import load_questions, read_questions
from askwiki.evaluate.reports import tables
from askwiki.evaluate.split import divide, write_split
from askwiki.evaluate.support_file import measure, read_labelled

USAGE = """\
eval FILE                   put every question of FILE to the flow, judge the answers, write a report
eval check FILE             faults of the file, one a line; with --source also pages and snippets
eval review FILE [FILE …]   read graded sheets back (review.csv, or review.json of the review page)
eval support FILE           labelled answers: how well the check of support finds what their passages lack
eval compare DIR DIR        two runs, question by question
eval ablate FILE            what each part contributes
eval draft FILE             propose questions from pages into FILE, for a person to correct
"""

# Options that only these say something to; elsewhere they are refused rather than ignored.
ONLY_FOR = {
    "retrieval": {"", "ablate"},
    "user": {"", "ablate"},
    "groups": {"", "ablate"},
    "parallel": {"", "ablate"},
    "judgings": {"", "ablate"},
    "limit": {"", "ablate", "draft"},
    "split": {"", "ablate"},
    "kind": {"", "ablate"},
    "source": {"check", "ablate", "draft"},
    "divide": {"check"},
    "matrix": {"ablate"},
    "per_page": {"draft"},
    "json": {"compare", "support"},
    "out": {"", "check", "review", "ablate", "compare"},
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = USAGE
    add = parser.add_argument
    add(
        "words",
        nargs="+",
        metavar="FILE",
        help="a question file, or one of the words below",
    )
    add("--retrieval", action="store_true", help="measure the search only; needs no LLM")
    add("--out", type=Path, metavar="DIR", help="folder of report, answers and sheets; check --divide: the new file")
    add("--user", metavar="EMAIL", help="ask as this person; without, only what everybody may read is found")
    add("--groups", metavar="A,B", help="the person's groups")
    add("--parallel", type=_positive, help="questions at once (with --retrieval 1, so that times are true)")
    add("--judgings", type=int, help="grades of one answer by the judge, 0 = none (2: shows how steady it is)")
    add("--limit", type=_positive, help="only the first so many questions; draft: pages")
    add("--split", choices=("tuning", "holdout"), help="only the questions of this part")
    add("--kind", help="only the questions of this kind")
    add("--source", metavar="KIND:PATH", help="the wiki: check gold against it, draft from it, index it for variants")
    add("--divide", type=float, metavar="SHARE", help="check: write --out FILE with the split filled in by page")
    add("--matrix", type=Path, metavar="YAML", help="ablate: own variants, name: {section.setting: value}")
    add("--per-page", type=_positive, help="draft: most questions from one page (3)")
    add("--json", action="store_true", help="compare, support: the figures as JSON on stdout")


def run(options: argparse.Namespace) -> int:
    word, *rest = options.words
    subcommand = word if word in SUBCOMMANDS else ""
    files = [Path(name) for name in (rest if subcommand else options.words)]
    for name, allowed in ONLY_FOR.items():
        if getattr(options, name) not in (None, False) and subcommand not in allowed:
            raise AskWikiError(
                f"--{name.replace('_', '-')} says nothing to `eval {subcommand or 'FILE'}`; leave it out."
            )
    return SUBCOMMANDS[subcommand](options, files)


def check(options: argparse.Namespace, files: Sequence[Path]) -> int:
    """Look at the questions themselves: no store, no models."""
    file = only_file(files, "eval check FILE")
    if options.divide is not None:
        return _divide(file, options)
    questions, faults = read_questions(file)
    if not questions and not faults:
        raise SourceError(f"{file} holds no questions; each line must be one JSON object.")
    pages = None
    if options.source:
        pages = pages_of_source(options.source)
    faults += faults_of(questions, pages)
    for fault in faults:
        print(fault)
    print(f"{file}: {len(questions)} questions, {len(faults)} faults.", file=sys.stderr)
    return FAULTS if faults else FINE


def _divide(file: Path, options: argparse.Namespace) -> int:
    if not options.out or not 0 < options.divide < 1:
        raise SettingsError("--divide takes the hold-out's share, between 0 and 1, and --out the file to write.")
    divided = divide(load_questions(file), options.divide)
    write_split(file, divided, options.out)
    holdout = sum(question.split == "holdout" for question in divided)
    print(f"{options.out}: {len(divided) - holdout} for tuning, {holdout} for the hold-out.", file=sys.stderr)
    return FINE


def compare_runs(options: argparse.Namespace, files: Sequence[Path]) -> int:
    """Two runs in their folders, before and after."""
    if len(files) != 2:
        raise AskWikiError(f"Usage: eval compare BEFORE_DIR AFTER_DIR. Got {len(files)} folders.")
    runs = [read_outcomes(folder / "answers.jsonl" if folder.is_dir() else folder) for folder in files]
    for folder, outcomes in zip(files, runs, strict=True):
        if not outcomes:
            raise SourceError(f"{folder} holds no run: there is no answers.jsonl in it.")
    comparison = compare(*runs)
    text = json.dumps(comparison_json(comparison), ensure_ascii=False, indent=2)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "comparison.json").write_text(text, encoding="utf-8")
    if options.json:
        print(text)
        return FINE
    print(tables.plain(comparison_rows(comparison)))
    for title, changes in (("better", comparison.better), ("worse", comparison.worse)):
        print(f"\n{title}: {len(changes)}")
        for change in changes:
            print(f"  {change.id}  {change.before} -> {change.after}  {change.question}")
    if comparison.unpaired:
        print(f"\nonly in one of the runs, not compared: {', '.join(comparison.unpaired)}")
    return FINE


def support(options: argparse.Namespace, files: Sequence[Path]) -> int:
    """The check of support against labels of people: no store, no models."""
    answers = read_labelled(only_file(files, "eval support FILE"))
    figures = measure(answers)
    if options.json:
        print(json.dumps(figures, ensure_ascii=False, indent=2))
        return FINE
    for name in ("sentences", "answers"):
        scores = figures[name]
        shown = ("precision", "recall", "f1", "false_alarms")
        values = [f"{key} {scores[key]:.3f}" for key in shown if scores[key] is not None]
        print(f"{name}: n {scores['n']}, bad {scores['bad']}, {', '.join(values)}")
    spent = figures["milliseconds"]
    print(f"milliseconds of the processor a sentence: p50 {spent['p50']:.2f}, p95 {spent['p95']:.2f}")
    return FINE


def _lazily(name: str) -> Callable[[argparse.Namespace, Sequence[Path]], int]:
    """A subcommand of ``eval_run``, which brings the models: `eval check` starts without them."""

    def call(options: argparse.Namespace, files: Sequence[Path]) -> int:
        from askwiki.commands import eval_run

        command: Callable[[argparse.Namespace, Sequence[Path]], int] = getattr(eval_run, name)
        return command(options, files)

    return call


SUBCOMMANDS: Mapping[str, Callable[[argparse.Namespace, Sequence[Path]], int]] = {
    "": _lazily("measure"),
    "check": check,
    "compare": compare_runs,
    "support": support,
    "review": _lazily("review"),
    "ablate": _lazily("ablation"),
    "draft": _lazily("drafts"),
}


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number
