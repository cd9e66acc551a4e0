"""The company's own words: terms, other spellings, meanings. One YAML file that an admin edits.

    - term: ТК
      also: [телефонка]
      means: "телефонная книга: номера и должности сотрудников"

Only what occurs in a text goes into a prompt, in any Russian form: «в телефонной книге» finds ТК. The
file is read again when it has changed; a file that has become invalid keeps the last good state.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from askwiki.errors import SettingsError
from askwiki.language.stems import STOP_WORDS, WORD, fold, stem, stems
from askwiki.system.watched import Watched

_EXPLANATION = re.compile(r"[:;,(.]")
FIELDS = {"term", "also", "means", "exact"}
_FLEETING = re.compile(r"(?<=[^аеиоуыэюя\W])[ео](?=[^аеиоуыэюя\W]$)")
LEAST_ROOT = 3  # letters; a shorter rest of a word is the rest of many
FORM_WORDS = 4  # a longer meaning is an explanation, not another name


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """One entry. ``exact`` = the term counts only in this letter case (``ТО`` is not ``то``)."""

    term: str
    means: str
    also: tuple[str, ...] = ()
    exact: bool = False

    @property
    def forms(self) -> tuple[str, ...]:
        """Everything that may stand for it in a text: the meaning too, up to its explanation."""
        name = _EXPLANATION.split(self.means, maxsplit=1)[0].strip()
        return (self.term, *self.also, *([name] if 0 < len(name.split()) <= FORM_WORDS else []))

    def line(self) -> str:
        """How a prompt names it."""
        others = f" ({', '.join(self.also)})" if self.also else ""
        return f"- {self.term}{others} — {self.means}"


class Glossary:
    """Finds terms in texts. Thread-safe."""

    def __init__(
        self,
        terms: Sequence[GlossaryTerm] = (),
        *,
        file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        strict: bool = True,
    ) -> None:
        self._forms = Watched(_index(terms), lambda path: _index(_read(path)), file, clock, strict=strict)

    def found(self, text: str) -> tuple[GlossaryTerm, ...]:
        """The terms that occur in ``text``, in the order of their first place, each once."""
        forms = self._forms.get()
        parts = WORD.findall(text.replace("-", " "))
        folded = [_key(part) for part in parts]
        terms: dict[GlossaryTerm, None] = {}
        for place in [place for place, first in enumerate(folded) if first in forms]:
            for form, term in forms[folded[place]]:
                if tuple(folded[place : place + len(form)]) == form and _is_meant(term, parts[place], len(form)):
                    terms.setdefault(term)
        return tuple(terms)

    def expansions(self, text: str) -> tuple[str, ...]:
        """Other ways to say what ``text`` names, for the sparse search: what it does not say already."""
        said = set(stems(text))
        others = [form for term in self.found(text) for form in term.forms]
        return tuple(dict.fromkeys(form for form in others if not said.issuperset(stems(form))))

    def lines(self, text: str) -> str:
        """The found terms with their meanings, one a line, for a prompt; empty when none is found."""
        return "\n".join(term.line() for term in self.found(text))


def load_glossary(file: Path, *, clock: Callable[[], float] = time.monotonic, strict: bool = True) -> Glossary:
    """Read the glossary; no file is an empty glossary, an invalid one raises with the entry's number.

    Not ``strict``: an invalid one is an empty one until it is mended, and the log says so.
    """
    return Glossary(file=file, clock=clock, strict=strict)


def _read(file: Path) -> list[GlossaryTerm]:
    try:
        entries = yaml.safe_load(file.read_text(encoding="utf-8")) or []
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"The glossary {file} cannot be read: {error}") from error
    if not isinstance(entries, list):
        raise SettingsError(f"The glossary {file} must be a list of entries with term and means.")
    return [_term(entry, f"{file}, entry {number}") for number, entry in enumerate(entries, 1)]


def _term(entry: Any, place: str) -> GlossaryTerm:
    if not isinstance(entry, dict) or not entry.get("term") or not entry.get("means"):
        raise SettingsError(f"{place}: an entry needs a term and what it means.")
    if unknown := entry.keys() - FIELDS:
        allowed = ", ".join(sorted(FIELDS))
        raise SettingsError(f"{place}: unknown {', '.join(sorted(map(str, unknown)))}; allowed: {allowed}.")
    also = entry.get("also") or []
    if not isinstance(also, list):
        raise SettingsError(f"{place}: also must be a list.")
    others = tuple(str(spelling) for spelling in also)
    return GlossaryTerm(str(entry["term"]), str(entry["means"]), others, bool(entry.get("exact", False)))


def _index(terms: Sequence[GlossaryTerm]) -> dict[str, list[tuple[tuple[str, ...], GlossaryTerm]]]:
    """First stem -> the forms that begin with it, as tuples of stems."""
    forms: dict[str, list[tuple[tuple[str, ...], GlossaryTerm]]] = {}
    for term in terms:
        for form in term.forms:
            parts = tuple(_key(part) for word in WORD.findall(form) for part in word.replace("-", " ").split())
            if parts:
                forms.setdefault(parts[0], []).append((parts, term))
    return forms


@lru_cache(maxsize=100_000)
def _key(word: str) -> str:
    """A stem without its fleeting vowel, which Snowball keeps: «день» is «дне», but «лёг» is not «лог»."""
    folded = fold(word)
    root = stem(folded).rstrip("аеиоуыэюяьй")
    if len(root) < min(LEAST_ROOT, len(folded)):
        return folded  # «заём» is not «за»
    return _FLEETING.sub("", root) if len(root) > LEAST_ROOT or folded.endswith("ь") else root


def _is_meant(term: GlossaryTerm, word: str, length: int) -> bool:
    """One word in the wrong letter case, or one that every text has («почти» is not «почта»), is not the term."""
    return length > 1 or (word in term.forms if term.exact else fold(word) not in STOP_WORDS)
