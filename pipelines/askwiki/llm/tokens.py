"""How many tokens a text has for the language model: by its tokenizer where one is given, else a safe bound."""

from __future__ import annotations

import math
from collections.abc import Callable

from askwiki.errors import SettingsError
from askwiki.settings import LlmSettings

Counter = Callable[[str], int]


def make_counter(settings: LlmSettings) -> Counter:
    """``llm.tokenizer`` names a ``tokenizer.json``; without it ``llm.characters_per_token`` is the bound."""
    if settings.tokenizer:
        return _by_tokenizer(settings.tokenizer)
    return lambda text: math.ceil(len(text) / settings.characters_per_token)


def _by_tokenizer(file: str) -> Counter:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise SettingsError("llm.tokenizer is set, so `pip install tokenizers` is needed.") from None
    try:
        tokenizer = Tokenizer.from_file(file)
    except Exception as error:  # the library raises bare Exception for a missing or malformed file
        raise SettingsError(f"llm.tokenizer: {file} cannot be read as a tokenizer.json: {error}") from error
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
