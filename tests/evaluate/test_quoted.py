"""Quotations in a run: how long they are, which gold entries they hold, where the first one begins."""

from __future__ import annotations

from askwiki.evaluate.outcome import Outcome, Quoted, from_line, to_line
from askwiki.evaluate.questions import Gold, GoldPlace
from askwiki.evaluate.reports.answers import quotations
from askwiki.evaluate.running.quoted import quoted_of

ANSWER = "Вот что:\n\n**Лимиты** [1]\n\n> abcd **Сто** рублей.\n\n**Б** [2]\n\n> Срок\n\n**Источники**\n\n1. x"


def outcome(name: str, quoted: Quoted | None, **more: object) -> Outcome:
    fields = {"kind": "fact", "question": "?", "reference": "", "answerable": True, "entries": 2}
    return Outcome(id=name, quoted=quoted, **{**fields, **more})  # type: ignore[arg-type]


def test_the_gold_in_the_quotations_is_found_and_where_it_begins() -> None:
    gold = [Gold((GoldPlace("p", text),)) for text in ("Сто рублей", "Источники")]
    assert quoted_of(ANSWER, gold) == Quoted(len("abcd **Сто** рублей.\n") + len("Срок\n"), (0,), 4 / 18)
    assert quoted_of("Ответ модели [1].", gold) is None


def test_quotations_of_a_run_are_reported_and_a_refusal_holds_no_gold() -> None:
    outcomes = [outcome("a", Quoted(100, (0, 1), 0.0)), outcome("b", Quoted(300, (0,), 0.5)), outcome("c", None)]
    report = quotations(outcomes)
    assert (report["n"], report["characters"]["p50"], report["gold"], report["place"]["p50"]) == (2, 200.0, 0.5, 0.25)
    assert quotations([outcome("c", None)]) == {}


def test_what_was_quoted_is_kept_in_the_line_of_an_answer() -> None:
    kept = outcome("a", Quoted(100, (0, 1), 0.0))
    assert from_line(to_line(kept)) == kept
