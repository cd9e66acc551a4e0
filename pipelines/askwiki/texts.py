"""The sentences that the chat shows, in Russian and English: ``config/texts/LANGUAGE.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

import yaml

from askwiki.errors import SettingsError

WIKI_WORDS = frozenset({"wiki", "Wiki", "wiki_title"})  # filled in here; languages need not use the same of them


class Texts:
    """``texts.say("searching", "ru")``; placeholders are ``$name`` as in prompts.

    Every sentence may say what the wiki is called without being told: ``$wiki`` within it, ``$Wiki`` where it begins,
    ``$wiki_title`` as a name alone.
    """

    def __init__(self, texts: Mapping[str, Mapping[str, str]], wiki: str = "") -> None:
        self._texts = texts
        self._wiki = {language: _wiki_words(sentences, " ".join(wiki.split())) for language, sentences in texts.items()}

    def say(self, name: str, language: str, **values: object) -> str:
        language = language if language in self._texts else "ru"
        try:
            template = self._texts[language][name]
            return Template(template).substitute(
                self._wiki[language], **{key: str(value) for key, value in values.items()}
            )
        except KeyError as error:
            raise SettingsError(f"config/texts/{language}.yaml: {name} lacks {error}.") from None

    def names(self, language: str) -> dict[str, frozenset[str]]:
        """Every sentence of a language with its placeholders."""
        return {
            name: frozenset(Template(text).get_identifiers()) - WIKI_WORDS
            for name, text in self._texts[language].items()
        }


def load_texts(folder: Path, wiki: str = "") -> Texts:
    """Read every language; all must have the same sentences with the same placeholders. ``wiki``: its own name."""
    files = sorted(folder.glob("*.yaml"))
    loaded = {file.stem: _read(file) for file in files}
    if not {"ru", "en"} <= loaded.keys():
        raise SettingsError(f"{folder} must hold ru.yaml and en.yaml.")
    texts = Texts(loaded, wiki)
    for language in loaded:
        if texts.names(language) != texts.names("ru"):
            odd = {name for name, _ in texts.names(language).items() ^ texts.names("ru").items()}
            raise SettingsError(f"{folder}/{language}.yaml and ru.yaml differ in: {', '.join(sorted(odd))}.")
    return texts


def _wiki_words(sentences: Mapping[str, str], name: str) -> dict[str, str]:
    """The wiki as a sentence speaks of it: by the language's own word, with its name when it has one."""
    word = Template(sentences.get("wiki_named", "")).substitute(name=name) if name else sentences.get("wiki", "")
    title = name or sentences.get("wiki_title", "")
    return {"wiki": word, "Wiki": word[:1].upper() + word[1:], "wiki_title": title}


def _read(file: Path) -> dict[str, str]:
    try:
        read = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from error
    if not isinstance(read, dict):
        raise SettingsError(f"{file} must be a table of sentences, like 'searching: Searching…'.")
    return {str(name): str(text) for name, text in read.items()}
