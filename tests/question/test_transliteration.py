"""Russian in Latin letters is recognised, read in every usual spelling, and searched as the wiki writes it."""

from __future__ import annotations

import pytest

from askwiki.language.transliteration import is_transliteration, transliterated


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("kak dobavit disk k virtualke", "как добавит диск к виртуалке"),
        ("Gde nastroit' VPN dlya ofisa?", "где настроить VPN для офиса?"),
        ("novyy proekt: kakoy limit na moyu mashinu", "новый проект: какой лимит на мою машину"),
        ("podkljuchaetsja li klaster k 10.0.0.1", "подключается ли кластер к 10.0.0.1"),
        ("failovye khranilishcha", "фаиловые хранилища"),
        ("zhurnal audita", "журнал аудита"),
        ("как добавить disk", ""),
        ("403", ""),
    ],
)
def test_latin_letters_are_read_as_the_russian_ones_they_stand_for(typed: str, meant: str) -> None:
    assert transliterated(typed) == meant


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kak dobavit disk k virtualke", True),
        ("V kakom razdele limity?", True),
        ("How do I add a disk to a VM?", False),
        ("Do you have no logs on me?", False),
        ("routerctl enable", False),
        ("zhurnal audita", False),
        ("как добавить диск", False),
    ],
)
def test_words_that_every_russian_text_has_tell_a_transliteration(text: str, expected: bool) -> None:
    assert is_transliteration(text) is expected
