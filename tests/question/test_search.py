"""Fusion, the legs of the search, preferences and the gates."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from askwiki.data import Candidate, LegHit, Question, Rights
from askwiki.encoders.rerankers import CrossEncoderReranker, EndpointReranker, FlagModelReranker, make_reranker
from askwiki.errors import ModelError, SettingsError
from askwiki.language.glossary import Glossary
from askwiki.language.synonyms import Synonyms
from askwiki.settings import RerankSettings, SearchSettings
from askwiki.stages.fusion import fuse, standard_scores
from askwiki.stages.rerank import gate
from askwiki.stages.search import Query, boost_preferred, search, search_terms
from askwiki.store.port import Leg
from tests.support.scripted import Asking, Saying, ScriptedServer
from tests.support.small_wiki import TERMS, MemoryReader, chunk, kit_of

EQUAL = {"text": 1.0, "context": 1.0, "sparse": 1.0}


def leg(**scores: float) -> dict[str, LegHit]:
    order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return {name: LegHit(rank, score) for rank, (name, score) in enumerate(order, 1)}


# --- fusion ---------------------------------------------------------------------------------------


def test_standard_scores_have_mean_zero_and_deviation_one_in_each_leg() -> None:
    scores = standard_scores({"text": leg(a=3.0, b=1.0)}, EQUAL)
    assert scores == {"a": 1.0, "b": -1.0}


def test_who_a_full_leg_does_not_list_counts_as_its_last() -> None:
    scores = standard_scores({"text": leg(a=3.0, b=1.0), "context": leg(a=1.0, c=5.0)}, EQUAL)
    assert scores == {"a": 0.0, "b": -2.0, "c": 0.0}


def test_a_short_sparse_leg_is_filled_with_zeros() -> None:
    scores = standard_scores({"text": leg(a=0.5, b=0.5, c=0.5), "sparse": leg(a=6.0)}, EQUAL)
    deviation = math.sqrt((4.0**2 + 2.0**2 + 2.0**2) / 3)
    assert scores == pytest.approx({"a": 4 / deviation, "b": -2 / deviation, "c": -2 / deviation})


def test_a_leg_of_equal_scores_says_nothing() -> None:
    assert standard_scores({"text": leg(a=0.7, b=0.7)}, EQUAL) == {"a": 0.0, "b": 0.0}


def test_ties_are_broken_by_id_and_no_list_gives_nothing() -> None:
    settings = SearchSettings()
    assert fuse({"text": leg(b=1.0, a=1.0, c=2.0)}, settings)[0][0] == "c"
    assert fuse({"text": {"b": LegHit(1, 1.0), "a": LegHit(1, 1.0)}}, settings)[0][0] == "a"
    assert fuse({"text": {}, "sparse": {}}, settings) == []


def test_a_leg_of_weight_zero_has_no_vote() -> None:
    settings = SearchSettings(weight_context=0.0)
    found = fuse({"text": leg(a=2.0, b=1.0), "context": leg(b=9.0, c=1.0)}, settings)
    assert [name for name, _ in found] == ["a", "b"]


# --- search ---------------------------------------------------------------------------------------

CHUNKS = [
    chunk("limits", "Разовый лимит перевода в Турцию 100 000 рублей."),
    chunk("codes", "E-136: истёк сертификат кассы, звонить 2010."),
    chunk("leave", "Заявку на отпуск подают за 14 дней."),
    chunk("secret", "Лимит перевода для сотрудников безопасности.", acl="key"),
]


def found(question: str, settings: SearchSettings | None = None, rights: Rights | None = None) -> list[Candidate]:
    kit = kit_of(CHUNKS)
    query = Query(kit.embedder.query(question), kit.sparse.query(question))
    return search(query, rights or Rights(), reader=kit.reader, settings=settings or SearchSettings())


def test_candidates_have_their_place_in_every_leg() -> None:
    best = found("лимит перевода в Турцию")[0]
    assert best.chunk.id == "limits"
    assert {name: hit.rank for name, hit in best.legs.items()} == {"text": 1, "context": 1, "sparse": 1}


def test_what_the_person_may_not_read_is_not_found() -> None:
    assert "secret" not in [each.chunk.id for each in found("лимит перевода")]
    allowed = found("лимит перевода", rights=Rights(frozenset({"*", "key"})))
    assert "secret" in [each.chunk.id for each in allowed]


def test_all_legs_go_in_one_batch() -> None:
    kit = kit_of(CHUNKS)
    assert isinstance(kit.reader, MemoryReader)
    search(
        Query(kit.embedder.query("x"), kit.sparse.query("лимит")),
        Rights(),
        reader=kit.reader,
        settings=SearchSettings(),
    )
    assert kit.reader.searches == 1


def test_without_a_vector_the_words_search_alone() -> None:
    kit = kit_of(CHUNKS)
    query = Query(None, kit.sparse.query("E-136"))
    (best, *_) = search(query, Rights(), reader=kit.reader, settings=SearchSettings())
    assert (best.chunk.id, set(best.legs)) == ("codes", {"sparse"})


def test_without_words_the_vector_searches_alone_and_without_both_nothing_does() -> None:
    kit = kit_of(CHUNKS)
    query = Query(kit.embedder.query("отпуск"), None)
    (best, *_) = search(query, Rights(), reader=kit.reader, settings=SearchSettings())
    assert (best.chunk.id, set(best.legs)) == ("leave", {"text", "context"})
    assert search(Query(None, None), Rights(), reader=kit.reader, settings=SearchSettings()) == []


def test_no_more_candidates_than_the_setting_says() -> None:
    assert [each.chunk.id for each in found("заявка на отпуск", SearchSettings(candidates=1))] == ["leave"]


def test_further_terms_are_the_glossarys_other_spellings_and_the_condensers_words() -> None:
    question = Question("номер безопасника в ТК", terms=("внутренний телефон", "телефонка"))
    synonyms = Synonyms({"безопасник": ("служба безопасности",)})
    found = search_terms(question, Glossary(TERMS), synonyms)
    assert found == ("телефонка", "телефонная книга", "служба безопасности", "внутренний телефон")


# --- preferences ----------------------------------------------------------------------------------


def candidate(name: str, score: float, **more: Any) -> Candidate:
    legs = more.pop("legs", {})
    return Candidate(chunk(name, "текст", **more), score, legs)


def order(candidates: Sequence[Candidate]) -> list[str]:
    return [each.chunk.id for each in candidates]


@pytest.mark.parametrize(
    ("question", "ids"),
    [
        (Question("кнопка", intent="screen"), ["b", "a", "c"]),
        (Question("понятие", intent="concept"), ["a", "b", "c"]),
        (Question("что-то"), ["a", "b", "c"]),
    ],
)
def test_the_kind_that_is_asked_for_comes_earlier_and_nothing_is_dropped(question: Question, ids: list[str]) -> None:
    candidates = [candidate("a", 1.0), candidate("b", 0.99, screen=True), candidate("c", 0.0)]
    assert order(boost_preferred(candidates, question, SearchSettings())) == ids


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("отпуск в разделе HR", "b"),
        ("отпуск в пространстве «кадры»", "c"),
        ("what does section Loans say", "d"),
        ("what does the Loans section say", "d"),
        ("leave in the HR space", "b"),
        ("отпуск на страницах с меткой кадры", "c"),
        ("отпуск, тег «кадры»", "c"),
        ("отпуск в HR-разделе", "b"),
        ("отпуск в разделе про кадры", "c"),
        ("какой раздел смотреть и что в пространстве HR", "b"),
        ("в каком разделе про отпуск", "a"),
        ("отпуск в разделе Оклады", "d"),
        ("отпуск", "a"),
        ("в разделе Прочее", "a"),
    ],
)
def test_a_space_label_or_section_that_the_question_names_is_preferred(text: str, first: str) -> None:
    candidates = [
        candidate("a", 1.0),
        candidate("b", 0.95, space="HR"),
        candidate("c", 0.95, labels=("кадры",)),
        candidate("d", 0.95, path=("Loans", "Оклады")),
        candidate("e", 0.0),
    ]
    assert order(boost_preferred(candidates, Question(text), SearchSettings()))[0] == first


def test_a_place_that_is_named_counts_as_much_as_the_settings_say() -> None:
    candidates = [candidate("a", 1.0), candidate("b", 0.5, space="HR"), candidate("c", 0.0)]
    firsts = [
        order(boost_preferred(candidates, Question("отпуск в разделе HR"), SearchSettings(boost_place=share)))[0]
        for share in (0.0, 1.0)
    ]
    assert firsts == ["a", "b"]


# --- gates ----------------------------------------------------------------------------------------


class Lengths:
    """A reranker that likes short texts."""

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        return [1 / len(text) for text in texts]


def gates(settings: RerankSettings, reranker: Any = None) -> list[str]:
    candidates = [
        Candidate(chunk("far", "x" * 50), 3.0, {"text": LegHit(3, 0.2)}),
        Candidate(chunk("near", "x" * 10), 2.0, {"text": LegHit(1, 0.9)}),
        Candidate(chunk("word", "x" * 30), 1.0, {"sparse": LegHit(2, 8.0)}),
        Candidate(chunk("weak", "x" * 20), 0.5, {"sparse": LegHit(9, 1.0)}),
    ]
    return order(gate(candidates, "вопрос", reranker=reranker, settings=settings))


@pytest.mark.parametrize(
    ("settings", "reranker", "ids"),
    [
        (RerankSettings(), None, ["far", "near", "word", "weak"]),
        (RerankSettings(minimum=0.5), None, ["near", "word"]),
        (RerankSettings(cap=2), None, ["far", "near"]),
        (RerankSettings(), Lengths(), ["near", "weak", "word", "far"]),
        (RerankSettings(strict_minimum=0.02), Lengths(), ["near", "weak"]),
        (RerankSettings(minimum=0.5, cap=1), Lengths(), ["near"]),
    ],
)
def test_each_gate_lets_through_what_it_should(settings: RerankSettings, reranker: Any, ids: list[str]) -> None:
    assert gates(settings, reranker) == ids


class Wrong:
    def __init__(self, *scores: float) -> None:
        self._scores = list(scores)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        return self._scores


@pytest.mark.parametrize("reranker", [Wrong(), Wrong(0.5), Wrong(0.1, 0.2, 0.3, float("nan"))])
def test_scores_that_are_none_or_too_few_are_a_model_error(reranker: Wrong) -> None:
    with pytest.raises(ModelError, match="one score for each text"):
        gates(RerankSettings(), reranker)


class FullCard:
    """What a cross-encoder's library does when the graphics card is full."""

    def predict(self, pairs: Sequence[tuple[str, str]], **more: Any) -> list[float]:
        raise RuntimeError("CUDA out of memory")

    compute_score = predict


@pytest.mark.parametrize("kind", [CrossEncoderReranker, FlagModelReranker])
def test_a_model_that_fails_in_the_process_is_a_model_error(kind: Any) -> None:
    reranker = kind.__new__(kind)  # without its library, which these tests do not have
    reranker._model, reranker._lock = FullCard(), threading.Lock()
    with pytest.raises(ModelError, match="CUDA out of memory"):
        reranker.scores("лимит", ["текст"])


def test_the_rerankers_score_is_kept() -> None:
    (only,) = gate([Candidate(chunk("a", "xx"), 1.0)], "?", reranker=Lengths(), settings=RerankSettings())
    assert only.rerank == pytest.approx(1 / len("База знаний / Страница a\nxx"))


@pytest.mark.parametrize(
    ("raw", "scores"),
    [
        ('{"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]}', [0.1, 0.9]),
        ('[{"index": 0, "score": 2.5}, {"index": 1, "score": -1}]', [2.5, -1.0]),
    ],
)
def test_rerank_endpoints_of_both_families_are_read(raw: str, scores: list[float]) -> None:
    def rule(asking: Asking) -> Saying:
        assert (asking.body["query"], asking.body["documents"], asking.body["model"]) == ("?", ["a", "b"], "bge")
        assert asking.headers["authorization"] == "Bearer k"
        return Saying(raw=raw)

    with ScriptedServer(rule) as server:
        settings = RerankSettings(kind="endpoint", url=f"{server.url}/rerank", model="bge", key="k")
        assert EndpointReranker(settings).scores("?", ["a", "b"]) == scores


@pytest.mark.parametrize(
    "saying",
    [Saying(raw="{}"), Saying(raw='[{"index": 0, "score": 1}]'), Saying(status=500, error="x"), Saying(raw="no")],
)
def test_a_reranker_that_fails_is_a_model_error(saying: Saying) -> None:
    with ScriptedServer(lambda asking: saying) as server:
        reranker = EndpointReranker(RerankSettings(kind="endpoint", url=server.url))
        with pytest.raises(ModelError, match="reranker"):
            reranker.scores("?", ["a", "b"])


def test_no_reranker_is_made_for_none_and_an_endpoint_needs_its_address() -> None:
    assert make_reranker(RerankSettings()) is None
    with pytest.raises(SettingsError, match=r"rerank\.url"):
        make_reranker(RerankSettings(kind="endpoint"))


def test_the_legs_ask_for_the_depth_of_the_settings() -> None:
    asked: list[Leg] = []

    class Noting(MemoryReader):
        def search(self, legs: Sequence[Leg], rights: Rights) -> Any:
            asked.extend(legs)
            return super().search(legs, rights)

    kit = kit_of(CHUNKS)
    reader = Noting(CHUNKS, embedder=kit.embedder, sparse=kit.sparse)
    query = Query(kit.embedder.query("лимит"), kit.sparse.query("лимит"))
    search(query, Rights(), reader=reader, settings=SearchSettings(depth=7, weight_context=0.0))
    assert [(each.name, each.depth) for each in asked] == [("text", 7), ("sparse", 7)]
