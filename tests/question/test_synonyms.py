"""Synonyms: what people say is also searched as the wiki writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from askwiki.errors import SettingsError
from askwiki.language.stems import stems
from askwiki.language.synonyms import Synonyms, load_synonyms

SHIPPED = Path(__file__).resolve().parents[2] / "config" / "synonyms.yaml"


@pytest.mark.parametrize(
    ("question", "also"),
    [
        ("Где лежат бэкапы?", ("резервная копия", "резервное копирование")),
        ("после ребута всё пропало", ("перезагрузка", "перезагрузить", "перезапуск")),
        ("под сервисной учёткой", ("сервисная учётная запись", "сервисный аккаунт", "учётная запись", "аккаунт")),
        ("Сколько дней до конца испыталки?", ("испытательный срок",)),
        ("Как создать резервную копию?", ()),
    ],
)
def test_words_in_any_form_give_what_a_wiki_writes(question: str, also: tuple[str, ...]) -> None:
    assert load_synonyms(SHIPPED).expansions(question) == also


def test_what_the_wiki_writes_is_not_turned_into_slang() -> None:
    synonyms = Synonyms({"виртуалка": ("виртуальная машина",)})
    assert synonyms.expansions("Где моя виртуальная машина?") == ()


def test_no_shipped_word_stands_for_itself() -> None:
    synonyms = load_synonyms(SHIPPED)
    _, words = synonyms._found.get()
    assert [word for word, written in words.items() for one in written if stems(one) == stems(word)] == []
    assert all(synonyms.expansions(word) for word in words)


@pytest.mark.parametrize(
    ("text", "says"),
    [("- виртуалка", "lines of the form"), ("виртуалка: ВМ", "«виртуалка»"), ("a: [", "cannot be read")],
)
def test_an_invalid_file_says_where(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "synonyms.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=says):
        load_synonyms(file)


def test_no_file_is_no_everyday_words(tmp_path: Path) -> None:
    assert load_synonyms(tmp_path / "synonyms.yaml").expansions("бэкап") == ()


def test_a_file_that_is_broken_at_the_start_holds_no_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "synonyms.yaml"
    file.write_text("a: [", encoding="utf-8")
    assert load_synonyms(file, strict=False).expansions("бэкап") == ()
    assert "synonyms.yaml" in caplog.text
