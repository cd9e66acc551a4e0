"""Synonyms: a question in the words people use is also searched by those a wiki uses.

    виртуалка: [виртуальная машина, ВМ]

One way only: a question in the wiki's own words needs no slang. Only the search sees them; a language
model knows both. The words ship with the program (``config/synonyms.yaml``) and are the admin's to edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from askwiki.errors import SettingsError
from askwiki.language.glossary import Glossary, GlossaryTerm
from askwiki.language.stems import stems
from askwiki.system.watched import Watched

Words = Mapping[str, tuple[str, ...]]


class Synonyms:
    """Finds everyday words in any form. Thread-safe."""

    def __init__(self, words: Words | None = None, *, file: Path | None = None, strict: bool = True) -> None:
        self._found = Watched(_ready(words or {}), lambda path: _ready(_read(path)), file, strict=strict)

    def expansions(self, text: str) -> tuple[str, ...]:
        """How a wiki writes what ``text`` says in everyday words, each once."""
        finder, words = self._found.get()
        return tuple(dict.fromkeys(written for term in finder.found(text) for written in words[term.term]))

    def heard(self, question: str, text: str) -> tuple[str, ...]:
        """The everyday words of ``question`` that ``text`` says in the wiki's way."""
        finder, words = self._found.get()
        found = finder.found(question)
        said = set(stems(text)) if found else set[str]()
        return tuple(term.term for term in found if any(said.issuperset(stems(way)) for way in words[term.term]))


def _ready(words: Words) -> tuple[Glossary, Words]:
    return Glossary([GlossaryTerm(word, "") for word in words]), words


def load_synonyms(file: Path, *, strict: bool = True) -> Synonyms:
    """No file = no everyday words; an invalid one raises SettingsError with the word it stops at.

    Not ``strict``: an invalid one holds no words until it is mended, and the log says so.
    """
    return Synonyms(file=file, strict=strict)


def _read(file: Path) -> Words:
    try:
        entries = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"The everyday words {file} cannot be read: {error}") from error
    if not isinstance(entries, dict):
        raise SettingsError(f"The everyday words {file} must be lines of the form `word: [how the wiki writes it]`.")
    for word, written in entries.items():
        if not isinstance(written, list) or not written:
            raise SettingsError(f"{file}, «{word}»: a list of what the wiki writes must follow, in brackets.")
    return {str(word): tuple(map(str, written)) for word, written in entries.items()}
