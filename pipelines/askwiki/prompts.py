"""Prompts as Markdown files: a head with the variables, then ``# system`` and ``# user``.

    ---
    variables: [question, passages]
    ---
    # system
    …
    # user
    … $question …

A paragraph that depends on the case stands in the head, under ``choices``: name, then case and text;
``$name`` is filled with the text of the case that the stage asks for.

``$name`` placeholders by ``string.Template``: braces, JSON and Mermaid stay as they are, text filled
in is never expanded again. ``$$`` is a dollar sign.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import Template
from typing import Any

import yaml

from askwiki.errors import SettingsError

DOMAIN = "domain"  # the one variable that the settings fill (``wiki.domain``), not the stage
# What stands there while the settings say nothing.
_ANY_DOMAIN = {
    "ru": "Это внутренняя вики компании, вопросы задают её сотрудники.",
    "en": "This is the internal wiki of a company; its employees ask the questions.",
}
_PARTS = re.compile(r"\A---\n(?P<head>.*?)\n---\n\s*# system\n(?P<system>.*?)\n# user\n(?P<user>.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file: two templates and the names they use. ``choices``: name -> case -> text."""

    name: str
    system: str
    user: str
    variables: frozenset[str]
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    domain: str = ""

    def render(self, case: str = "", /, **values: str) -> tuple[str, str]:
        """(system, user) with every placeholder filled; a missing or unknown name or case raises.

        Without a ``case`` the first of each choice holds.
        """
        if DOMAIN in self.variables:
            values.setdefault(DOMAIN, self.domain)
        if values.keys() != self.variables:
            wrong = ", ".join(sorted(values.keys() ^ self.variables))
            raise SettingsError(f"The prompt {self.name} and the stage that fills it disagree on: {wrong}.")
        for name, texts in self.choices.items():
            if case and case not in texts:
                raise SettingsError(f"The prompt {self.name} needs the case {case!r} under {name} in its head.")
            values[name] = texts[case] if case else next(iter(texts.values()))
        return Template(self.system).substitute(values), Template(self.user).substitute(values)


class Prompts:
    """All prompts of all languages, read once. ``get("answer", "ru")``."""

    def __init__(self, prompts: Mapping[tuple[str, str], Prompt]) -> None:
        self._prompts = dict(prompts)

    def get(self, name: str, language: str) -> Prompt:
        try:
            return self._prompts[language, name]
        except KeyError:
            raise SettingsError(f"There is no prompt config/prompts/{language}/{name}.md.") from None

    def about(self, domain: str) -> Prompts:
        """The same prompts with this text on the company; empty = what fits any."""
        said = " ".join(domain.split())
        return Prompts(
            {
                (language, name): replace(prompt, domain=said or _ANY_DOMAIN.get(language, ""))
                for (language, name), prompt in self._prompts.items()
            }
        )

    def names(self) -> list[tuple[str, str]]:
        return sorted(self._prompts)


def load_prompts(folder: Path, domain: str = "") -> Prompts:
    """Read ``folder``/LANGUAGE/*.md; a malformed file raises with its name and what is wrong.

    ``domain`` = the setting ``wiki.domain``, which prompts have as ``$domain``.
    """
    files = sorted(folder.glob("*/*.md"))
    if not files:
        raise SettingsError(f"There are no prompts in {folder}; expected ru/*.md and en/*.md.")
    return Prompts({(file.parent.name, file.stem): _read(file) for file in files}).about(domain)


def _read(file: Path) -> Prompt:
    match = _PARTS.match(file.read_text(encoding="utf-8").replace("\r\n", "\n"))
    if match is None:
        raise SettingsError(f"{file} must be: '---', variables, '---', '# system', text, '# user', text.")
    head = yaml.safe_load(match["head"]) or {}
    variables, choices = frozenset(head.get("variables", [])), _choices(head.get("choices") or {}, file)
    declared = variables | choices.keys()
    system, user = match["system"].strip(), match["user"].strip()
    used: set[str] = set()
    for text in (system, user):
        if not Template(text).is_valid():
            raise SettingsError(f"{file} holds a stray '$': write '$$' for a dollar sign.")
        used.update(Template(text).get_identifiers())
    if used != declared:
        wrong = ", ".join(sorted(used ^ declared))
        raise SettingsError(f"{file}: the variables in the head and in the text differ: {wrong}.")
    return Prompt(file.stem, system, user, variables, choices)


def _choices(read: Any, file: Path) -> dict[str, dict[str, str]]:
    if not isinstance(read, dict) or not all(isinstance(texts, dict) and texts for texts in read.values()):
        raise SettingsError(f"{file}: choices must be a name, below it each case with its text.")
    return {name: {str(case): str(text).strip() for case, text in texts.items()} for name, texts in read.items()}
