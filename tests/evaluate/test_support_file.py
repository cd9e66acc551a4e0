"""``eval support``: labelled sentences against flagged ones, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from askwiki.errors import SourceError
from askwiki.evaluate.support_file import measure, read_labelled

PASSAGES = "The limit of a transfer is 600 euro a month. A refund takes three days."
FINE, BAD = "The limit of a transfer is 600 euro a month.", "A refund of the transfer takes 9 days."


def file_of(folder: Path, *rows: object) -> Path:
    file = folder / "labelled.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return file


def row(response: str, bad: str = "") -> dict[str, object]:
    start = response.find(bad)
    spans = [{"start": start, "end": start + len(bad)}] if bad else []
    return {"question": "What is the limit?", "passages": PASSAGES, "response": response, "spans": spans}


def test_a_sentence_is_bad_where_a_label_overlaps_it_and_flagged_where_the_passages_lack_it(tmp_path: Path) -> None:
    answers = read_labelled(file_of(tmp_path, row(f"{FINE} {BAD}", "9 days"), row(FINE), row(FINE, "600 euro")))
    figures = measure(answers)
    assert {key: figures["sentences"][key] for key in ("n", "bad", "precision", "recall", "false_alarms")} == {
        "n": 4, "bad": 2, "precision": 1.0, "recall": 0.5, "false_alarms": 0.0,
    }  # fmt: skip
    assert figures["sentences"]["f1"] == pytest.approx(2 / 3)
    assert (figures["answers"]["n"], figures["answers"]["bad"], figures["answers"]["recall"]) == (3, 2, 0.5)


@pytest.mark.parametrize("wrong", [{"question": "?"}, [1], row("x") | {"spans": [{"start": "a"}]}])
def test_a_line_that_is_no_labelled_answer_is_named(tmp_path: Path, wrong: object) -> None:
    with pytest.raises(SourceError, match="line 2"):
        read_labelled(file_of(tmp_path, row(FINE), wrong))


def test_an_empty_or_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no answers"):
        read_labelled(file_of(tmp_path))
    with pytest.raises(SourceError, match="cannot be read"):
        read_labelled(tmp_path / "nowhere.jsonl")
