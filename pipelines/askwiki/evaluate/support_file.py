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
from askwiki.stages.citations.support import excused, known, unsupported

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"»)*]*\s+(?=[^a-zа-яё\s])|\n+")
_PASSAGE = re.compile(r"(?:\A|\n)passage \d+:", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Labelled:
    """One answer: its sentences as (text, whether a labelled span overlaps it)."""

    question: str
    passages: tuple[str, ...]
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
            found.append(
                Labelled(str(row["question"]), _passages(row["passages"]), tuple(_cut(row["response"], spans)))
            )
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(
                f"{path}, line {number}: a line is an object with question, passages, response and spans "
                f"[{{start, end}}]; this one is not: {error!r}"
            ) from error
    if not found:
        raise SourceError(f"{path} holds no answers; each line must be one JSON object.")
    return found


def _passages(passages: Any) -> tuple[str, ...]:
    """Each passage for itself; a text that holds several names them ("passage 1:")."""
    texts = _PASSAGE.split(passages) if isinstance(passages, str) else map(str, passages)
    return tuple(text for text in texts if text.strip())


def _cut(response: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    place = 0
    for end, after in [
        *((match.start(), match.end()) for match in _SENTENCE_END.finditer(response)),
        (len(response),) * 2,
    ]:
        if _WORD.search(response[place:end]):
            yield response[place:end], any(start < end and place < stop for start, stop in spans)
        place = after


def measure(answers: Sequence[Labelled]) -> dict[str, Any]:
    """Precision, recall, F1 and false alarms of flagged sentences, and of answers with one, with intervals."""
    sentences: list[tuple[bool, bool]] = []
    whole: list[tuple[bool, bool]] = []
    seconds: list[float] = []
    for answer in answers:
        passages = {
            number: known(Passage(number, "", "", (), (), "", "", text, ()))
            for number, text in enumerate(answer.passages, 1)
        }
        for passage in passages.values():
            passage.prepare()  # the time of a passage is not that of a sentence
        own = excused(answer.question)
        pairs = []
        for text, bad in answer.sentences:
            begun = time.thread_time()
            flagged = unsupported(text, passages, own)
            seconds.append(time.thread_time() - begun)
            pairs.append((flagged, bad))
        sentences += pairs
        whole.append((any(flagged for flagged, _ in pairs), any(bad for _, bad in pairs)))
    result = {"sentences": _scores(sentences), "answers": _scores(whole)}
    result["milliseconds"] = {"p50": 1000 * percentile(seconds, 0.5), "p95": 1000 * percentile(seconds, 0.95)}
    return result


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
