"""The parts of ``python -m askwiki eval`` that need the models: runs, review, ablation, drafts."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from tqdm import tqdm

from askwiki.commands.ask import identity_of
from askwiki.commands.eval_inputs import FAULTS, FINE, index_variant, only_file, pages_of_source
from askwiki.configuration import load_configuration, settings_digest
from askwiki.errors import AskWikiError, SettingsError, SourceError
from askwiki.evaluate.ablate import Variant, changed, choose, contributions, load_variants
from askwiki.evaluate.compare import compare
from askwiki.evaluate.draft import draft, to_text
from askwiki.evaluate.losses import unseen
from askwiki.evaluate.outcome import Outcome, read_outcomes
from askwiki.evaluate.questions import GoldQuestion, load_questions
from askwiki.evaluate.reports import tables
from askwiki.evaluate.reports.answers import answers_report
from askwiki.evaluate.reports.merging import merge
from askwiki.evaluate.reports.numbers import Report, retrieval_report
from askwiki.evaluate.reports.parts import Say, parts_of
from askwiki.evaluate.reports.review import read_sheet
from askwiki.evaluate.reports.write import read_report, say_in, write_reports, write_review
from askwiki.evaluate.running.asking import settings_in_force
from askwiki.evaluate.running.session import ANSWERS, Plan, perform
from askwiki.kit import Kit, build_kit
from askwiki.texts import load_texts

DEFAULT_FOLDER = ".askwiki/eval"  # a full run is always kept: its answers cost model calls
MOST_PARALLEL = 4  # questions at once of a full run; each has many model calls of its own
JUDGINGS = 2
PER_PAGE = 3


def measure(options: argparse.Namespace, files: Sequence[Path]) -> int:
    """Run every question of one file."""
    file = only_file(files, "eval FILE")
    kit = build_kit(load_configuration(os.environ))
    folder = options.out or (None if options.retrieval else Path(DEFAULT_FOLDER) / file.stem)
    plan = _plan(options, file, kit, folder)
    report, outcomes = _run(plan, kit, str(file))
    language = kit.settings.language
    if folder:
        write_reports(folder, report, texts=kit.texts, language=language)
        if not plan.retrieval:
            write_review(folder, outcomes, texts=kit.texts, language=language)
    _show(report, kit, folder)
    return FAULTS if report["questions"]["failed"] else FINE


def review(options: argparse.Namespace, files: Sequence[Path]) -> int:
    """Read graded sheets back and write the report anew with what people said."""
    if not files:
        raise AskWikiError("Usage: eval review FILE [FILE …], each a review.csv or a review.json.")
    folder = options.out or files[0].parent
    sheets = [read_sheet(file) for file in files]
    outcomes = list(read_outcomes(folder / ANSWERS).values())
    earlier = read_report(folder) if outcomes else {}
    if not outcomes:  # the sheet went on its way alone
        outcomes = list({each.id: each for sheet in sheets for each in sheet.outcomes}.values())
    if not outcomes:
        raise SourceError(f"{folder} holds no {ANSWERS}; name the run's folder with --out DIR.")
    merged = merge((grade for sheet in sheets for grade in sheet.grades), outcomes)
    configuration = load_configuration(os.environ)
    file = str(earlier.get("file", files[0]))
    report = answers_report(outcomes, earlier.get("settings", {}), file, merged)
    texts = load_texts(configuration.folder / "texts", configuration.settings.wiki.name)
    write_reports(folder, report, texts=texts, language=configuration.settings.language)
    _print_parts(report, say_in(texts, configuration.settings.language))
    faults = [fault for sheet in sheets for fault in sheet.faults]
    faults += [f"{name} is graded but is no question of this run." for name in merged.unknown]
    for fault in faults:
        print(fault, file=sys.stderr)
    return FAULTS if faults else FINE


def ablation(options: argparse.Namespace, files: Sequence[Path]) -> int:
    """The run as it is, then every variant, each compared pair by pair."""
    file = only_file(files, "eval ablate FILE")
    kit = build_kit(load_configuration(os.environ))
    folder = options.out or Path(DEFAULT_FOLDER) / f"{file.stem}-ablate"
    variants, skipped = choose(
        load_variants(options.matrix),
        kit.settings,
        retrieval=options.retrieval,
        has_llm=kit.llm is not None,
        has_source=bool(options.source),
    )
    whole = _plan(options, file, kit, folder / "as it is")
    _, as_it_is = _run(whole, kit, str(file))
    comparisons = {}
    for variant in variants:
        plan = replace(whole, folder=folder / variant.name)
        outcomes = _run_variant(plan, variant, kit, options.source, str(file))
        comparisons[variant.name] = compare(_by_id(outcomes), _by_id(as_it_is))
    rows = contributions(comparisons)
    (folder / "ablation.md").write_text(tables.markdown(rows) + "\n", encoding="utf-8")
    print(tables.plain(rows))
    for each in skipped:
        print(f"not run: {each.variant.name}: {each.reason}.", file=sys.stderr)
    return FINE


def drafts(options: argparse.Namespace, files: Sequence[Path]) -> int:
    """Propose questions from the pages of ``--source``."""
    file = only_file(files, "eval draft FILE --source KIND:PATH")
    if not options.source:
        raise SettingsError("`eval draft` needs --source KIND:PATH: the pages to ask about.")
    if file.exists():
        raise SourceError(f"{file} exists already; drafts are not added to what a person may have corrected.")
    kit = build_kit(load_configuration(os.environ))
    if kit.llm is None:
        raise SettingsError("`eval draft` needs a language model: set ASKWIKI_LLM_URL.")
    pages = islice(pages_of_source(options.source), options.limit)
    shown = tqdm(pages, unit="page", file=sys.stderr, disable=None)
    lines = draft(shown, kit=kit, llm=kit.llm, per_page=options.per_page or PER_PAGE)
    written = 0
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        for line in to_text(lines):
            stream.write(line)
            written += 1
    print(f'{file}: {written} drafts. Correct them and take out "draft"; then `eval check`.', file=sys.stderr)
    return FINE if written else FAULTS


def _plan(options: argparse.Namespace, file: Path, kit: Kit, folder: Path | None) -> Plan:
    chosen = [question for question in load_questions(file) if _wanted(question, options)][: options.limit]
    if not chosen:
        raise SourceError(f"{file} has no questions of this split and kind.")
    usual = 1 if options.retrieval else min(MOST_PARALLEL, kit.settings.llm.parallel)
    return Plan(
        questions=chosen,
        identity=identity_of(options.user or "", options.groups or ""),
        retrieval=options.retrieval,
        parallel=options.parallel or usual,
        judgings=JUDGINGS if options.judgings is None else options.judgings,
        folder=folder,
    )


def _run(plan: Plan, kit: Kit, file: str) -> tuple[Report, list[Outcome]]:
    in_force = settings_in_force(kit, kit.settings)
    outcomes = perform(plan, kit=kit, settings=kit.settings, in_force=in_force, progress=_progress)
    stated = {**in_force, "digest": settings_digest(kit.settings)}  # the same stands in exported ratings
    report = (retrieval_report if plan.retrieval else answers_report)(outcomes, stated, file)
    gold = unseen(plan.questions, outcomes, kit=kit, identity=plan.identity)
    return {**report, "unseen": {"hidden": list(gold.hidden), "missing": list(gold.missing)}}, outcomes


def _run_variant(plan: Plan, variant: Variant, kit: Kit, source: str, file: str) -> list[Outcome]:
    print(f"variant: {variant.name}", file=sys.stderr)
    if variant.needs_index and plan.folder:
        environment = index_variant(source, variant.changes, plan.folder / "store")
        return _run(plan, build_kit(load_configuration(environment)), file)[1]
    configuration = replace(kit.configuration, settings=changed(kit.settings, variant))
    return _run(plan, replace(kit, configuration=configuration), file)[1]


def _show(report: Report, kit: Kit, folder: Path | None) -> None:
    _print_parts(report, say_in(kit.texts, kit.settings.language))
    if folder:
        print(f"\n{folder / 'report.html'}", file=sys.stderr)


def _print_parts(report: Report, say: Say) -> None:
    for part in parts_of(report, say):
        if part.title and (part.text or len(part.rows) > 1):
            print(f"\n{part.title}")
        if part.text:
            print(part.text)
        if len(part.rows) > 1:
            print(tables.plain(part.rows))


def _progress(outcomes: Iterable[Outcome], total: int, task: str) -> Iterable[Outcome]:
    return tqdm(outcomes, total=total, desc=task, unit="question", file=sys.stderr, disable=None)


def _wanted(question: GoldQuestion, options: argparse.Namespace) -> bool:
    return options.split in (None, question.split) and options.kind in (None, question.kind)


def _by_id(outcomes: Sequence[Outcome]) -> Mapping[str, Outcome]:
    return {outcome.id: outcome for outcome in outcomes}
