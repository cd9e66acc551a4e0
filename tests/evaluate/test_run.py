"""Whole measurements over a small wiki with a scripted LLM: run, resume, judge, review, compare."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from askwiki.data import Clause, Identity, Turn
from askwiki.errors import ModelError, StoreError
from askwiki.evaluate.compare import compare
from askwiki.evaluate.losses import unseen
from askwiki.evaluate.outcome import Outcome, read_outcomes
from askwiki.evaluate.questions import Gold, GoldPlace, GoldQuestion
from askwiki.evaluate.reports.answers import answers_report
from askwiki.evaluate.reports.merging import merge
from askwiki.evaluate.reports.numbers import retrieval_report
from askwiki.evaluate.reports.review import HumanGrade
from askwiki.evaluate.running.asking import settings_in_force
from askwiki.evaluate.running.session import Plan, perform
from askwiki.kit import Kit
from askwiki.llm.port import Message
from tests.support.scripted import ScriptedLlm
from tests.support.small_wiki import MemoryReader, chunk, kit_of

WIKI = [
    chunk("1", "Перевод за границу идёт **три рабочих дня**.", headings=("Сроки",)),
    chunk("2", "Заём выдают на срок до девяноста дней.", title="Заём"),
    chunk("3", "Пропуск гостя заказывают в портале за сутки.", title="Пропуск"),
    chunk("4", "Оклад младшего аналитика — 130 000 рублей.", title="Оклады", acl="hr"),
]
HR = {"hr": (Clause(groups=("hr",)),)}


def gold(page: str, snippet: str) -> tuple[Gold, ...]:
    return (Gold((GoldPlace(page, snippet),)),)


TRANSFER = GoldQuestion(
    "q1", "fact", "Сколько дней идёт перевод за границу?", "Три рабочих дня.", True, gold("1", "три рабочих дня")
)
LOAN = GoldQuestion(
    "q2", "followup", "А заём?", "До девяноста дней.", True, gold("2", "до девяноста дней"),
    history=(Turn("user", "На какой срок выдают деньги?"), Turn("assistant", "Что именно?")),
)  # fmt: skip
PASS = GoldQuestion("q3", "howto", "Как заказать пропуск гостю?", "В портале.", True, gold("3", "заказывают в портале"))
LUNCH = GoldQuestion("q4", "unanswerable", "Где столовая?", "", False)
QUESTIONS = (TRANSFER, LOAN, PASS, LUNCH)

SAID = {"перевод": "Перевод идёт три рабочих дня [1].", "заём": "Заём выдают на девяносто дней [1]."}
JUDGED = {"Перевод идёт": 2, "Заём выдают": 1}


def user_text(messages: Sequence[Message]) -> str:
    return messages[-1].content.lower()


def relevance(messages: Sequence[Message]) -> str:
    """Only the transfer and the loan are found relevant; the guest pass is lost in the filter."""
    text = user_text(messages)
    about = {"сколько дней": "три рабочих", "на какой срок": "девяноста"}
    return "1" if any(asked in text and there in text for asked, there in about.items()) else "0"


def answering(messages: Sequence[Message]) -> str:
    return next(said for word, said in SAID.items() if f"{word}" in user_text(messages).split("вопрос")[-1])


def judging(messages: Sequence[Message]) -> dict[str, Any]:
    grade = next((grade for said, grade in JUDGED.items() if said in messages[-1].content), 0)
    return {"reason": f"Оценка {grade}.", "grade": grade}


def scripted() -> ScriptedLlm:
    llm = ScriptedLlm()
    llm.always("condense", condensing).always("relevance", relevance)
    llm.always("answer", answering).always("judge", judging)
    return llm


def condensing(messages: Sequence[Message]) -> dict[str, Any]:
    return {"question": "На какой срок выдают заём?", "need": "search", "intent": "unclear", "terms": []}


def plan(folder: Path | None = None, **changes: Any) -> Plan:
    usual = Plan(QUESTIONS, Identity(), retrieval=False, parallel=2, judgings=2, folder=folder)
    return replace(usual, **changes)


def run(kit: Kit, what: Plan) -> list[Outcome]:
    return perform(what, kit=kit, settings=kit.settings, in_force=settings_in_force(kit, kit.settings))


def test_a_full_run_gives_exactly_these_numbers(tmp_path: Path) -> None:
    llm = scripted()
    outcomes = run(kit_of(WIKI, llm=llm), plan(tmp_path))
    assert [each.id for each in outcomes] == ["q1", "q2", "q3", "q4"]
    assert [each.grade for each in outcomes] == [2, 1, 0, 0]
    assert [each.refused for each in outcomes] == ["", "", "insufficient", "outside"]
    report = answers_report(outcomes, {}, "q.jsonl")
    assert report["stages"] == {
        "found": 1.0, "gated": 1.0, "judged": pytest.approx(2 / 3),
        "prompt": pytest.approx(2 / 3), "cited": pytest.approx(2 / 3),
    }  # fmt: skip
    assert report["lost"] == {"found": [], "gated": [], "judged": ["q3"], "prompt": [], "answer": ["q4"]}
    assert report["links"]["right_page"]["value"] == 1.0
    assert report["links"]["missing"] == []
    assert (report["refusals"]["right_ids"], report["refusals"]["wrong_ids"]) == (["q4"], ["q3"])
    assert report["judge"] == {"changed": report["judge"]["changed"], "failed": 0}
    assert report["judge"]["changed"]["value"] == 0.0
    assert len(llm.asked("judge")) == 8
    assert {"search", "relevance", "answer", "first_word", "total"} <= report["seconds"].keys()
    merged = merge([HumanGrade("q1", 2), HumanGrade("q2", 2), HumanGrade("q3", 0)], outcomes)
    human = answers_report(outcomes, {}, "", merged)["human"]
    assert human["weighted_kappa"]["value"] == pytest.approx(0.8)
    assert human["agreement"]["value"] == pytest.approx(2 / 3)


def test_the_judge_reads_question_answer_and_reference_and_the_answer_first_the_second_time() -> None:
    llm = scripted()
    run(kit_of(WIKI, llm=llm), plan(questions=(TRANSFER,), parallel=1))
    first, second = (asked.messages[-1].content for asked in llm.asked("judge"))
    assert TRANSFER.question in first
    assert first.index("Три рабочих дня.") < first.index("Перевод идёт три")
    assert second.index("Перевод идёт три") < second.index("Три рабочих дня.")


def test_a_follow_up_is_judged_with_its_dialogue_and_a_question_without_answer_with_a_note() -> None:
    llm = scripted()
    kit = kit_of(WIKI, llm=llm)
    run(kit, plan(questions=(LOAN, LUNCH), parallel=1, judgings=1))
    loan, lunch = (asked.messages[-1].content for asked in llm.asked("judge"))
    assert "user: На какой срок выдают деньги?\nassistant: Что именно?\nuser: А заём?" in loan
    assert kit.texts.say("judge_no_reference", "ru") in lunch


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    llm = scripted()
    kit = kit_of(WIKI, llm=llm)
    whole = run(kit, plan(tmp_path))
    file = tmp_path / "answers.jsonl"
    kept = file.read_text(encoding="utf-8").splitlines(keepends=True)[:2]
    file.write_text("".join(kept) + '{"id": "q3"', encoding="utf-8")
    asked = len(llm.asked("answer")), len(llm.asked("judge"))
    again = run(kit, plan(tmp_path))
    assert [each.grade for each in again] == [each.grade for each in whole]
    assert again[:2] == whole[:2]
    assert (len(llm.asked("answer")), len(llm.asked("judge"))) == (asked[0], asked[1] + 4)
    assert list(read_outcomes(file)) == ["q1", "q2", "q3", "q4"]


def test_other_settings_or_another_reference_are_another_run(tmp_path: Path) -> None:
    llm = scripted()
    kit = kit_of(WIKI, llm=llm)
    run(kit, plan(tmp_path, questions=(TRANSFER,)))
    run(kit, plan(tmp_path, questions=(TRANSFER,)))
    assert len(llm.asked("answer")) == 1
    run(kit, plan(tmp_path, questions=(replace(TRANSFER, answer="Четыре дня."),)))
    assert len(llm.asked("answer")) == 2
    settings = replace(kit.settings, search=replace(kit.settings.search, candidates=2))
    perform(
        plan(tmp_path, questions=(TRANSFER,)), kit=kit, settings=settings, in_force=settings_in_force(kit, settings)
    )
    assert len(llm.asked("answer")) == 3


def test_a_failed_judgement_is_no_grade_and_is_asked_again(tmp_path: Path) -> None:
    llm = scripted().enqueue("judge", ModelError("The model timed out."), ModelError("The model timed out."))
    kit = kit_of(WIKI, llm=llm)
    (outcome,) = run(kit, plan(tmp_path, questions=(TRANSFER,)))
    assert outcome.grade is None
    assert outcome.grades[0].reason == "The model timed out."
    assert answers_report([outcome], {}, "")["grades"]["n"] == 0
    (outcome,) = run(kit, plan(tmp_path, questions=(TRANSFER,)))
    assert outcome.grade == 2
    assert len(llm.asked("answer")) == 1


def test_without_an_llm_answers_are_extracts_and_nobody_judges() -> None:
    (outcome,) = run(kit_of(WIKI), plan(questions=(TRANSFER,)))
    assert "три рабочих дня" in outcome.answer
    assert outcome.grades == ()
    assert outcome.links[0].right_section


def test_retrieval_searches_only_and_a_follow_up_with_its_history() -> None:
    llm = scripted()
    kit = kit_of(WIKI, llm=llm)
    outcomes = run(kit, plan(retrieval=True))
    assert {asked.role for asked in llm.history} == {"condense"}
    assert outcomes[1].asked == "На какой срок выдают заём?"
    (by_rule,) = run(kit_of(WIKI), plan(retrieval=True, questions=(LOAN,)))
    assert by_rule.asked == "На какой срок выдают деньги? А заём?"
    report = retrieval_report(outcomes, settings_in_force(kit, kit.settings), "q.jsonl")
    assert report["retrieval"]["snippet"]["n"] == 3
    assert report["retrieval"]["snippet"]["recall@5"] == 1.0
    assert {"p50", "p95"} == report["seconds"]["search"].keys()
    assert report["settings"]["embedder"]["kind"] == "hash"


def test_a_search_that_fails_is_a_fault_of_its_question_and_asked_again(tmp_path: Path) -> None:
    kit = kit_of(WIKI)
    assert isinstance(kit.reader, MemoryReader)
    in_force = settings_in_force(kit, kit.settings)
    kit.reader.broken = StoreError("The store does not answer.")
    what = plan(tmp_path, retrieval=True, questions=(TRANSFER,))
    (outcome,) = perform(what, kit=kit, settings=kit.settings, in_force=in_force)
    assert outcome.fault == "The store does not answer."
    kit.reader.broken = None
    (outcome,) = perform(what, kit=kit, settings=kit.settings, in_force=in_force)
    assert outcome.fault == ""
    assert json.loads((tmp_path / "answers.jsonl").read_text(encoding="utf-8"))["fault"] == ""


def test_an_empty_index_is_said_before_anything_is_asked() -> None:
    kit = kit_of(WIKI)
    empty = MemoryReader([], embedder=kit.embedder, sparse=kit.sparse)
    with pytest.raises(StoreError, match="The index is empty"):
        run(replace(kit, reader=empty), plan(retrieval=True))


def test_gold_that_a_person_may_not_see_is_told_from_gold_that_is_missing() -> None:
    salary = GoldQuestion("q5", "fact", "Какой оклад у аналитика?", "130 000", True, gold("4", "130 000"))
    gone = GoldQuestion("q6", "fact", "Что было?", "Было.", True, gold("99", "было"))
    named = replace(PASS, gold=gold("База знаний / Пропуск", "в портале"))
    kit = kit_of(WIKI, readers=HR)
    questions = (salary, gone, named)
    outcomes = run(kit, plan(retrieval=True, questions=questions))
    public = unseen(questions, outcomes, kit=kit, identity=Identity())
    assert (public.hidden, public.missing) == (("4",), ("99",))
    assert outcomes[2].ranking[0].snippets == (0,)
    anna = Identity(email="a@example.com", groups=("hr",), known=True)
    seen = unseen(questions, run(kit, plan(retrieval=True, questions=questions, identity=anna)), kit=kit, identity=anna)
    assert (seen.hidden, seen.missing) == ((), ("99",))


def test_two_runs_are_compared_question_by_question() -> None:
    before = {each.id: each for each in run(kit_of(WIKI, llm=scripted()), plan(judgings=1))}
    open_filter = scripted().always("relevance", "1").always("answer", "Пропуск гостя заказывают в портале [1].")
    open_filter.always("judge", {"reason": "Верно.", "grade": 2})
    after = {each.id: each for each in run(kit_of(WIKI, llm=open_filter), plan(judgings=1))}
    comparison = compare(before, after)
    rows = {row.name: row for row in comparison.rows}
    assert (rows["grade"].before, rows["grade"].after) == (0.75, 2.0)
    assert rows["gold in the prompt"].difference.value == pytest.approx(1 / 3)
    assert rows["refused"].difference.value == -0.5
    assert [change.id for change in comparison.better] == ["q2", "q3", "q4"]


def test_a_report_states_the_settings_but_no_secret() -> None:
    kit = kit_of(WIKI)
    settings = replace(kit.settings, rerank=replace(kit.settings.rerank, key="sk-rerank"))
    in_force = settings_in_force(kit, settings)
    assert in_force["rerank"]["cap"] == kit.settings.rerank.cap
    assert in_force["search"]["depth"] == kit.settings.search.depth
    assert "sk-rerank" not in json.dumps(in_force)
