"""Measures of a ranking, with values worked out by hand."""

from __future__ import annotations

import math

import pytest

from askwiki.data import Chunk
from askwiki.evaluate.matching import gold_of
from askwiki.evaluate.metrics import mean_measures, measures, ndcg, page_ranks, snippet_ranks
from askwiki.evaluate.outcome import Hit, Outcome
from askwiki.evaluate.questions import Gold, GoldPlace
from askwiki.evaluate.reports.numbers import retrieval, retrieval_report

SECOND = 1 / math.log2(3)  # gain at rank 2


def chunk(page: str, text: str) -> Chunk:
    return Chunk("c", page, "", "T", (), (), "", "section", False, 0, 1, 1, text)


def test_a_snippet_counts_only_on_its_page_or_an_alternative() -> None:
    gold = [Gold((GoldPlace("1", "три дня"), GoldPlace("2", "трое суток"))), Gold((GoldPlace("1", "срок"),))]
    assert gold_of(chunk("1", "срок **три дня**"), gold) == ((0, 1), (0, 1))
    assert gold_of(chunk("2", "трое суток"), gold) == ((0,), (0,))
    assert gold_of(chunk("2", "три дня"), gold) == ((), (0,))
    assert gold_of(chunk("3", "три дня"), gold) == ((), ())


def test_pages_are_ranked_distinct_and_snippets_by_chunk() -> None:
    hits = [
        Hit("a", "1"),
        Hit("b", "1"),
        Hit("c", "2", pages=(0,)),
        Hit("d", "3", pages=(1,)),
        Hit("e", "2", snippets=(0,), pages=(0,)),
        Hit("f", "2", snippets=(0,), pages=(0,)),
    ]
    assert snippet_ranks(hits, 2) == [5, None]
    assert page_ranks(hits, 2) == [2, 3]


def test_measures_of_one_question_with_two_gold_entries() -> None:
    assert measures([2, 7]) == {
        "recall@1": 0.0,
        "recall@5": 0.5,
        "recall@10": 1.0,
        "recall@50": 1.0,
        "mrr@10": 0.5,
        "ndcg@10": pytest.approx((SECOND + 1 / 3) / (1 + SECOND)),
    }
    assert measures([None, 11])["recall@50"] == 0.5
    assert measures([None, 11])["mrr@10"] == 0.0
    assert measures([None, 11])["ndcg@10"] == 0.0


def test_ndcg_is_1_at_best_also_when_one_chunk_holds_two_entries() -> None:
    assert ndcg([1], 10) == 1.0
    assert ndcg([2, 1], 10) == 1.0
    assert ndcg([1, 1], 10) == 1.0
    assert ndcg([2, 2], 10) == pytest.approx(SECOND)
    assert ndcg([1, None], 10) == pytest.approx(1 / (1 + SECOND))


def outcome(name: str, kind: str, ranked: tuple[Hit, ...], answerable: bool = True, total: float = 0.1) -> Outcome:
    entries = 1 if answerable else 0
    return Outcome(name, kind, "?", "", answerable, entries, stages={"found": ranked}, seconds={"total": total})


def test_the_report_leaves_out_unanswerable_questions_and_counts_failed_ones_as_misses() -> None:
    first = outcome("q1", "fact", (Hit("a", "1", snippets=(0,), pages=(0,)),), total=0.1)
    third = outcome("q2", "howto", (Hit("a", "1"), Hit("b", "1"), Hit("c", "2", snippets=(0,), pages=(0,))), total=0.3)
    nothing = outcome("q3", "unanswerable", (Hit("a", "1"),), answerable=False, total=0.2)
    failed = Outcome("q4", "fact", "?", "", True, 1, fault="The store is down.")
    report = retrieval_report([first, third, nothing, failed], {"schema": 1}, "q.jsonl")
    assert report["questions"] == {"all": 4, "answerable": 3, "failed": 1}
    snippet, page = report["retrieval"]["snippet"], report["retrieval"]["page"]
    assert snippet["n"] == page["n"] == 3
    assert snippet["recall@1"] == pytest.approx(1 / 3)
    assert snippet["recall@5"] == pytest.approx(2 / 3)
    assert snippet["mrr@10"] == pytest.approx((1 + 1 / 3) / 3)
    assert snippet["ndcg@10"] == pytest.approx((1 + 0.5) / 3)
    assert page["mrr@10"] == pytest.approx((1 + 1 / 2) / 3)
    assert report["retrieval"]["by_kind"]["fact"]["snippet"] == {**measures([1]), "n": 2} | dict.fromkeys(
        measures([1]), 0.5
    )
    assert report["retrieval"]["by_kind"]["unanswerable"]["page"]["n"] == 0
    assert report["by_kind"]["howto"]["retrieval"] == report["retrieval"]["by_kind"]["howto"]
    assert report["seconds"] == {"total": {"p50": pytest.approx(0.2), "p95": pytest.approx(0.29)}}
    assert report["settings"] == {"schema": 1}


def test_without_questions_every_mean_is_zero() -> None:
    assert mean_measures([])["n"] == 0
    assert retrieval([])["snippet"]["recall@5"] == 0.0
