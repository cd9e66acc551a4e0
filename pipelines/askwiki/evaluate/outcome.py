"""What a run keeps of one question, and the file of such lines from which a run that was stopped goes on."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from askwiki.errors import SourceError

# The stages a gold entry passes, in order; each keeps what the one before it let through.
STAGES = ("found", "gated", "judged", "prompt", "cited")


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk (or passage) at its rank: which gold entries it holds, and whose page it is of."""

    id: str
    page: str
    score: float = 0.0
    snippets: tuple[int, ...] = ()
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A source under an answer: is it of a gold page, and does its passage hold gold text?"""

    title: str
    url: str
    right_page: bool = False
    right_section: bool = False


@dataclass(frozen=True, slots=True)
class Quoted:
    """What an answer quotes: how long it is, which gold entries it holds, where in it the first one begins (0 to 1)."""

    characters: int
    entries: tuple[int, ...] = ()
    place: float | None = None


@dataclass(frozen=True, slots=True)
class Grade:
    """One judgement: 0 unacceptable, 1 unclear, 2 acceptable; ``grade`` None = it failed."""

    grade: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question, what each stage made of it, the answer and its judgements."""

    id: str
    kind: str
    question: str
    reference: str
    answerable: bool
    entries: int  # gold entries
    split: str = ""
    dialogue: str = ""  # what was said before the question
    asked: str = ""  # the stand-alone question that was searched
    stages: Mapping[str, tuple[Hit, ...]] = field(default_factory=dict)
    confidence: float | None = None  # how well what was found covers the question, 0 to 1
    answer: str = ""
    links: tuple[Link, ...] = ()
    quoted: Quoted | None = None  # None: nothing is quoted, a model answered or it was refused
    supported: float | None = None  # share of the answer's sentences that its sources support
    language_kept: bool = True
    refused: str = ""
    degraded: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)
    grades: tuple[Grade, ...] = ()
    fault: str = ""  # why there is no answer; such a line is asked again
    run: str = ""  # digest of question and settings; a line of another run is asked again

    @property
    def grade(self) -> int | None:
        """The first judgement; later ones only show how steady the judge is."""
        return self.grades[0].grade if self.grades else None

    @property
    def ranking(self) -> tuple[Hit, ...]:
        """What the search delivers: after the second stage where there is one."""
        return self.stages.get("gated", self.stages.get("found", ()))


def to_line(outcome: Outcome) -> str:
    """One line of JSON."""
    return json.dumps(dataclasses.asdict(outcome), ensure_ascii=False)


def from_line(line: str) -> Outcome:
    """The inverse of ``to_line``; raises ValueError, KeyError or TypeError on anything else."""
    values: dict[str, Any] = json.loads(line)
    stages = {stage: tuple(_hit(hit) for hit in hits) for stage, hits in values.pop("stages").items()}
    links = tuple(Link(**link) for link in values.pop("links"))
    grades = tuple(Grade(**grade) for grade in values.pop("grades"))
    degraded = tuple(values.pop("degraded"))
    quoted = values.pop("quoted", None)
    if quoted is not None:
        values["quoted"] = Quoted(**{**quoted, "entries": tuple(quoted["entries"])})
    return Outcome(**values, stages=stages, links=links, grades=grades, degraded=degraded)


def _hit(values: dict[str, Any]) -> Hit:
    return Hit(**{**values, "snippets": tuple(values["snippets"]), "pages": tuple(values["pages"])})


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
