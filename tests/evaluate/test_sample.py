"""The sample wiki, its golden questions and a scripted LLM: a run, a review and a comparison, number by number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from askwiki.configuration import CHECKOUT, Configuration
from askwiki.data import Identity
from askwiki.evaluate.compare import compare
from askwiki.evaluate.matching import normalise
from askwiki.evaluate.outcome import Outcome
from askwiki.evaluate.questions import GoldQuestion, load_questions
from askwiki.evaluate.reports.answers import answers_report
from askwiki.evaluate.reports.merging import merge
from askwiki.evaluate.reports.review import HumanGrade
from askwiki.evaluate.running.asking import settings_in_force
from askwiki.evaluate.running.session import Plan, perform
from askwiki.kit import Kit
from askwiki.llm.port import Message
from askwiki.settings import Settings, WikiSettings
from askwiki.store.embedded.store import embedded_reader
from indexer.opening import open_source
from tests.support.scripted import ScriptedLlm
from tests.support.small_wiki import kit_of
from tests.support.sources import Indexer
from tests.support.stores import embedded

TESTS = Path(__file__).parents[1]
ASKING = Identity(email="a.belova@example.com", known=True)
# Each names its page by words of its own, so that they are found whatever the search is tuned to.
CHOSEN = ("kb-001", "kb-016", "kb-034", "kb-040", "kb-088", "kb-089")
JUDGED = {"kb-001": 2, "kb-016": 2, "kb-034": 1, "kb-040": 0, "kb-088": 2, "kb-089": 2}


def golden() -> list[GoldQuestion]:
    questions = {question.id: question for question in load_questions(TESTS / "golden" / "questions.jsonl")}
    return [questions[name] for name in CHOSEN]


class Assistant:
    """Finds relevant what holds gold text, except for the questions in ``blind``; answers with the reference."""

    def __init__(self, questions: Sequence[GoldQuestion], blind: Sequence[str] = ()) -> None:
        self._questions = questions
        self._blind = blind

    def llm(self) -> ScriptedLlm:
        llm = ScriptedLlm()
        llm.always("relevance", self._relevance).always("answer", self._answer).always("judge", self._judge)
        return llm

    def _of(self, messages: Sequence[Message]) -> GoldQuestion:
        """The longest one that is named: a short one may stand in a page."""
        named = (question for question in self._questions if question.question in messages[-1].content)
        return max(named, key=lambda question: len(question.question))

    def _relevance(self, messages: Sequence[Message]) -> str:
        question, text = self._of(messages), normalise(messages[-1].content)
        snippets = (place.snippet for entry in question.gold for place in entry.places)
        return str(int(question.id not in self._blind and any(normalise(snippet) in text for snippet in snippets)))

    def _answer(self, messages: Sequence[Message]) -> str:
        return f"{self._of(messages).answer} [1]"

    def _judge(self, messages: Sequence[Message]) -> dict[str, Any]:
        question = self._of(messages)
        refused = question.answerable and question.id in self._blind
        return {"reason": "Сравнил с эталоном.", "grade": 0 if refused else JUDGED[question.id]}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    folder = tmp_path_factory.mktemp("sample")
    indexer = Indexer(folder, store=embedded(folder / "store"))
    ledger = indexer.run(
        open_source(
            f"xml:{TESTS / 'wiki' / 'xml'}",
            Configuration(Settings(wiki=WikiSettings(url="https://wiki.example.com")), CHECKOUT / "config", {}),
        )
    )
    assert ledger.exit_code == 0
    return kit_of([], embedder=indexer.embedder, reader=embedded_reader(folder / "store"))


def run(kit: Kit, *blind: str) -> list[Outcome]:
    questions = golden()
    kit = replace(kit, llm=Assistant(questions, blind).llm())
    plan = Plan(questions, ASKING, retrieval=False, parallel=2, judgings=1)
    return perform(plan, kit=kit, settings=kit.settings, in_force=settings_in_force(kit, kit.settings))


def test_the_run_the_review_and_the_comparison_have_exactly_these_numbers(sample: Kit) -> None:
    outcomes = run(sample)
    report = answers_report(outcomes, {}, "golden")
    assert {each.id: each.grade for each in outcomes} == JUDGED
    assert [each.refused != "" for each in outcomes] == [False, False, False, False, True, True]
    assert {grade: report["grades"][grade]["value"] for grade in ("0", "1", "2")} == {
        "0": pytest.approx(1 / 6), "1": pytest.approx(1 / 6), "2": pytest.approx(4 / 6),
    }  # fmt: skip
    assert report["stages"] == {"found": 1.0, "gated": 1.0, "judged": 1.0, "prompt": 1.0, "cited": 1.0}
    assert report["lost"]["answer"] == ["kb-040"]
    assert report["links"]["with_right_page"]["value"] == 1.0
    assert report["links"]["right_section"]["value"] == 1.0
    assert report["refusals"]["right"]["value"] == 1.0
    assert report["refusals"]["wrong"]["value"] == 0.0
    assert all(re.fullmatch(r"https://wiki\.example\.com/\S+", link.url) for each in outcomes for link in each.links)

    people = [HumanGrade(name, grade) for name, grade in {**JUDGED, "kb-040": 1}.items()]
    human = answers_report(outcomes, {}, "golden", merge(people, outcomes))["human"]
    assert human["agreement"]["value"] == pytest.approx(5 / 6)
    assert human["weighted_kappa"]["value"] == pytest.approx(0.8)
    assert [each["id"] for each in human["disagreements"]] == ["kb-040"]

    blind = run(sample, "kb-001", "kb-016")
    comparison = compare({each.id: each for each in blind}, {each.id: each for each in outcomes})
    rows = {row.name: row for row in comparison.rows}
    assert rows["grade"].difference.value == pytest.approx(4 / 6)
    assert rows["gold in the prompt"].difference.value == 0.5
    assert rows["refused"].difference.value == pytest.approx(-2 / 6)
    assert [change.id for change in comparison.better] == ["kb-001", "kb-016"]
    assert comparison.worse == ()
    assert answers_report(blind, {}, "golden")["lost"]["judged"] == ["kb-001", "kb-016"]
