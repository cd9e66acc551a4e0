"""What people thought of the answers: ratings out of Open WebUI, and what follows from them.

Bad answers become draft questions, and together with refusals a list of pages to write or to mend.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from askwiki.evaluate.reports import plots, tables
from askwiki.evaluate.reports.review import DELIMITERS, shown
from askwiki.openwebui.ratings import NO_SPACE, Rating
from askwiki.openwebui.topics import Topic, topics

EXPORT = "/api/v1/evaluations/feedbacks/all/export"
MOST_SPACES = 4  # lines in the plot beside that of all; more cannot be told apart
COLUMNS = (
    *("time", "week", "space", "model", "rating", "score", "reason", "comment", "tags"),
    *("question", "answer", "sources", "refused", "request", "settings", "user"),
)


@dataclass(frozen=True, slots=True)
class Mend:
    """A page under bad answers, with the ratings that name it first."""

    title: str
    url: str
    ratings: tuple[Rating, ...]


def write_feedback(folder: Path, ratings: Sequence[Rating], language: str) -> None:
    """Ratings as JSONL and CSV, drafts, pages to write or mend, the trend as table and plot."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_lines(folder / "ratings.jsonl", map(asdict, ratings))
    _write_lines(folder / "drafts.jsonl", drafts(ratings))
    with (folder / "ratings.csv").open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, delimiter=DELIMITERS[language])
        writer.writerow(COLUMNS)
        writer.writerows([shown(cell) for cell in _cells(rating)] for rating in ratings)
    (folder / "trend.svg").write_text(trend_plot(ratings), encoding="utf-8")
    (folder / "pages.md").write_text("\n\n".join(pages_report(ratings)) + "\n", encoding="utf-8")


def drafts(ratings: Sequence[Rating]) -> Iterator[dict[str, Any]]:
    """Lines of a question file, marked as drafts: a person adds the right answer and the gold page."""
    for rating in ratings:
        if rating.good or not rating.question:
            continue
        line: dict[str, Any] = {"id": f"rated-{rating.id}", "draft": True, "kind": "rated"}
        line["question"] = rating.question
        if rating.history:
            line |= {"kind": "followup", "history": [asdict(turn) for turn in rating.history]}
        note = " · ".join(part for part in (rating.reason, rating.comment) if part)
        yield {**line, "answer": "", "answerable": True, "gold": [], "bad_answer": rating.answer, "note": note}


def to_write(ratings: Sequence[Rating]) -> list[Topic[Rating]]:
    """What the wiki had nothing on: refusals, and bad answers without a source."""
    return topics([rating for rating in ratings if _nothing_there(rating)], lambda rating: rating.question)


def to_mend(ratings: Sequence[Rating]) -> list[Mend]:
    """Pages whose answers were rated bad, the most often named first."""
    by_page: dict[tuple[str, str], list[Rating]] = {}
    for rating in ratings:
        if not rating.good and not _nothing_there(rating):
            source = rating.sources[0]
            by_page.setdefault((source.title, source.url.split("#")[0]), []).append(rating)
    mends = [Mend(title, url, tuple(of)) for (title, url), of in by_page.items()]
    return sorted(mends, key=lambda mend: -len(mend.ratings))


def trend(ratings: Sequence[Rating]) -> dict[str, dict[str, tuple[int, int]]]:
    """Week -> space -> (good, all); the space ``""`` is all of them together."""
    weeks: dict[str, dict[str, tuple[int, int]]] = {}
    for rating in ratings:
        for space in ("", rating.space):
            good, every = weeks.setdefault(rating.week, {}).get(space, (0, 0))
            weeks[rating.week][space] = (good + rating.good, every + 1)
    return dict(sorted(weeks.items()))


def trend_rows(ratings: Sequence[Rating]) -> list[list[str]]:
    """Share of good ratings by week, all together and by space."""
    weeks = trend(ratings)
    spaces = sorted({space for of in weeks.values() for space in of if space})
    rows = [["week", "all", *spaces]]
    return rows + [[week, *(_share(of.get(space)) for space in ("", *spaces))] for week, of in weeks.items()]


def trend_plot(ratings: Sequence[Rating]) -> str:
    """Share of good ratings by week: all together, and the spaces with the most ratings."""
    weeks = trend(ratings)
    counts = Counter(rating.space for rating in ratings)
    spaces = [space for space, _ in counts.most_common(MOST_SPACES)]
    series = {
        space or "all": [of[space][0] / of[space][1] if space in of else None for of in weeks.values()]
        for space in ("", *spaces)
    }
    return plots.lines("good ratings, share by week", list(weeks), series)


def pages_report(ratings: Sequence[Rating]) -> Iterator[str]:
    """Markdown for the owners of the wiki."""
    yield "# Pages to write or to mend"
    yield f"{len(ratings)} ratings, {sum(rating.good for rating in ratings)} of them good."
    yield "## To write: the wiki had no answer"
    for topic in to_write(ratings):
        yield _listed(topic.name, topic.items)
    yield "## To mend: answers from these pages were rated bad"
    for mend in to_mend(ratings):
        yield _listed(f"[{mend.title}]({mend.url})" if mend.url else mend.title, mend.ratings)
    if ratings:
        yield "## Trend"
        yield "![trend](trend.svg)"
        yield tables.markdown(trend_rows(ratings))


def _nothing_there(rating: Rating) -> bool:
    return bool(rating.refused) or (not rating.good and not rating.sources)


def _listed(name: str, ratings: Sequence[Rating]) -> str:
    lines = [f"### {_one_line(name)} ({len(ratings)})"]
    for rating in ratings:
        said = " · ".join(part for part in (rating.reason, rating.comment) if part)
        lines.append(f"- {_one_line(rating.question)}" + (f" — {_one_line(said)}" if said else ""))
    return "\n".join(lines)


def _cells(rating: Rating) -> list[str]:
    sources = "\n".join(f"{source.title} {source.url}".strip() for source in rating.sources)
    score = "" if rating.score is None else str(rating.score)
    space = "" if rating.space == NO_SPACE else rating.space
    return [
        *(rating.time, rating.week, space, rating.model, "1" if rating.good else "-1", score, rating.reason),
        *(rating.comment, ", ".join(rating.tags), rating.question, rating.answer, sources),
        *(rating.refused, rating.request, rating.settings, rating.user),
    ]


def _share(counts: tuple[int, int] | None) -> str:
    return f"{counts[0] / counts[1]:.0%} of {counts[1]}" if counts else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _write_lines(file: Path, lines: Iterator[Mapping[str, Any]]) -> None:
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
