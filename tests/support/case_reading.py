"""How conversion cases are compared: both sides are freed of what Markdown adds, then searched."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
DELIMITER = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")


@dataclass(frozen=True)
class Case:
    """One input and what must hold of its Markdown."""

    name: str
    file: Path
    form: str
    rules: Mapping[str, Any]


def cases(folder: Path) -> list[Case]:
    found = []
    for rules_file in sorted(folder.glob("*.yaml")):
        rules = yaml.safe_load(rules_file.read_text(encoding="utf-8"))
        file = next(file for file in sorted(folder.glob(f"{rules_file.stem}.*")) if file.suffix != ".yaml")
        found.append(Case(rules_file.stem, file, rules["form"], rules))
    return found


def normal(text: str) -> str:
    text = INVISIBLE.sub("", unicodedata.normalize("NFC", unquote(str(text))))
    return " ".join(ESCAPE.sub(r"\1", text.replace("<br>", " ")).split())


def bare(text: str) -> str:
    """Without the marks of emphasis."""
    return " ".join(re.sub(r"\*\*|~~|\*|(?<!\w)_|_(?!\w)", "", text).split())


def faults(markdown: str, rules: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for each rule that does not hold."""
    plain = normal(markdown)
    without_marks = bare(plain)
    for text in rules.get("must_contain") or []:
        if normal(text) not in plain and bare(normal(text)) not in without_marks:
            yield f"must contain {text!r}"
    for text in rules.get("must_not_contain") or []:
        if normal(text) in plain:
            yield f"must not contain {text!r}"
    place = 0
    for text in rules.get("order") or []:
        found = without_marks.find(bare(normal(text)), place)
        if found < 0:
            yield f"out of order: {text!r}"
        place = max(found, place)
    for block in rules.get("verbatim") or []:
        if not holds_verbatim(markdown, block):
            yield f"not letter for letter: {block!r}"
    relations = list(table_relations(markdown))
    for wanted in rules.get("table") or []:
        if not any(_same_cell(wanted, *relation) for relation in relations):
            yield f"not recoverable: {wanted}"


def holds_verbatim(markdown: str, block: str) -> bool:
    lines, wanted = markdown.replace("\r\n", "\n").split("\n"), block.strip("\n").split("\n")
    for start in range(len(lines) - len(wanted) + 1):
        piece = lines[start : start + len(wanted)]
        indent = min((len(line) - len(line.lstrip(" ")) for line in piece if line.strip()), default=0)
        least = min((len(line) - len(line.lstrip(" ")) for line in wanted if line.strip()), default=0)
        if [line[indent:] for line in piece] == [line[least:] for line in wanted]:
            return True
    return False


def table_relations(markdown: str) -> Iterator[tuple[str, str, str]]:
    """(header, cell, whole row): of pipe tables, and of "header: value" lines and pieces of cells."""
    header: list[str] = []
    lines = markdown.split("\n")
    for number, line in enumerate(lines):
        if DELIMITER.fullmatch(line.strip().lstrip("> ")):
            header = _cells(lines[number - 1])
        elif line.strip().lstrip("> ").startswith("|"):
            if header and not (number + 1 < len(lines) and DELIMITER.fullmatch(lines[number + 1].strip().lstrip("> "))):
                cells = _cells(line)
                for name, cell in zip(header, cells, strict=True):
                    yield bare(normal(name)), bare(normal(cell)), bare(normal(line))
                for cell in cells:
                    for piece in cell.split("<br>"):
                        yield bare(normal(piece)), bare(normal(piece)), bare(normal(piece))
        else:
            header = []
            if re.match(r"\s*- .*:", line):
                yield bare(normal(line.partition(":")[0])), bare(normal(line)), bare(normal(line))


def _cells(line: str) -> list[str]:
    inside = line.strip().lstrip("> ").strip("|")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", inside)]


def _same_cell(wanted: Mapping[str, Any], header: str, cell: str, row: str) -> bool:
    parts = [bare(normal(part)) for part in str(wanted["header"]).split(" / ")]
    text = bare(normal(wanted["cell"]))
    return all(part in header for part in parts) and text in cell and bare(normal(wanted.get("row", ""))) in row
