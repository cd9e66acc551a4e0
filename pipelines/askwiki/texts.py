"""The sentences that the chat shows, in Russian and English: ``config/texts/LANGUAGE.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

import yaml

from askwiki.errors import SettingsError


class Texts:
    """``texts.say("searching", "ru")``; placeholders are ``$name`` as in prompts."""

    def __init__(self, texts: Mapping[str, Mapping[str, str]]) -> None:
        self._texts = texts

    def say(self, name: str, language: str, **values: object) -> str:
        try:
            template = self._texts.get(language, self._texts["ru"])[name]
            return Template(template).substitute({key: str(value) for key, value in values.items()})
        except KeyError as error:
            raise SettingsError(f"config/texts/{language}.yaml: {name} lacks {error}.") from None

    def names(self, language: str) -> dict[str, frozenset[str]]:
        """Every sentence of a language with its placeholders."""
        return {name: frozenset(Template(text).get_identifiers()) for name, text in self._texts[language].items()}


def load_texts(folder: Path) -> Texts:
    """Read every language; all must have the same sentences with the same placeholders."""
    files = sorted(folder.glob("*.yaml"))
    loaded = {file.stem: _read(file) for file in files}
    if not {"ru", "en"} <= loaded.keys():
        raise SettingsError(f"{folder} must hold ru.yaml and en.yaml.")
    texts = Texts(loaded)
    for language in loaded:
        if texts.names(language) != texts.names("ru"):
            odd = {name for name, _ in texts.names(language).items() ^ texts.names("ru").items()}
            raise SettingsError(f"{folder}/{language}.yaml and ru.yaml differ in: {', '.join(sorted(odd))}.")
    return texts


def _read(file: Path) -> dict[str, str]:
    try:
        read = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from error
    if not isinstance(read, dict):
        raise SettingsError(f"{file} must be a table of sentences, like 'searching: Searching…'.")
    return {str(name): str(text) for name, text in read.items()}
