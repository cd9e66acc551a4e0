"""Valves: a form that can always be saved, wrong values that fall back and are told."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from askwiki.configuration import replace_setting
from askwiki.openwebui.process import keep_valves, make_valves
from askwiki.openwebui.valve_memory import FILE, LastGood, keep, recall
from askwiki.openwebui.valves import UNSET, AnswerValves, CondenseValves, Knobs, Valves, starting_valves
from askwiki.server.stock import plugins_folder
from askwiki.settings import Settings
from askwiki.texts import load_texts
from tests.support.running import ROOT

DEFAULTS = Settings()
TEXTS = load_texts(ROOT / "config" / "texts")
OFF = replace_setting(DEFAULTS, "relevance.enabled", False, "test")


def labelled(kind: type[Valves], language: str = "ru") -> type[Valves]:
    """The class as a server makes it: with the labels of its language."""
    return type(starting_valves(kind, DEFAULTS, lambda name: TEXTS.say(name, language)))


def turned(kind: type[Valves], **values: Any) -> Valves:
    """Valves as the panel posts them: any value for any field."""
    return kind(**values)


@pytest.mark.parametrize("kind", [AnswerValves, CondenseValves])
def test_untouched_valves_change_nothing(kind: type[Knobs]) -> None:
    assert starting_valves(kind, DEFAULTS).apply(DEFAULTS) == DEFAULTS


def test_a_switch_starts_as_the_settings_have_it() -> None:
    valves = starting_valves(AnswerValves, OFF)
    assert valves.relevance_filter is False
    assert valves.apply(OFF) == OFF


def test_valves_that_are_set_win_over_the_settings() -> None:
    posted = {"passages": "7", "answer_temperature": "0.5", "language": "en", "answer_model": "m"}
    valves = turned(AnswerValves, **posted, relevance_filter=False)
    settings = valves.apply(DEFAULTS)
    assert (settings.passages.count, settings.llm.answer.temperature, settings.language) == (7, 0.5, "en")
    assert (settings.llm.answer.model, settings.relevance.enabled, valves.problems) == ("m", False, ())


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("candidates", "many", "Кандидаты: many"),
        ("candidates", 0, "Кандидаты: 0"),
        ("candidates", 10**9, "Кандидаты: 1000000000"),
        ("candidates", [1], "Кандидаты: [1]"),
        ("candidates", float("nan"), "Кандидаты: nan"),
        ("answer_temperature", -1, "Температура: -1"),
        ("answer_temperature", 2.5, "Температура: 2.5"),
        ("language", "de", "Язык: de"),
        ("relevance_filter", "maybe", "Проверка найденного: maybe"),
    ],
)
def test_a_wrong_value_falls_back_and_is_told(name: str, value: Any, told: str) -> None:
    valves = turned(labelled(AnswerValves), **{name: value})
    assert valves.problems == (told,)
    assert valves.apply(DEFAULTS) == DEFAULTS


@pytest.mark.parametrize("wrong", ["many", "12,5", "1.5", 0, 10**9, -1, [1], {"a": 1}, float("nan"), "²", "1e400", " "])
def test_a_wrong_value_leaves_the_last_good_one_in_force_and_saved(wrong: Any) -> None:
    kind = labelled(AnswerValves)
    assert turned(kind, candidates=40, passages=3).problems == ()
    for _ in range(2):
        valves = turned(kind, candidates=wrong, passages=4)
        assert (valves.candidates, valves.passages, len(valves.problems)) == (40, 4, 1)
        assert valves.model_dump()["candidates"] == 40
    assert turned(kind, candidates=None, passages=4).candidates is None  # as in the settings again
    assert turned(kind, candidates=wrong).candidates is None


def test_a_plugins_last_good_values_are_its_own() -> None:
    one, other = labelled(AnswerValves), labelled(AnswerValves)
    turned(one, candidates=40)
    assert turned(other, candidates="many").candidates is None
    assert turned(one, candidates="many").candidates == 40


def test_good_values_of_an_older_version_are_taken_as_far_as_they_are_still_good() -> None:
    older = {"candidates": 40, "passages": "many", "gone": 1, "language": "de"}
    kind = type(starting_valves(AnswerValves, DEFAULTS, None, older))
    valves = turned(kind, candidates="x", passages="x", language="x", gone=2)
    assert (valves.candidates, valves.passages, valves.language) == (40, None, UNSET)


@pytest.mark.parametrize(
    "text", ["", "{", '{"values": {"candidates": 40}', "[]", "null", '{"values": []}', "[" * 100_000, "\udcff"]
)
def test_a_damaged_memory_is_an_empty_one(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_bytes(text.encode("utf-8", "surrogateescape"))
    assert recall(tmp_path) == LastGood()


def test_what_is_kept_comes_back_and_is_for_its_account_only(tmp_path: Path) -> None:
    good = LastGood({"candidates": 40, "language": "ru"}, ("Кандидаты: many",))
    keep(tmp_path, good)
    assert recall(tmp_path) == good
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_a_folder_that_takes_no_file_costs_the_memory_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keep(tmp_path / "missing", LastGood({"candidates": 40}))
    assert "in force" in caplog.text


@pytest.mark.parametrize("broken", ["", "{", '{"candidates": 4', "[]", "[" * 100_000])
def test_a_broken_file_of_valves_is_replaced_by_the_last_good_values(tmp_path: Path, broken: str) -> None:
    folder = tmp_path / "wiki_answer"
    folder.mkdir()
    keep(folder, LastGood({"candidates": 40}))
    (folder / "valves.json").write_text(broken, encoding="utf-8")
    plugins_folder({"PIPELINES_DIR": str(tmp_path)}, tmp_path)
    assert json.loads((folder / "valves.json").read_text(encoding="utf-8")) == {"candidates": 40}
    assert (folder / "valves.broken").read_text(encoding="utf-8") == broken


@pytest.mark.parametrize("value", [None, "", UNSET])
def test_an_unset_switch_falls_back_to_the_settings_not_to_the_code(value: Any) -> None:
    kind = type(starting_valves(AnswerValves, OFF))
    assert turned(kind, relevance_filter=value).relevance_filter is False


def test_unknown_valves_of_older_versions_are_ignored() -> None:
    assert turned(AnswerValves, gone=1).problems == ()


@pytest.mark.parametrize(
    ("value", "kept", "problems"),
    [
        (["wiki_answer", "preset"], ["wiki_answer", "preset"], ()),
        ("*", ["*"], ()),
        ([], ["wiki_answer"], ("Модели чата: []",)),
        ([""], ["wiki_answer"], ("Модели чата: ['']",)),
        (5, ["wiki_answer"], ("Модели чата: 5",)),
        (None, ["wiki_answer"], ()),
    ],
)
def test_the_filter_always_names_models(value: Any, kept: list[str], problems: tuple[str, ...]) -> None:
    valves = turned(labelled(CondenseValves), pipelines=value)
    assert (valves.pipelines, valves.problems) == (kept, problems)


def test_saved_valves_load_again_as_the_server_does_it() -> None:
    start = starting_valves(AnswerValves, DEFAULTS)
    saved = json.loads(json.dumps(turned(type(start), passages=5).model_dump()))
    again = turned(type(start), **{**start.model_dump(), **saved})
    assert (again.passages, again.candidates, again.problems) == (5, None, ())


def test_the_panel_gets_switches_a_list_of_choices_and_optional_fields_only() -> None:
    for kind in (AnswerValves, CondenseValves):
        for name, field in labelled(kind).model_json_schema()["properties"].items():
            optional = {"type": "null"} in field.get("anyOf", [])
            shown = field.get("type") in {"boolean", "integer"} or "enum" in field or name == "pipelines"
            assert optional or shown, name
            assert field["title"] and field["description"], name


def test_a_drop_down_offers_its_choices_and_the_way_back_to_the_settings() -> None:
    field = labelled(AnswerValves).model_json_schema()["properties"]["language"]
    assert (field["enum"], field["default"], field["title"]) == (["—", "ru", "en"], "—", "Язык")
    assert labelled(AnswerValves, "en").model_json_schema()["properties"]["language"]["title"] == "Language"


def test_no_valve_holds_a_secret() -> None:
    for kind in (AnswerValves, CondenseValves):
        assert not [name for name in kind.model_fields if "key" in name or "token" in name or "password" in name]


def test_what_was_refused_is_told_until_somebody_saves_good_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIPELINES_DIR", str(tmp_path))
    (tmp_path / "wiki_answer").mkdir()
    kind = type(make_valves(AnswerValves, "wiki_answer"))
    keep_valves(turned(kind, candidates=40), "wiki_answer")
    keep_valves(turned(kind, candidates="many"), "wiki_answer")
    restarted = make_valves(AnswerValves, "wiki_answer")
    saved = turned(type(restarted), **{**restarted.model_dump(), "candidates": "12,5"})  # edited by hand meanwhile
    assert saved.candidates == 40
    keep_valves(turned(type(restarted), candidates=40), "wiki_answer", starting=True)
    kept = recall(tmp_path / "wiki_answer")
    assert (kept.values["candidates"], [one.split(": ")[1] for one in kept.refused]) == (40, ["many"])
    keep_valves(turned(type(restarted), candidates=30), "wiki_answer")
    assert recall(tmp_path / "wiki_answer").refused == ()


@pytest.mark.parametrize(("language", "span"), [("ru", "от {0:g} до {1:g}."), ("en", "{0:g} to {1:g}.")])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (AnswerValves, "candidates"),
        (AnswerValves, "passages"),
        (AnswerValves, "answer_temperature"),
        (CondenseValves, "turns"),
    ],
)
def test_a_valve_takes_what_its_label_says(kind: type[Knobs], name: str, language: str, span: str) -> None:
    _, low, high = kind.SETTINGS[name]
    assert TEXTS.say(f"valve_{name}_about", language).endswith(span.format(low, high))
