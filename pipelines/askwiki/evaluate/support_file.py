"""How well the support check finds what people have labelled as not borne out: sentences and whole answers."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askwiki.data import Passage
from askwiki.errors import SourceError
from askwiki.evaluate.statistics import Estimate, percentile, wilson
from askwiki.language.stems import telling_stems
from askwiki.stages.citations.support import known, supporting

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"»)*]*\s+(?=[^a-zа-яё\s])|\n+")
LEAST_WORDS = 3  # telling words of a sentence that claims something
_WORD = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Labelled:
    """One answer: its sentences as (text, whether a labelled span overlaps it)."""

    question: str
    passages: str
    sentences: tuple[tuple[str, bool], ...]


def read_labelled(path: Path) -> list[Labelled]:
    """The lines of ``path``: question, passages, response, spans; SourceError names a line that is wrong."""
    found = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            spans = [(int(span["start"]), int(span["end"])) for span in row["spans"]]
            found.append(Labelled(str(row["question"]), _text(row["passages"]), tuple(_cut(row["response"], spans))))
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(
                f"{path}, line {number}: a line is an object with question, passages, response and spans "
                f"[{{start, end}}]; this one is not: {error!r}"
            ) from error
    if not found:
        raise SourceError(f"{path} holds no answers; each line must be one JSON object.")
    return found


def _text(passages: Any) -> str:
    return passages if isinstance(passages, str) else "\n\n".join(map(str, passages))


def _cut(response: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    place = 0
    for end, after in [
        *((match.start(), match.end()) for match in _SENTENCE_END.finditer(response)),
        (len(response),) * 2,
    ]:
        if _WORD.search(response[place:end]):
            yield response[place:end], any(start < end and place < stop for start, stop in spans)
        place = after


def measure(answers: Sequence[Labelled], least_share: float) -> dict[str, Any]:
    """Precision, recall, F1 and false alarms of flagged sentences, and of answers with one, with intervals."""
    sentences: list[tuple[bool, bool]] = []
    whole: list[tuple[bool, bool]] = []
    seconds: list[float] = []
    for answer in answers:
        passages = {1: known(Passage(1, "", "", (), (), "", "", answer.passages, ()))}
        _ = passages[1].facts, passages[1].stems  # the time of a passage is not that of a sentence
        pairs = []
        for text, bad in answer.sentences:
            begun = time.perf_counter()
            flagged = _is_claim(text) and not supporting(text, [1], passages, least_share)
            seconds.append(time.perf_counter() - begun)
            pairs.append((flagged, bad))
        sentences += pairs
        whole.append((any(flagged for flagged, _ in pairs), any(bad for _, bad in pairs)))
    result = {"sentences": _scores(sentences), "answers": _scores(whole)}
    result["milliseconds"] = {"p50": 1000 * percentile(seconds, 0.5), "p95": 1000 * percentile(seconds, 0.95)}
    return result


def _is_claim(text: str) -> bool:
    """Whether a sentence says something of its own: no greeting, no line before a list, not on the sources alone."""
    return len(telling_stems(text)) >= LEAST_WORDS and not text.rstrip().endswith((":", "?"))


def _scores(pairs: Sequence[tuple[bool, bool]]) -> dict[str, Any]:
    """``pairs``: (flagged, bad)."""
    right = sum(flagged and bad for flagged, bad in pairs)
    flagged, bad = sum(flag for flag, _ in pairs), sum(bad for _, bad in pairs)
    fine = len(pairs) - bad
    precision, recall, alarms = wilson(right, flagged), wilson(right, bad), wilson(flagged - right, fine)
    return {
        "n": len(pairs),
        "bad": bad,
        "precision": _value(precision),
        "recall": _value(recall),
        "f1": 2 * right / (flagged + bad) if flagged + bad else None,
        "false_alarms": _value(alarms),
        "intervals": {
            name: [estimate.low, estimate.high] if estimate.n else None
            for name, estimate in (("precision", precision), ("recall", recall), ("false_alarms", alarms))
        },
    }


def _value(estimate: Estimate) -> float | None:
    return estimate.value if estimate.n else None
