"""How many tokens a text has: by the bound of the settings, or by a tokenizer that must be readable."""

from __future__ import annotations

from pathlib import Path

import pytest

from askwiki.errors import SettingsError
from askwiki.llm.tokens import make_counter
from askwiki.settings import LlmSettings


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("абв", 2), ("а" * 25, 10), ("а" * 26, 11)])
def test_without_a_tokenizer_the_bound_counts(text: str, tokens: int) -> None:
    assert make_counter(LlmSettings(characters_per_token=2.5))(text) == tokens


def test_a_tokenizer_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"llm\.tokenizer"):
        make_counter(LlmSettings(tokenizer=str(tmp_path / "none.json")))
