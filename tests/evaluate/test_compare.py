"""Two runs compared pair by pair, and the ablations built on that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from askwiki.commands import eval as eval_command
from askwiki.errors import SettingsError, SourceError
from askwiki.evaluate.ablate import VARIANTS, Variant, changed, choose, contributions, load_variants
from askwiki.evaluate.compare import OutcomeChange, compare, comparison_json, comparison_rows
from askwiki.evaluate.outcome import read_outcomes, write_outcomes
from askwiki.settings import ChunkingSettings, SearchSettings, Settings
from tests.evaluate.test_questions import options
from tests.support.outcomes import graded, hit, outcome


def found_at(name: str, rank: int) -> dict[str, object]:
    ranked = (*(hit("9") for _ in range(rank - 1)), hit("1", 0))
    return {name: outcome(name, grades=(), stages={"found": ranked}, seconds={"total": 0.1})}


def test_measures_are_compared_over_the_common_questions() -> None:
    before = {**found_at("q1", 1), **found_at("q2", 7), **found_at("q3", 2)}
    after = {**found_at("q1", 1), **found_at("q2", 2), **found_at("q4", 1)}
    comparison = compare(before, after)  # type: ignore[arg-type]
    rows = {row.name: row for row in comparison.rows}
    assert (rows["snippet recall@5"].before, rows["snippet recall@5"].after) == (0.5, 1.0)
    assert rows["snippet recall@5"].difference.n == 2
    assert rows["snippet mrr@10"].difference.value == pytest.approx((0.5 - 1 / 7) / 2)
    assert rows["page recall@1"].difference.value == 0.0
    assert not rows["page recall@1"].sure
    assert "grade" not in rows
    assert "right link" not in rows
    assert comparison.better == (OutcomeChange("q2", "Вопрос q2?", "rank 7", "rank 2"),)
    assert comparison.worse == ()
    assert comparison.unpaired == ("q3", "q4")
    assert comparison_json(comparison)["rows"][0]["sure"] is False


def test_a_change_of_many_questions_is_sure_and_marked() -> None:
    before = {f"q{n}": graded(f"q{n}", 0) for n in range(20)}
    after = {f"q{n}": graded(f"q{n}", 2 if n < 18 else 0) for n in range(20)}
    comparison = compare(before, after)
    rows = {row.name: row for row in comparison.rows}
    assert rows["grade"].difference.value == pytest.approx(1.8)
    assert rows["grade not 0"].sure
    assert [change.before for change in comparison.better] == ["grade 0, rank 1"] * 18
    table = {row[0]: row for row in comparison_rows(comparison)}
    assert table["grade not 0"][1:4] == ["0.000", "0.900", "+0.900"]
    assert table["grade not 0"][-1] == "*"


def test_runs_without_a_common_question_are_refused() -> None:
    with pytest.raises(SourceError, match="no question in common"):
        compare({"a": outcome("a")}, {"b": outcome("b")})


def test_the_command_compares_two_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, grade in (("before", 0), ("after", 2)):
        (tmp_path / name).mkdir()
        write_outcomes(tmp_path / name / "answers.jsonl", [graded("q1", grade)])
    words = ("compare", str(tmp_path / "before"), str(tmp_path / "after"))
    assert eval_command.run(options(*words, "--out", str(tmp_path / "c"))) == 0
    printed = capsys.readouterr().out
    assert "better: 1\n  q1  grade 0, rank 1 -> grade 2, rank 1  Вопрос q1?" in printed
    assert (tmp_path / "c" / "comparison.json").exists()
    with pytest.raises(SourceError, match="holds no run"):
        eval_command.run(options("compare", str(tmp_path), str(tmp_path / "after")))


def test_a_line_of_a_run_comes_back_as_it_was_and_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    whole = graded("q1", 2, None)
    write_outcomes(file, [whole])
    with file.open("a", encoding="utf-8") as stream:
        stream.write('{"id": "q2", "ki')
    assert read_outcomes(file) == {"q1": whole}
    file.write_text('{"id": 1}\n{}\n', encoding="utf-8")
    with pytest.raises(SourceError, match=r"Line 1 of .* is no line of a run"):
        read_outcomes(file)


def test_a_variant_runs_only_where_it_can_show_something() -> None:
    search = SearchSettings(depth=50, weight_text=1.0, weight_context=0.3, weight_sparse=1.0, boost_intent=0.1)
    settings = Settings(search=search, chunking=ChunkingSettings(tokens=400, sub_chunks=100))
    chosen, skipped = choose(VARIANTS, settings, retrieval=True, has_llm=False, has_source=False)
    assert [variant.name for variant in chosen] == [
        "no text vector", "no context vector", "no sparse vector", "no lift by intent and place",
    ]  # fmt: skip
    reasons = {each.variant.name: each.reason for each in skipped}
    assert reasons["legs 50 deep"] == "the settings in force are the same"
    assert reasons["no relevance filter"] == "it changes nothing about the search"
    assert reasons["no condensing"] == "there is no LLM"
    assert reasons["shorter chunks"].startswith("it needs an index of its own")
    everything, _ = choose(VARIANTS, settings, retrieval=False, has_llm=True, has_source=True)
    assert len(everything) == len(VARIANTS) - 1


def test_every_variant_of_the_matrix_names_real_settings() -> None:
    for variant in VARIANTS:
        assert isinstance(changed(Settings(), variant), Settings)
    with pytest.raises(SettingsError, match="the variant 'odd'"):
        changed(Settings(), Variant("odd", {"search.k": 1}))


def test_a_matrix_of_the_last_release_is_still_read() -> None:
    old = Variant("old", {"search.lift_place": 0.25, "search.previous": 0.5})
    assert changed(Settings(), old) == replace(Settings(), search=SearchSettings(boost_place=0.25))


def test_an_own_matrix_is_read_and_a_malformed_one_refused(tmp_path: Path) -> None:
    file = tmp_path / "matrix.yaml"
    file.write_text("fewer:\n  search.candidates: 20\n", encoding="utf-8")
    assert load_variants(file) == (Variant("fewer", {"search.candidates": 20}),)
    file.write_text("- fewer\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="must be: name"):
        load_variants(file)


def test_contributions_show_the_headline_measures_of_each_variant() -> None:
    comparison = compare({"q1": graded("q1", 0)}, {"q1": graded("q1", 2)})
    rows = contributions({"no filter": comparison})
    assert [row[:5] for row in rows[1:]] == [
        ["no filter", "snippet recall@5", "1.000", "1.000", "+0.000"],
        ["", "snippet mrr@10", "1.000", "1.000", "+0.000"],
        ["", "snippet ndcg@10", "1.000", "1.000", "+0.000"],
        ["", "grade", "0.000", "2.000", "+2.000"],
        ["", "grade not 0", "0.000", "1.000", "+1.000"],
        ["", "gold in the prompt", "1.000", "1.000", "+0.000"],
    ]
