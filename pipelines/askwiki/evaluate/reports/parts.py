"""The parts of a report in reading order: the verdict first, then where things were lost, then the costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from askwiki.evaluate.losses import PLACES
from askwiki.evaluate.reports import plots, tables
from askwiki.evaluate.reports.numbers import Report
from askwiki.evaluate.reports.plots import Bar

GRADES = ("0", "1", "2")
Rows = Sequence[Sequence[str]]
Say = Callable[..., str]  # a sentence of config/texts by its name, in the report's language


@dataclass(frozen=True, slots=True)
class Part:
    """One heading with what stands below it; what is empty is left out."""

    title: str
    text: str = ""
    rows: Rows = ()
    plot: str = ""  # SVG
    name: str = ""  # of the plot's file
    code: str = ""


def parts_of(report: Report, say: Say) -> list[Part]:
    """All parts that this kind of run has."""
    counts = {name: report["questions"][name] for name in ("all", "answerable", "failed")}
    parts = [Part("", say("report_summary", file=report["file"], **counts) + _unseen(report, say))]
    if report["mode"] == "answers":
        parts += [*_verdict(report, say), *_stages(report, say), *_behaviour(report, say)]
    parts.append(Part(say("report_retrieval"), rows=tables.ranking_rows(report["retrieval"], report["by_split"])))
    parts += [*_confidence(report, say), *_costs(report, say)]
    settings = json.dumps(report["settings"], ensure_ascii=False, indent=2, default=str)
    return [*parts, Part(say("report_settings"), code=settings)]


def _verdict(report: Report, say: Say) -> Iterator[Part]:
    groups = {say("report_all"): report["grades"]}
    for name in ("by_split", "by_kind"):
        groups.update({f"{key}": of["grades"] for key, of in report[name].items()})
    if report["grades"]["n"]:
        yield _grades(say("report_grades"), say("report_grades_note"), groups, "grades", say)
    if report["judge"]["changed"]["n"]:
        changed = interval(report["judge"]["changed"])
        yield Part("", say("report_steady", changed=changed, failed=report["judge"]["failed"]))
    if "human" not in report:
        return
    human = report["human"]
    yield _grades(say("report_human"), "", {say("report_all"): human["grades"]}, "human", say)
    agreement, kappa = interval(human["agreement"]), interval(human["weighted_kappa"], percent=False)
    yield Part("", say("report_agreement", agreement=agreement, kappa=kappa))
    head = ["id", say("report_judge"), say("report_reason"), say("report_person"), say("report_comment")]
    differing = [
        [each["id"], str(each["judge"]), each["reason"], str(each["human"]), each["comment"]]
        for each in human["disagreements"]
    ]
    if differing:
        yield Part(say("report_disagreements"), rows=[head, *differing])
    if human["disputed"]:
        rows = [
            [name, ", ".join(f"{each['grade']} ({each['file']})" for each in given)]
            for name, given in human["disputed"].items()
        ]
        yield Part(say("report_disputed"), rows=[["id", ""], *rows])


def _stages(report: Report, say: Say) -> Iterator[Part]:
    rows = [Bar(say(f"report_stage_{stage}"), share) for stage, share in report["stages"].items()]
    if rows:
        plot = plots.bars(say("report_stages"), rows, maximum=1)
        table = [[say("report_stage"), say("report_share")], *([row.name, f"{row.value:.3f}"] for row in rows)]
        yield Part(say("report_stages"), say("report_stages_note"), table, plot, "stages")
    lost = [
        [say(f"report_stage_{place}"), str(len(report["lost"][place])), ", ".join(report["lost"][place])]
        for place in PLACES
    ]
    yield Part(say("report_lost"), rows=[[say("report_stage"), "n", say("report_questions")], *lost])


def _behaviour(report: Report, say: Say) -> Iterator[Part]:
    links, refusals = report["links"], report["refusals"]
    rows = [[say(f"report_{name}"), interval(links[name])] for name in _LINKS]
    if links["supported_sentences"] is not None:
        rows.append([say("report_supported"), f"{links['supported_sentences']:.1%}"])
    rows.append([say("report_language"), interval(report["language"])])
    yield Part(say("report_links"), rows=[["", say("report_share")], *rows])
    refused = [
        [say("report_refused_right"), interval(refusals["right"]), ", ".join(refusals["right_ids"])],
        [say("report_refused_missed"), interval(refusals["missed"]), ", ".join(refusals["missed_ids"])],
        [say("report_refused_wrong"), interval(refusals["wrong"]), ", ".join(refusals["wrong_ids"])],
    ]
    yield Part(say("report_refusals"), rows=[["", say("report_share"), say("report_questions")], *refused])
    yield from _quotations(report.get("quotations"), say)
    if report["degraded"]:
        rows = [[sentence, str(number)] for sentence, number in report["degraded"].items()]
        yield Part(say("report_degraded"), rows=[["", "n"], *rows])


def _quotations(quoted: Mapping[str, Any] | None, say: Say) -> Iterator[Part]:
    if not quoted:
        return
    rows = [["", "p50", "p90"], [say("report_quoted_characters"), *_percentiles(quoted["characters"], "{:.0f}")]]
    if quoted["place"]:
        rows.append([say("report_quoted_place"), *_percentiles(quoted["place"], "{:.2f}")])
    gold = "–" if quoted["gold"] is None else f"{quoted['gold']:.3f}"
    yield Part(say("report_quoted"), say("report_quoted_gold", gold=gold), rows)


def _percentiles(of: Mapping[str, float], form: str) -> list[str]:
    return [form.format(of["p50"]), form.format(of["p90"])]


def _confidence(report: Report, say: Say) -> Iterator[Part]:
    curve = report.get("confidence")
    if curve:
        head = [say("report_threshold"), say("report_refused_right"), say("report_refused_wrong")]
        rows = [[f"{of['threshold']:.1f}", f"{of['right']:.1%}", f"{of['wrong']:.1%}"] for of in curve["thresholds"]]
        text = say("report_confidence_note", area=f"{curve['auc']:.3f}")
        yield Part(say("report_confidence"), text, [head, *rows])


_LINKS = ("with_link", "with_right_page", "right_page", "right_section")


def _costs(report: Report, say: Say) -> Iterator[Part]:
    spent = report["seconds"]
    bars = [
        Bar(stage, of["p50"], of["p50"], of["p95"], f"{of['p50']:.3f} … {of['p95']:.3f} s")
        for stage, of in spent.items()
    ]
    plot = plots.bars(f"{say('report_seconds')}: p50 … p95", bars) if bars else ""
    yield Part(say("report_seconds"), rows=tables.seconds_rows(spent), plot=plot, name="seconds")
    if report.get("tokens"):
        rows = [[role, *(f"{of[name]:.0f}" for name in ("sum", "p50", "p95"))] for role, of in report["tokens"].items()]
        yield Part(say("report_tokens"), rows=[["", "Σ", "p50", "p95"], *rows])


def _grades(title: str, text: str, groups: Mapping[str, Mapping[str, Any]], name: str, say: Say) -> Part:
    """A table and stacked bars of the groups that have grades at all."""
    graded = {group: grades for group, grades in groups.items() if grades["n"]}
    head = ["", "n", *GRADES, say("report_not_0")]
    rows = [
        [group, str(grades["n"]), *(interval(grades[grade]) for grade in (*GRADES, "not_0"))]
        for group, grades in graded.items()
    ]
    shares = {group: {grade: grades[grade]["value"] for grade in GRADES} for group, grades in graded.items()}
    plot = plots.stacked(title, shares, plots.GRADE_COLOURS) if shares else ""
    return Part(title, text, [head, *rows], plot, name)


def interval(estimate: Mapping[str, Any], percent: bool = True) -> str:
    """``90.0 % [85.1–93.4]``; a dash without observations."""
    numbers: Sequence[float | None] = [estimate[name] for name in ("value", "low", "high")]
    if numbers[0] is None:
        return "–"
    scale, sign = (100, " %") if percent else (1, "")
    digits = 1 if percent else 2
    value, *ends = (None if number is None else f"{number * scale:.{digits}f}" for number in numbers)
    return f"{value}{sign}" + (f" [{ends[0]}–{ends[1]}]" if None not in ends else "")


def _unseen(report: Report, say: Say) -> str:
    gold = report.get("unseen", {"hidden": [], "missing": []})
    if not gold["hidden"] and not gold["missing"]:
        return ""
    return " " + say("report_unseen", hidden=len(gold["hidden"]), missing=len(gold["missing"]))
