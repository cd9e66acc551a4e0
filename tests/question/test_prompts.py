"""Prompt files: strict placeholders, both languages alike, no expansion of what is filled in."""

from __future__ import annotations

from pathlib import Path

import pytest

from askwiki.errors import SettingsError
from askwiki.prompts import load_prompts
from askwiki.texts import load_texts

CONFIG = Path(__file__).resolve().parents[2] / "config"


def prompt_file(tmp_path: Path, text: str) -> Path:
    (tmp_path / "ru").mkdir()
    (tmp_path / "ru" / "answer.md").write_text(text, encoding="utf-8")
    return tmp_path


GOOD = "---\nvariables: [question]\n---\n# system\nYou {help} for $$5.\n# user\n## Q\n$question\n"


def test_placeholders_are_filled_and_never_expanded_again(tmp_path: Path) -> None:
    prompt = load_prompts(prompt_file(tmp_path, GOOD)).get("answer", "ru")
    assert prompt.render(question="cost of $question {x}") == ("You {help} for $5.", "## Q\ncost of $question {x}")


@pytest.mark.parametrize("values", [{}, {"question": "a", "more": "b"}])
def test_missing_and_unknown_values_are_refused(tmp_path: Path, values: dict[str, str]) -> None:
    prompt = load_prompts(prompt_file(tmp_path, GOOD)).get("answer", "ru")
    with pytest.raises(SettingsError, match=r"disagree on: (question|more)"):
        prompt.render(**values)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# system\nx\n# user\ny\n", "must be: '---'"),
        ("---\nvariables: []\n---\n# system\n$5\n# user\ny\n", "stray"),
        ("---\nvariables: [a]\n---\n# system\nx\n# user\ny\n", "differ: a"),
        ("---\nvariables: []\n---\n# system\nx\n# user\n$b\n", "differ: b"),
        ("---\nchoices: {a: {one: x}}\n---\n# system\nx\n# user\ny\n", "differ: a"),
        ("---\nchoices: {a: text}\n---\n# system\nx\n# user\n$a\n", "choices must be"),
    ],
)
def test_a_malformed_file_is_refused_with_the_reason(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        load_prompts(prompt_file(tmp_path, text))


def test_a_case_brings_its_own_paragraph_as_it_stands(tmp_path: Path) -> None:
    text = "---\nchoices:\n  task:\n    one: Pay $5.\n    two: Wait.\n---\n# system\nDo: $task\n# user\ny\n"
    prompt = load_prompts(prompt_file(tmp_path, text)).get("answer", "ru")
    assert [prompt.render(case)[0] for case in ("", "one", "two")] == ["Do: Pay $5.", "Do: Pay $5.", "Do: Wait."]
    with pytest.raises(SettingsError, match="needs the case 'three' under task"):
        prompt.render("three")


def test_every_prompt_exists_in_both_languages_with_the_same_variables() -> None:
    prompts = load_prompts(CONFIG / "prompts")
    names = {name for _, name in prompts.names()}
    for name in names:
        assert prompts.get(name, "ru").variables == prompts.get(name, "en").variables, name
        cases = [
            {each: set(of) for each, of in prompts.get(name, language).choices.items()} for language in ("ru", "en")
        ]
        assert cases[0] == cases[1], name


def test_both_languages_say_the_same_sentences() -> None:
    texts = load_texts(CONFIG / "texts")
    assert texts.names("ru") == texts.names("en")


@pytest.mark.parametrize(
    ("language", "wiki", "title", "sentence"),
    [
        ("ru", "", "Вики: ответы", "Ищу в вики…"),
        ("ru", " База\n знаний $x ", "База знаний $x: ответы", "Ищу в вики «База знаний $x»…"),
        ("en", "", "Wiki: answers", "Searching the wiki…"),
        ("en", "Atlas", "Atlas: answers", "Searching the wiki “Atlas”…"),
    ],
)
def test_the_chat_calls_the_wiki_by_its_name(language: str, wiki: str, title: str, sentence: str) -> None:
    texts = load_texts(CONFIG / "texts", wiki)
    assert texts.say("answer_name", language) == title
    assert texts.say("searching", language) == sentence


def test_a_sentence_that_begins_with_the_wiki_has_a_capital_letter() -> None:
    texts = load_texts(CONFIG / "texts", "Atlas")
    assert texts.say("refused_nothing", "en").startswith("The wiki “Atlas” has nothing on this question.")


# --- the prompts themselves ---------------------------------------------------------------------------------

ABOUT = "Банк «Пример»: переводы по СНГ; спрашивают кассиры $5."
KNOW_THE_COMPANY = {"condense", "relevance", "missing", "answer", "context", "cut"}
# Which company words are meant is known to whoever reads the question or the page.
WITHOUT_GLOSSARY = {"title", "dialogue", "merge"}
NAMES = load_prompts(CONFIG / "prompts").names()


@pytest.mark.parametrize(("language", "name"), NAMES)
def test_each_prompt_renders_with_all_it_was_given(language: str, name: str) -> None:
    prompt = load_prompts(CONFIG / "prompts", ABOUT).get(name, language)
    given = {variable: f"({variable} of ${name})" for variable in prompt.variables - {"domain"}}
    for case in {case for texts in prompt.choices.values() for case in texts} or {""}:
        system, user = prompt.render(case, **given)
        assert [value for value in given.values() if value not in f"{system}\n{user}"] == []
        assert (ABOUT in system) == (name in KNOW_THE_COMPANY)
        assert "\n\n\n" not in system


@pytest.mark.parametrize(("language", "name"), NAMES)
def test_every_prompt_that_reads_the_wiki_is_told_the_words_of_the_company(language: str, name: str) -> None:
    has = "glossary" in load_prompts(CONFIG / "prompts").get(name, language).variables
    assert has == (name not in WITHOUT_GLOSSARY)


@pytest.mark.parametrize(
    ("language", "sentence"), [("ru", "Это внутренняя вики компании"), ("en", "This is the internal")]
)
def test_a_company_that_says_nothing_of_itself_is_any(language: str, sentence: str) -> None:
    prompts = load_prompts(CONFIG / "prompts")
    given = dict.fromkeys(prompts.get("cut", language).variables - {"domain"}, "x")
    assert prompts.get("cut", language).render(**given)[0].startswith(sentence)
    assert prompts.about(" Банк\n «Пример» ").get("cut", language).render(**given)[0].startswith("Банк «Пример»")


# What a rule of the answer says, in both languages: each was asked for by somebody who read answers.
RULES = {
    "how long": ("Длина по вопросу", "Length as the question needs it"),
    "lists": ("пройди все источники по порядку", "go through all sources in order"),
    "counting": ("по части таблицы не считай", "never count from a part of a table"),
    "false premise": ("Вопрос исходит из неверного", "A question that rests on something wrong"),
    "vague": ("коротко ответь на каждое понимание", "answer each reading in short"),
    "diagrams and letters": ("только когда об этом просят", "only when asked to"),
    "numbers in tables": ("в последней ячейке строки", "in the last cell of the row"),
    "own sums": ("свои подсчёты ставь в отдельное предложение", "your own sums into a sentence of their own"),
    "no list of sources": ("списка источников не пиши", "no list of sources"),
    "how sure": ("судя по источнику", "judging by the source"),
    "the gap": ("NO_ANSWER цены лицензии", "NO_ANSWER the price of the licence"),
    "shown in part": ("не утверждай, что в вики чего-то нет", "do not claim that the wiki lacks something"),
    "undated": ("без дат назови оба и не выбирай", "without dates name both and choose none"),
    "the head": ("место в вики, часть раздела, дата правки", "the place in the wiki, the part of the section"),
}


@pytest.mark.parametrize("rule", RULES)
def test_the_answers_rules_are_in_both_languages(rule: str) -> None:
    prompts = load_prompts(CONFIG / "prompts")
    for language, words in zip(("ru", "en"), RULES[rule], strict=True):
        assert words in prompts.get("answer", language).system
