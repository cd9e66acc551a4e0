"""Counters and timings of the process as Prometheus text; no names, no questions, no pages in them.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/ (text, version 0.0.4).
"""

from __future__ import annotations

import bisect
import threading
from collections.abc import Iterator, Mapping

from askwiki.data import Answer

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # seconds

HELP = {
    "askwiki_questions_total": ("counter", "Questions answered, by outcome."),
    "askwiki_refusals_total": ("counter", "Questions refused, by reason."),
    "askwiki_degraded_total": ("counter", "Parts that were missing while answering."),
    "askwiki_verdicts_total": ("counter", "Verdicts of the relevance filter."),
    "askwiki_service_requests_total": ("counter", "Titles, tags and the like, answered without a search."),
    "askwiki_http_requests_total": ("counter", "HTTP requests, by status class."),
    "askwiki_busy_total": ("counter", "Chats turned away because too many were running."),
    "askwiki_cancelled_total": ("counter", "Chats that the person stopped or left."),
    "askwiki_groups_ambiguous_total": ("counter", "Requests whose groups could not be told apart."),
    "askwiki_chats": ("gauge", "Chats running now."),
    "askwiki_index_chunks": ("gauge", "Chunks in the index."),
    "askwiki_index_age_seconds": ("gauge", "Seconds since the index last changed."),
    "askwiki_stage_seconds": ("histogram", "Seconds of each stage of a question."),
}
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Thread-safe; ``render`` gives the page that Prometheus reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[tuple[str, Labels], float] = {}
        self._histograms: dict[tuple[str, Labels], tuple[list[int], float]] = {}

    def add(self, name: str, amount: float = 1.0, **labels: str) -> None:
        key = name, tuple(sorted(labels.items()))
        with self._lock:
            self._values[key] = self._values.get(key, 0.0) + amount

    def put(self, name: str, value: float, **labels: str) -> None:
        with self._lock:
            self._values[name, tuple(sorted(labels.items()))] = value

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        key = name, tuple(sorted(labels.items()))
        with self._lock:
            counts, total = self._histograms.get(key, ([0] * (len(BUCKETS) + 1), 0.0))
            counts[bisect.bisect_left(BUCKETS, seconds)] += 1
            self._histograms[key] = counts, total + seconds

    def answered(self, answer: Answer) -> None:
        """Count one finished question."""
        self.add("askwiki_questions_total", outcome="refused" if answer.refused else "answered")
        if answer.refused:
            self.add("askwiki_refusals_total", reason=answer.refused)
        if answer.degraded:
            self.add("askwiki_degraded_total", len(answer.degraded))
        for stage, seconds in answer.timings.items():
            self.observe("askwiki_stage_seconds", seconds, stage=stage)
        for candidate in answer.trace.judged if answer.trace else ():
            if candidate.verdict:
                self.add("askwiki_verdicts_total", verdict=candidate.verdict)

    def render(self) -> str:
        with self._lock:
            values, histograms = dict(self._values), dict(self._histograms)
        return "\n".join(_lines(values, histograms)) + "\n"


METRICS = Metrics()  # of this process: both plugins and the server count here


def _lines(
    values: Mapping[tuple[str, Labels], float], histograms: Mapping[tuple[str, Labels], tuple[list[int], float]]
) -> Iterator[str]:
    for name, (kind, sentence) in HELP.items():
        yield f"# HELP {name} {sentence}"
        yield f"# TYPE {name} {kind}"
        for (key, labels), value in sorted(values.items()):
            if key == name:
                yield f"{name}{_braces(labels)} {value:.12g}"
        for (key, labels), (counts, total) in sorted(histograms.items()):
            if key == name:
                yield from _histogram(name, labels, counts, total)


def _histogram(name: str, labels: Labels, counts: list[int], total: float) -> Iterator[str]:
    seen = 0
    for limit, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
        seen += count
        yield f"{name}_bucket{_braces((*labels, ('le', limit)))} {seen}"
    yield f"{name}_sum{_braces(labels)} {total:.12g}"
    yield f"{name}_count{_braces(labels)} {seen}"


def _braces(labels: Labels) -> str:
    escaped = (f'{key}="{_escaped(value)}"' for key, value in labels)
    return "{" + ",".join(escaped) + "}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
