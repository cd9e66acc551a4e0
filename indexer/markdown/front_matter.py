"""What stands above the text of a Markdown file between two rules: title, place, dates, readers.

A head that is cut or misspelt must not pass for a text without one: its readers would be lost, and pages
of Markdown without readers are open by default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from askwiki.errors import PageError
from indexer.spelling import misspelt

FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?\r?\n)?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
RULE = re.compile(r"\ufeff?---[ \t]*\Z")
KEYS = ("title", "path", "updated", "labels", "readers", "url", "space")
WORDS = ("headers", "leaders", "renders")  # keys of others, a letter away from ours


def split_front_matter(file: Path) -> tuple[Mapping[str, Any], str]:
    """Front matter and body; the body keeps every other character of the file."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise PageError(f"The file is not UTF-8 (byte {error.start}).") from error
    match = FRONT_MATTER.match(text)
    if not match:
        if _opens_with_keys(text):
            raise PageError("The front matter has no end: a line of three dashes is missing below its keys.")
        return {}, text
    try:
        matter = yaml.safe_load(match[1] or "")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise PageError(f"The front matter is not valid YAML: {' '.join(str(error).split())}") from error
    if matter is None:
        return {}, text[match.end() :]
    if not isinstance(matter, dict):
        if any(line.lstrip().startswith("readers") for line in match[1].splitlines()):
            raise PageError("The front matter tells of readers, but is no list of keys and values.")
        return {}, text  # a rule and a paragraph, no front matter
    _check_readers(matter, match[1])
    return matter, text[match.end() :]


def _opens_with_keys(text: str) -> bool:
    """A rule in the first line and one of our keys before the first empty line."""
    lines = text.splitlines()
    if not lines or not RULE.match(lines[0]):
        return False
    head = lines[1:]
    blank = next((number for number, line in enumerate(head) if not line.strip()), len(head))
    return any(line.partition(":")[0].strip() in KEYS and ":" in line for line in head[:blank])


def _check_readers(matter: Mapping[Any, Any], written: str) -> None:
    for key in matter:
        if isinstance(key, str) and key not in WORDS and misspelt(key, ("readers",)):
            raise PageError(f"The front matter has the key {key}, which should be readers.")
    if sum(line.partition(":")[0] == "readers" for line in written.splitlines()) > 1:
        raise PageError("The front matter names the readers twice.")
